"""Finding harnesses: by name, in a folder, among a task's baselines."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.adapter.find import baseline, built_in_names, digest, files, find, load
from hbench.errors import AdapterError
from hbench.shipped import shipped

MINIMAL = 'format = 1\nname = "mine"\nversion = "2.0"\ncommand = ["sh", "/hbench/harness/run.sh"]\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A harness of someone's own."""
    own = tmp_path / "my-harness"
    own.mkdir()
    (own / "adapter.toml").write_text(MINIMAL)
    (own / "run.sh").write_text("echo hello\n")
    return own


def test_the_baselines_and_the_oracle_ship_with_hbench() -> None:
    """Their names are sorted."""
    shipped_first = ["lazy-asserts", "lazy-copy", "lazy-history", "lazy-literals", "nop", "oracle"]
    assert [name for name in built_in_names() if name in shipped_first] == shipped_first
    assert built_in_names() == sorted(built_in_names())


@pytest.mark.parametrize("name", built_in_names())
def test_a_built_in_bears_its_folders_name(name: str) -> None:
    """What the file calls the harness is what it is found under."""
    adapter = find(name)
    assert (adapter.name, adapter.spec.name, adapter.built_in) == (name, name, True)
    assert adapter.folder == shipped("adapters", name)


def test_only_the_oracle_sees_a_solution_and_none_sees_the_tests() -> None:
    """A baseline that saw either would prove nothing."""
    seeing = {name for name in built_in_names() if find(name).spec.sees_solution or find(name).spec.sees_tests}
    assert seeing == {"oracle"}


def test_nop_runs_no_command() -> None:
    """An empty command does nothing."""
    assert find("nop").spec.command == []


def test_an_unknown_name_is_answered_with_the_nearest_known_one() -> None:
    """And with all the others."""
    with pytest.raises(AdapterError) as caught:
        find("lazy-copi")
    assert caught.value.what == 'no adapter is named "lazy-copi"'
    assert 'Did you mean "lazy-copy"?' in str(caught.value)
    assert "nop, oracle" in str(caught.value)


@pytest.mark.parametrize("name", ["./oracle", "../adapters/oracle", "/etc", "a\\b"])
def test_a_path_is_no_name(name: str) -> None:
    """The message says where a path belongs."""
    with pytest.raises(AdapterError, match=r"is a path, not a name.*\n.*`path`"):
        find(name)


@pytest.mark.parametrize("name", ["", ".", "..", "nop\n", "NOP"])
def test_a_name_that_only_looks_like_a_folder_is_unknown(name: str) -> None:
    """Names are compared with those that exist, not tried as paths."""
    with pytest.raises(AdapterError, match="no adapter is named"):
        find(name)


def test_a_persons_harness_is_called_after_its_digest(folder: Path) -> None:
    """So it cannot take a built-in's name."""
    (folder / "adapter.toml").write_text(MINIMAL.replace('"mine"', '"oracle"'))
    adapter = load(folder)
    assert adapter.name == f"oracle@{adapter.digest[:12]}"
    assert adapter.digest == digest(folder)
    assert not adapter.built_in


