"""Files of a job folder are whole or absent, and read without trust."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from hbench.errors import SealError
from hbench.results.files import (
    PART_SUFFIX,
    as_model,
    dump_json,
    load_json,
    read_bytes,
    read_json,
    read_model,
    sweep_parts,
    write_bytes,
    write_json,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
    max_leaves=20,
)


@given(JSON)
def test_what_is_written_is_read_back(value: Any) -> None:
    """Also floats, to the last bit, and text of any script."""
    assert load_json(dump_json(value, where="x"), where="x") == value


def test_keys_stay_in_the_order_given(tmp_path: Path) -> None:
    """`rewards` has `reward` first, and scripts written for Harbor take the first."""
    write_json(tmp_path / "x.json", {"reward": 1.0, "a": 0, "é": None})
    assert (tmp_path / "x.json").read_bytes() == '{\n  "reward": 1.0,\n  "a": 0,\n  "é": null\n}\n'.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", {1: {2}}])
def test_what_json_cannot_hold_is_refused_by_file_name(tmp_path: Path, value: Any) -> None:
    """Nothing is left behind."""
    with pytest.raises(SealError, match=r"x\.json: cannot be written as JSON"):
        write_json(tmp_path / "x.json", {"key": value})
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the disk is full."""
    path = tmp_path / "x.json"
    write_json(path, {"old": True})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SealError, match=r"x\.json: cannot be written: No space left on device"):
        write_json(path, {"old": False})
    assert read_json(path) == {"old": True}
    assert list(tmp_path.iterdir()) == [path]


def test_the_folder_is_flushed_only_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs more than the file itself."""
    flushed: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: flushed.append("folder" if os.path.isdir(fd) else "file"))  # noqa: PTH112
    write_json(tmp_path / "x.json", {})
    write_json(tmp_path / "x.json", {}, sync_folder=True)
    assert flushed == ["file", "file", "folder"]


def test_a_link_in_the_way_is_replaced_and_not_followed(tmp_path: Path) -> None:
    """An agent that guesses a name cannot make hbench write elsewhere."""
    outside = tmp_path / "outside"
    outside.write_text("mine", encoding="utf-8")
    (tmp_path / "x.json").symlink_to(outside)
    write_json(tmp_path / "x.json", [], sync_folder=True)
    assert outside.read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "x.json").is_symlink()


def test_a_new_file_has_the_rights_that_the_umask_gives(tmp_path: Path) -> None:
    """So that others who may read the folder may read the results."""
    before = os.umask(0o027)
    try:
        write_bytes(tmp_path / "x", b"")
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o640


def test_a_reader_never_sees_half_a_file_even_of_a_killed_writer(tmp_path: Path) -> None:
    """Two long documents take turns until the writer is killed."""
    program = (
        "import sys; from pathlib import Path; from hbench.results.files import write_json\n"
        "for n in range(10**9): write_json(Path(sys.argv[1]), [n % 2] * 5000)"
    )
    path = tmp_path / "x.json"
    with subprocess.Popen([sys.executable, "-c", program, str(path)]) as writer:
        limit = time.monotonic() + 20
        while not path.exists() and time.monotonic() < limit:
            time.sleep(0.01)
        for _ in range(100):
            value = read_json(path)
            assert len(value) == 5000
            assert len(set(value)) == 1
        writer.send_signal(signal.SIGKILL)
    assert len(read_json(path)) == 5000
    sweep_parts(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["x.json"]


def test_half_written_files_are_swept_and_others_stay(tmp_path: Path) -> None:
    """Only hbench's own temporary names go."""
    for name in (f".result.json.12ab34cd{PART_SUFFIX}", ".result.json.swp", "result.json"):
        (tmp_path / name).touch()
    sweep_parts(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == [".result.json.swp", "result.json"]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"{} {}", "not valid JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b'[{"b": {"a": 1, "a": 1}}]', "the key 'a' stands twice"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": -Infinity}', "-Infinity is no number"),
        (b'{"a": 1e999}', "the number 1e999 is not finite"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'"\xff"', "not UTF-8 at byte 1"),
        (rb'"\ud800"', "half a surrogate pair"),
        (rb'{"\uDFFF": 1}', "half a surrogate pair"),
        ("\ufeff{}".encode(), "not valid JSON"),
        ("{}".encode("utf-16"), "not UTF-8"),
    ],
)
def test_json_that_two_readers_could_read_differently_is_refused(data: bytes, what: str) -> None:
    """And what would bring a reader down."""
    with pytest.raises(SealError, match=f"x.json: .*{what}"):
        load_json(data, where="x.json")


def test_a_character_written_as_a_surrogate_pair_is_text() -> None:
    assert load_json(rb'"\ud83d\ude00"', where="x") == "\U0001f600"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SealError, match=r"gone\.json: is missing"):
        read_json(tmp_path / "gone.json")


def test_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("{}", encoding="utf-8")
    (tmp_path / "x.json").symlink_to(tmp_path / "real")
    with pytest.raises(SealError, match=r"x\.json: cannot be read"):
        read_json(tmp_path / "x.json")


def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(SealError, match=r"x\.json: is not a regular file"):
        read_json(tmp_path / "x.json")


def test_a_file_larger_than_the_limit_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"12345")
    assert read_bytes(tmp_path / "x", limit=5) == b"12345"
    with pytest.raises(SealError, match="is larger than 4 bytes"):
        read_bytes(tmp_path / "x", limit=4)


class _Pair(BaseModel):
    number: float
    name: str


def test_a_model_takes_types_strictly_and_names_the_key(tmp_path: Path) -> None:
    """A number in quotes is not a number."""
    (tmp_path / "x.json").write_text(json.dumps({"number": "1", "name": "a"}), encoding="utf-8")
    with pytest.raises(SealError, match=r"x\.json: number: "):
        read_model(tmp_path / "x.json", _Pair)
    assert as_model({"number": 1, "name": "a"}, _Pair, where="x") == _Pair(number=1.0, name="a")
