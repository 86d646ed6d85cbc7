import io
import os
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.container import archive
from hbench.errors import TaskError


def _members(entries: list[archive.Entry]) -> dict[str, tuple[str, int, bytes | str]]:
    """What Python's own reader sees: name -> kind, mode, bytes or link target."""
    found: dict[str, tuple[str, int, bytes | str]] = {}
    with archive.pack(entries) as packed, tarfile.open(fileobj=packed) as opened:
        for info in opened:
            assert (info.uid, info.gid, info.uname, info.mtime) == (0, 0, "", archive.MTIME)
            if info.isreg():
                stream = opened.extractfile(info)
                found[info.name] = ("file", info.mode, stream.read() if stream else b"")
            elif info.issym():
                found[info.name] = ("link", info.mode, info.linkname)
            else:
                found[info.name] = ("folder", info.mode, b"")
    return found


def test_files_and_folders_are_packed_as_roots_own(tmp_path: Path) -> None:
    """Bytes from memory and from the host, at absolute paths."""
    (tmp_path / "big").write_bytes(b"x" * 100_000)
    entries = [
        archive.folder("/logs", mode=0o777),
        archive.file("/logs/a.txt", b"one"),
        archive.file("/bin/tool", tmp_path / "big", mode=0o755),
    ]
    assert _members(entries) == {
        "logs": ("folder", 0o777, b""),
        "logs/a.txt": ("file", 0o644, b"one"),
        "bin/tool": ("file", 0o755, b"x" * 100_000),
    }


@given(st.lists(st.tuples(st.text("aä\u4e00 \n", min_size=1, max_size=300), st.binary(max_size=50)), max_size=5))
def test_any_name_and_content_comes_back(files: list[tuple[str, bytes]]) -> None:
    """Also long and non-ASCII ones."""
    entries = [archive.file(f"/x/{name}", data) for name, data in files]
    with archive.pack(entries) as packed, tarfile.open(fileobj=packed) as opened:
        found = [(info.name, info.size) for info in opened]
    assert found == [(f"x/{name}", len(data)) for name, data in files]


def test_a_tree_is_packed_sorted_with_modes_and_inner_links(tmp_path: Path) -> None:
    """The same folder gives the same archive, in whatever order the host lists it."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "run.sh").write_bytes(b"echo\r\n")
    (tmp_path / "sub" / "run.sh").chmod(0o640)
    (tmp_path / "b").write_bytes(b"")
    (tmp_path / "b").chmod(0o755)
    (tmp_path / "a").symlink_to("sub/run.sh")
    (tmp_path / "sub" / "up").symlink_to("../b")
    tmp_path.chmod(0o755)
    (tmp_path / "sub").chmod(0o750)
    entries = archive.tree(tmp_path, "/tests")
    assert list(_members(entries).items()) == [
        ("tests", ("folder", 0o755, b"")),
        ("tests/a", ("link", 0o777, "sub/run.sh")),
        ("tests/b", ("file", 0o755, b"")),
        ("tests/sub", ("folder", 0o750, b"")),
        ("tests/sub/run.sh", ("file", 0o640, b"echo\r\n")),
        ("tests/sub/up", ("link", 0o777, "../b")),
    ]


def test_windows_line_ends_of_scripts_can_be_mended(tmp_path: Path) -> None:
    """A shell takes the CR for part of the last word; other files may need theirs."""
    (tmp_path / "test.sh").write_bytes(b"#!/bin/bash\r\necho ok\r\n")
    (tmp_path / "data.csv").write_bytes(b"a,b\r\n")
    (tmp_path / "packed.sh").write_bytes(b"exec tail\r\n\0\x01\r\n")
    found = _members(archive.tree(tmp_path, "/tests", unix_scripts=True))
    assert found["tests/test.sh"][2] == b"#!/bin/bash\necho ok\n"
    assert found["tests/data.csv"][2] == b"a,b\r\n"
    assert found["tests/packed.sh"][2] == b"exec tail\r\n\0\x01\r\n"


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "inner/../../outside", "chain", "/"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, target: str) -> None:
    """A task could otherwise carry the host's files into a container, or point at what is not there."""
    folder = tmp_path / "tests"
    (folder / "inner").mkdir(parents=True)
    (tmp_path / "outside").write_bytes(b"")
    (folder / "chain").symlink_to("../outside")
    (folder / "link").symlink_to(target)
    with pytest.raises(TaskError, match="leads out"):
        archive.tree(folder, "/tests")


def test_links_in_a_circle_are_packed_as_they_are(tmp_path: Path) -> None:
    """They lead nowhere, and so not out."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert _members(archive.tree(tmp_path, "/t"))["t/a"] == ("link", 0o777, "b")


def test_a_folder_that_is_reached_by_a_link_is_packed(tmp_path: Path) -> None:
    """The folder of a task may be a link itself; that is the person's own doing."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"1")
    (tmp_path / "link").symlink_to("real")
    assert set(_members(archive.tree(tmp_path / "link", "/t"))) == {"t", "t/a"}


def test_a_named_pipe_is_refused_and_not_read(tmp_path: Path) -> None:
    """Reading one would wait for ever."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TaskError, match="neither a file"):
        archive.tree(tmp_path, "/tests")


def test_a_file_that_became_a_link_since_is_not_followed(tmp_path: Path) -> None:
    """What was checked is what is read."""
    (tmp_path / "a").write_bytes(b"1")
    entries = archive.tree(tmp_path, "/t")
    (tmp_path / "a").unlink()
    (tmp_path / "a").symlink_to("/etc/passwd")
    with pytest.raises(OSError, match="symbolic"):
        archive.pack(entries)


def test_a_large_file_does_not_go_through_memory(tmp_path: Path) -> None:
    """Thirty-two trials pack at once."""
    with (tmp_path / "big").open("wb") as big:
        big.truncate(64 << 20)
    tracemalloc.start()
    try:
        with archive.pack([archive.file("/big", tmp_path / "big")]) as packed:
            assert packed.seek(0, io.SEEK_END) > 64 << 20
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