def test_a_built_ins_own_folder_is_the_built_in(tmp_path: Path) -> None:
    """Also through a link to it; a copy of it is somebody's own."""
    assert load(shipped("adapters", "nop")) == find("nop")
    (tmp_path / "link").symlink_to(shipped("adapters", "nop"))
    assert load(tmp_path / "link") == find("nop")
    shutil.copytree(shipped("adapters", "nop"), tmp_path / "copy")
    copy = load(tmp_path / "copy")
    assert (copy.name, copy.digest) == (f"nop@{find('nop').digest[:12]}", find("nop").digest)


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With what it should hold."""
    with pytest.raises(AdapterError, match=r"^no such folder: .*/gone\n.*adapter.toml"):
        load(tmp_path / "gone")


def test_a_folder_without_adapter_toml_is_no_harness(tmp_path: Path) -> None:
    """It is refused before anything else in it is read."""
    with pytest.raises(AdapterError, match=r"holds no adapter\.toml"):
        load(tmp_path)


@pytest.mark.parametrize("key", ['install = "npm"', 'protocols = ["anthropic"]', "sees_solutions = true"])
def test_an_unknown_key_is_an_error_at_its_line(folder: Path, key: str) -> None:
    """A harness that asks for more than this hbench can do is not run in a lesser way."""
    (folder / "adapter.toml").write_text(MINIMAL + key + "\n")
    with pytest.raises(AdapterError, match=r'adapter\.toml:5: unknown key "'):
        load(folder)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (MINIMAL.replace("format = 1", "format = 2"), "adapter.toml:1: "),
        (MINIMAL.replace('"mine"', '"My Harness"'), "adapter.toml:2: "),
        (MINIMAL.replace('"2.0"', "2.0"), "adapter.toml:3: "),
        (MINIMAL.replace("format = 1\n", ""), '"format": is required'),
        (MINIMAL + "command = [\n", "not valid TOML"),
        (MINIMAL.replace('"2.0"', '"2/0"'), "adapter.toml:3: "),
        (MINIMAL.replace('"2.0"', '"2\\n0"'), "adapter.toml:3: "),
        (MINIMAL.replace('"sh"', '"s\\u0000h"'), "adapter.toml:4: "),
        (MINIMAL.replace('"sh"', '"s\\u001bh"'), "adapter.toml:4: "),
        (MINIMAL + 'env = { A = "\\u0000" }', "adapter.toml:5: "),
    ],
)
def test_a_faulty_file_is_named_with_its_line(folder: Path, text: str, complaint: str) -> None:
    """Types are strict: a version is a string."""
    (folder / "adapter.toml").write_text(text)
    with pytest.raises(AdapterError) as caught:
        load(folder)
    assert complaint in str(caught.value)


def test_a_file_that_is_not_utf8_is_named(folder: Path) -> None:
    """With the byte."""
    (folder / "adapter.toml").write_bytes(b"# caf\xe9\n" + MINIMAL.encode())
    with pytest.raises(AdapterError, match="not UTF-8 at byte 5"):
        load(folder)


def test_a_link_in_a_harness_is_refused(folder: Path) -> None:
    """It could bring any file of the host into a container; this holds for a link to a folder too."""
    for target in ("run.sh", "/etc"):
        (folder / "link").symlink_to(target)
        with pytest.raises(AdapterError, match="link: is a symlink"):
            load(folder)
        (folder / "link").unlink()


def test_a_pipe_in_a_harness_is_refused(folder: Path) -> None:
    """Reading it would never end."""
    os.mkfifo(folder / "pipe")
    with pytest.raises(AdapterError, match="pipe: is not a regular file"):
        load(folder)


def test_a_name_with_control_characters_is_refused(folder: Path) -> None:
    """It would end up on a terminal."""
    (folder / "a\x1b[2Jb").touch()
    with pytest.raises(AdapterError, match=r"the name 'a\\x1b\[2Jb' cannot be used"):
        load(folder)


def test_what_editors_and_python_leave_behind_is_no_part_of_a_harness(folder: Path) -> None:
    """Opening a file in an editor does not make another harness of it."""
    before = digest(folder)
    for name in (".run.sh.swp", "run.sh~", ".DS_Store", ".#run.sh", "#run.sh#"):
        (folder / name).touch()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "usage.cpython-311.pyc").touch()
    assert digest(folder) == before
    assert files(folder) == [Path("adapter.toml"), Path("run.sh")]


def test_files_are_sorted_by_their_path_and_hidden_ones_count(folder: Path) -> None:
    """Folders inside count by what they hold."""
    (folder / "lib").mkdir()
    (folder / "lib" / "parse.py").touch()
    (folder / ".config").touch()
    (folder / "empty").mkdir()
    assert [file.as_posix() for file in files(folder)] == [".config", "adapter.toml", "lib/parse.py", "run.sh"]


def test_every_byte_name_and_executable_bit_changes_the_digest(folder: Path) -> None:
    """And nothing else does."""
    seen = {digest(folder)}
    (folder / "run.sh").write_text("echo hellO\n")
    seen.add(digest(folder))
    (folder / "run.sh").chmod(0o755)
    seen.add(digest(folder))
    (folder / "run.sh").rename(folder / "go.sh")
    seen.add(digest(folder))
    assert len(seen) == 4
    (folder / "go.sh").chmod(0o775)
    (folder / "empty").mkdir()
    assert digest(folder) in seen


@given(first=st.binary(max_size=40), second=st.binary(max_size=40))
def test_two_harnesses_share_a_digest_only_if_their_bytes_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, first: bytes, second: bytes
) -> None:
    """Whatever stands in which file."""
    one, other = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("other")
    for place, (a, b) in ((one, (first, second)), (other, (second, first))):
        (place / "a").write_bytes(a)
        (place / "b").write_bytes(b)
    assert (digest(one) == digest(other)) == (first == second)


def test_a_tasks_baseline_is_a_harness_run_with_sh(tmp_path: Path) -> None:
    """Its whole folder goes with it, so two scripts can share a file."""
    (tmp_path / "print-expected.sh").write_text("#!/bin/sh\necho 42\n")
    adapter = baseline(tmp_path / "print-expected.sh")
    assert adapter.spec.command == ["sh", "/hbench/harness/print-expected.sh"]
    assert adapter.name == f"print-expected@{digest(tmp_path)[:12]}"
    assert (adapter.folder, adapter.built_in) == (tmp_path.resolve(), False)
    assert not adapter.spec.sees_solution


@pytest.mark.parametrize("shebang", ["#!/bin/bash", "#!/usr/bin/env bash"])
def test_a_baseline_that_says_so_is_run_with_bash(tmp_path: Path, shebang: str) -> None:
    """Its first line decides."""
    (tmp_path / "a.sh").write_text(f"{shebang}\n")
    assert baseline(tmp_path / "a.sh").spec.command[0] == "bash"


@pytest.mark.parametrize("name", ["Copy Input.sh", ".sh", "ä.sh"])
def test_a_baseline_whose_name_is_no_harnesss_is_refused(tmp_path: Path, name: str) -> None:
    """The name is part of trial ids and folders."""
    (tmp_path / name).touch()
    with pytest.raises(AdapterError, match="cannot be a baseline's name"):
        baseline(tmp_path / name)


def test_a_command_may_be_a_script_of_several_lines(folder: Path) -> None:
    """Line feeds and tabs are what scripts are made of."""
    (folder / "adapter.toml").write_text(MINIMAL.replace('"sh"', '"a\\n\\tb"'))
    assert load(folder).spec.command[0] == "a\n\tb"


def test_a_folder_given_as_a_name_is_told_how_to_write_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name alone never means a folder."""
    monkeypatch.chdir(folder.parent)
    with pytest.raises(AdapterError, match=r"holds an adapter: write \./my-harness"):
        find("my-harness")
