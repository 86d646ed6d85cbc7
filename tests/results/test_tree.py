"""Every file is read once, nothing is followed, and what cannot be sealed is named."""

import hashlib
import os
import socket
from pathlib import Path

import pytest

from hbench.results.tree import Entry, is_sealable, is_written_by_hbench, says_what_happened, scan


def test_every_file_has_its_size_and_sha256(tmp_path: Path) -> None:
    """Small, large, empty and hidden ones, at any depth; only what is asked for is kept."""
    large = b"0123456789" * 300_000
    contents = {"a": b"", "b/c/d.txt": b"hello", "b/.hidden": b"x", "b/large": large, "b/left": large + b"!"}
    for path, data in contents.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / "empty").mkdir()
    tree = scan(tmp_path, keep=lambda path: path in {"b/c/d.txt", "b/large"})
    assert tree.files == {path: Entry(hashlib.sha256(d).hexdigest(), len(d)) for path, d in contents.items()}
    assert tree.kept == {path: contents[path] for path in ("b/c/d.txt", "b/large")}
    assert (tree.folders, tree.faults) == ({"b", "empty"}, [])


def test_links_pipes_sockets_and_odd_names_are_named_and_not_read(tmp_path: Path) -> None:
    """Also a link to a folder, which could lead out of the job or around in a circle."""
    (tmp_path / "file").symlink_to("/etc/passwd")
    (tmp_path / "folder").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "sock"))
    (tmp_path / "new\nline").touch()
    (tmp_path / "esc\x1b[2J").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/latin\xe9")).touch()
    tree = scan(tmp_path, keep=lambda path: True)
    odd = "has a name with control characters or bytes that are not UTF-8"
    assert sorted(map(str, tree.faults)) == [
        "dangling: is a symbolic link",
        f"esc\\x1b[2J: {odd}",
        "file: is a symbolic link",
        "folder: is a symbolic link",
        f"latin\\udce9: {odd}",
        f"new\\nline: {odd}",
        "pipe: is not a regular file",
        "sock: is not a regular file",
    ]
    assert tree.files == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_the_right_to_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret").touch(mode=0)
    assert [fault.path for fault in scan(tmp_path, keep=lambda path: False).faults] == ["secret"]


def test_a_file_too_large_to_keep_is_named_and_still_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbench.results.tree.MAX_JSON_BYTES", 10)
    (tmp_path / "lock.json").write_bytes(b"0123456789a")
    (tmp_path / "other").write_bytes(b"0123456789a")
    tree = scan(tmp_path, keep=says_what_happened)
    assert [str(fault) for fault in tree.faults] == ["lock.json: is larger than 10 bytes"]
    assert len(tree.files) == 2


@pytest.mark.parametrize(
    ("name", "sealable"),
    [
        ("a.txt", True),
        ("größe 文 \N{FAMILY}", True),
        ("a\u200db", True),
        ("a\tb", False),
        ("a\x00", False),
        ("a\x85", False),
        ("\x7f", False),
        (chr(0xD800), False),
        ("\udcff", False),
    ],
)
def test_a_name_is_sealable_if_it_is_text_without_control_characters(name: str, sealable: bool) -> None:
    """Any script, and what emoji are joined with; nothing that ends a line."""
    assert is_sealable(name) is sealable


def test_hbench_answers_for_its_own_files_and_not_for_those_of_agent_and_tests() -> None:
    own = ["lock.json", "journal.jsonl", "manifest.json", "t/result.json", "t/trial.log", "t/attempts/1/trial.log"]
    others = ["t/agent/lock.json", "t/verifier/reward.txt", "t/x", "x", "t/attempts/1/agent/trial.log", "t/lock.json/x"]
    assert [path for path in [*own, *others] if is_written_by_hbench(path)] == own
