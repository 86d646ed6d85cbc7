import os
import stat
import tarfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.container.tarstream import TruncatedError
from hbench.container.unpack import Caps, Unpacked, only_file, unpack
from tests.container.tars import END, chunks, extended, header, member, of_files, padded, record, tar

FOLDER = member("logs/", kind=tarfile.DIRTYPE)


def _reasons(result: Unpacked) -> dict[str, str]:
    return {one.name: one.reason for one in result.skipped}


def _found(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_comes_out_under_the_name_that_the_host_gives_it(tmp_path: Path) -> None:
    """The archive calls its root "logs" because that is what it was in the container."""
    files = {"a.txt": b"one", "deep/er/b": b"two" * 5000, "empty": b""}
    result = unpack(chunks(of_files(files)), tmp_path / "out")
    assert _found(tmp_path) == {f"out/{name}": data for name, data in files.items()}
    assert result == Unpacked(files=tuple(files), size_bytes=15003, skipped=(), capped=None)


def test_a_single_file_becomes_the_destination(tmp_path: Path) -> None:
    """The engine sends a file alone when a file was asked for."""
    result = unpack(chunks(tar(member("report.json", b"{}"))), tmp_path / "some" / "where.json")
    assert (tmp_path / "some" / "where.json").read_bytes() == b"{}"
    assert result.files == ("",)


def test_modes_owners_and_times_of_the_container_stay_there(tmp_path: Path) -> None:
    """A set-user-id file of an agent's is a plain file on the host."""
    info, data = member("logs/tool", b"x")
    info.mode, info.uid, info.mtime = 0o6777, 12345, 1
    unpack(chunks(tar(FOLDER, (info, data))), tmp_path / "out")
    status = (tmp_path / "out" / "tool").stat()
    assert stat.S_IMODE(status.st_mode) & ~0o644 == 0
    assert (status.st_uid, status.st_mtime > 1e9) == (os.getuid(), True)


@pytest.mark.parametrize(
    ("hostile", "reason"),
    [
        (member("logs/../evil", b"x"), "has .. in its name"),
        (member("/etc/evil", b"x"), "is not below what was asked for"),
        (member("/logs/evil", b"x"), "is not below what was asked for"),
        (member("other/evil", b"x"), "is not below what was asked for"),
        (member("evil", b"x"), "is not below what was asked for"),
        (member("logsy/evil", b"x"), "is not below what was asked for"),
        (member("logs/evil\nname", b"x"), "has a control or hidden character in its name"),
        (member("logs/evil", kind=tarfile.SYMTYPE, link="/etc"), "is a symbolic link"),
        (member("logs/evil", kind=tarfile.LNKTYPE, link="/etc/passwd"), "is a hard link"),
        (member("logs/evil", kind=tarfile.CHRTYPE), "is a device"),
        (member("logs/evil", kind=tarfile.FIFOTYPE), "is a named pipe"),
        (member("logs/evil", b"xx", kind=b"Z"), "is a member of unknown kind"),
    ],
)
def test_whatever_is_not_a_plain_file_below_is_listed_and_left(
    tmp_path: Path, hostile: tuple[tarfile.TarInfo, bytes], reason: str
) -> None:
    """And what comes after it still comes out."""
    result = unpack(chunks(tar(FOLDER, hostile, member("logs/good", b"y"))), tmp_path / "box" / "out")
    assert _found(tmp_path) == {"box/out/good": b"y"}
    assert [one.reason for one in result.skipped] == [reason]
    assert result.capped is None


def test_a_link_followed_by_a_file_through_it_leaves_nothing_outside(tmp_path: Path) -> None:
    """The classic way out: first a link to a folder elsewhere, then a file in that folder."""
    (tmp_path / "outside").mkdir()
    out = member("logs/way", kind=tarfile.SYMTYPE, link=str(tmp_path / "outside"))
    result = unpack(chunks(tar(FOLDER, out, member("logs/way/evil", b"x"))), tmp_path / "out")
    assert _found(tmp_path) == {"out/way/evil": b"x"}
    assert _reasons(result) == {"logs/way": "is a symbolic link"}


def test_a_link_that_is_on_the_host_already_is_not_followed(tmp_path: Path) -> None:
    """Even if something else put one into the destination."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "folder").symlink_to(tmp_path / "outside")
    (tmp_path / "out" / "file").symlink_to(tmp_path / "outside" / "new")
    result = unpack(chunks(of_files({"folder/evil": b"x", "file": b"y"})), tmp_path / "out")
    assert list((tmp_path / "outside").iterdir()) == []
    assert set(_reasons(result).values()) == {"would take the place of what is there already"}


def test_a_destination_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    """The folder itself is opened with the same care as what lies in it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "outside")
    result = unpack(chunks(of_files({"evil": b"x"})), tmp_path / "out")
    assert (list((tmp_path / "outside").iterdir()), len(result.skipped)) == ([], 2)


def test_what_hbench_wrote_itself_stays(tmp_path: Path) -> None:
    """A file that is there already is never overwritten, however it is spelled in the archive."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "stdout.txt").write_bytes(b"true")
    result = unpack(chunks(of_files({"stdout.txt": b"false", "stdout.txt/x": b"", "b": b"2"})), tmp_path / "out")
    assert _found(tmp_path / "out") == {"stdout.txt": b"true", "b": b"2"}
    assert set(_reasons(result)) == {"logs/stdout.txt", "logs/stdout.txt/x"}


def test_a_file_in_the_place_of_the_destinations_parent_is_a_skip(tmp_path: Path) -> None:
    """An agent can leave a file named like the folder that a later artifact goes to."""
    (tmp_path / "app").write_bytes(b"")
    result = unpack(chunks(tar(member("x.txt", b"1"))), tmp_path / "app" / "sub" / "x.txt")
    assert _reasons(result) == {"x.txt": "would take the place of what is there already"}


def test_names_that_differ_only_in_case_do_not_overwrite_each_other(tmp_path: Path) -> None:
    """The folder must mean the same on a file system that ignores case."""
    result = unpack(chunks(of_files({"Reward.txt": b"1", "reward.txt": b"0"})), tmp_path / "out")
    assert _found(tmp_path / "out") == {"Reward.txt": b"1"}
    assert "same name as 'Reward.txt'" in _reasons(result)["logs/reward.txt"]


def test_hidden_characters_do_not_reach_a_terminal(tmp_path: Path) -> None:
    """The list of what was skipped is printed."""
    result = unpack(chunks(of_files({"\x1b[2J\u202etxt": b"x"})), tmp_path / "out")
    assert result.skipped[0].name == "logs/\ufffd[2J\ufffdtxt"


def test_what_is_excluded_is_neither_written_nor_listed(tmp_path: Path) -> None:
    """The task said that it is not wanted."""
    files = {"a.pyc": b"x", "node_modules/deep/b": b"x", "src/c.py": b"keep"}
    result = unpack(chunks(of_files(files)), tmp_path / "out", exclude=["*.pyc", "node_modules"])
    assert (_found(tmp_path / "out"), result.skipped) == ({"src/c.py": b"keep"}, ())


def test_excluded_files_do_not_use_up_the_caps(tmp_path: Path) -> None:
    """A large folder that nobody wants costs only the reading."""
    files = {f"junk/{number}": b"x" * 100 for number in range(50)} | {"good": b"y"}
    caps = Caps(total_bytes=200, entries=5)
    result = unpack(chunks(of_files(files)), tmp_path / "out", caps=caps, exclude=["junk"])
    assert (result.files, result.capped) == (("good",), None)


def test_a_file_over_its_cap_is_left_out_and_the_rest_comes(tmp_path: Path) -> None:
    """One huge log does not cost the others."""
    result = unpack(
        chunks(of_files({"big": b"x" * 11, "small": b"y" * 10})), tmp_path / "out", caps=Caps(file_bytes=10)
    )
    assert _found(tmp_path / "out") == {"small": b"y" * 10}
    assert _reasons(result) == {"logs/big": "is larger than 10 bytes"}
    assert result.capped == "a file of more than 10 bytes"


@pytest.mark.parametrize(
    ("caps", "files", "words"),
    [
        (Caps(total_bytes=25), ("0", "1"), "more than 25 bytes"),
        (Caps(entries=3), ("0", "1"), "more than 3 entries"),
        (Caps(stream_bytes=29), ("0", "1"), "more than 29 bytes to read"),
    ],
)
def test_a_cap_ends_the_reading(tmp_path: Path, caps: Caps, files: tuple[str, ...], words: str) -> None:
    """What came before it is kept, and the stream is left where it was."""
    rest = chunks(of_files({str(number): b"x" * 10 for number in range(9)}), size=512)
    result = unpack(rest, tmp_path / "out", caps=caps)
    assert (result.files, result.capped) == (files, words)
    assert next(rest, None) is not None


def test_a_huge_claim_is_not_read(tmp_path: Path) -> None:
    """A terabyte of zeros in the container is not a terabyte on the wire."""
    data = tar(FOLDER)[:512] + header(b"logs/big", size_field=b"\x80" + (1 << 40).to_bytes(11, "big"))
    result = unpack(chunks(data), tmp_path / "out")
    assert result.capped == f"more than {2 << 30} bytes to read"


def test_folders_and_links_without_end_are_capped(tmp_path: Path) -> None:
    """They take no bytes, but names."""
    links = [member(f"logs/{number}", kind=tarfile.SYMTYPE, link="x") for number in range(100)]
    result = unpack(chunks(tar(FOLDER, *links)), tmp_path / "out", caps=Caps(entries=20))
    assert (result.capped, len(result.skipped)) == ("more than 20 entries", 19)


def test_depth_is_capped(tmp_path: Path) -> None:
    """A path that is too deep for tools is left out."""
    result = unpack(chunks(of_files({"a/b/c": b"x", "a/b/c/d": b"x"})), tmp_path / "out", caps=Caps(depth=3))
    assert _found(tmp_path / "out") == {"a/b/c": b"x"}
    assert _reasons(result) == {"logs/a/b/c/d": "is more than 3 folders deep"}


def test_extended_headers_can_rename_only_to_what_is_checked(tmp_path: Path) -> None:
    """The name that counts is the last word of the archive, and that one is checked."""
    way_out = extended(record(b"path", b"logs/../../evil")) + header(b"logs/fine", 1) + padded(b"x")
    nul = extended(record(b"path", b"logs/a\0b")) + header(b"logs/fine2", 1) + padded(b"x")
    sparse = extended(record(b"GNU.sparse.name", b"logs/../evil"), record(b"GNU.sparse.major", b"1"))
    data = tar(FOLDER)[:512] + way_out + nul + sparse + header(b"logs/sparse", 1) + padded(b"x") + END
    result = unpack(chunks(data), tmp_path / "box" / "out")
    assert _found(tmp_path) == {}
    assert [one.reason for one in result.skipped] == [
        "has .. in its name",
        "has a control or hidden character in its name",
        "is a sparse file",
    ]


def test_rubbish_ends_the_reading_and_is_listed(tmp_path: Path) -> None:
    """What was read before it is kept."""
    data = of_files({"a": b"x"})[:1536] + b"rubbish" * 200
    result = unpack(chunks(data), tmp_path / "out")
    assert result.files == ("a",)
    assert _reasons(result)["(the rest)"].startswith("cannot be read: ")


def test_a_broken_stream_leaves_no_half_file(tmp_path: Path) -> None:
    """What was whole is kept; the file that was under way is not."""
    with pytest.raises(TruncatedError):
        unpack(chunks(of_files({"whole": b"x", "half": b"y" * 5000})[:4000]), tmp_path / "out")
    assert _found(tmp_path / "out") == {"whole": b"x"}


_PARTS = st.sampled_from(["logs", "..", ".", "", "a", "A", "b", "link", "file", "é", "e\u0301", "\n", "x" * 300])
_HOSTILE = st.tuples(
    st.lists(_PARTS, min_size=1, max_size=5).map("/".join),
    st.sampled_from([tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE]),
    st.sampled_from(["..", "/", "../..", "a", "logs/a"]),
    st.binary(max_size=20),
)


@given(st.lists(_HOSTILE, max_size=12), st.integers(1, 2000))
@settings(max_examples=100, deadline=None)
def test_nothing_is_ever_written_outside_the_destination(
    tmp_path_factory: pytest.TempPathFactory, members: list[tuple[str, bytes, str, bytes]], size: int
) -> None:
    """Whatever the members claim, what is there afterwards is plain files and folders in the destination."""
    box = tmp_path_factory.mktemp("box")
    (box / "outside").mkdir()
    (box / "outside" / "file").write_bytes(b"untouched")
    data = tar(
        *(
            member(name, content if kind == tarfile.REGTYPE else b"", kind=kind, link=link)
            for name, kind, link, content in members
        )
    )
    result = unpack(chunks(data, size), box / "inside" / "out")
    everything = [path for path in box.rglob("*") if path not in (box / "outside", box / "inside")]
    outside = [path for path in everything if not path.is_relative_to(box / "inside" / "out")]
    assert outside == [box / "outside" / "file"]
    assert (box / "outside" / "file").read_bytes() == b"untouched"
    assert all(stat.S_ISREG(path.lstat().st_mode) or stat.S_ISDIR(path.lstat().st_mode) for path in everything)
    assert len(result.files) == sum(path.is_file() for path in everything) - 1


def test_only_file_gives_the_bytes_of_one_file() -> None:
    """Enough to look at one thing in an image."""
    assert only_file(chunks(tar(member("store.crt", b"x" * 3000)))) == b"x" * 3000


@pytest.mark.parametrize(
    "data",
    [
        tar(member("store.crt", kind=tarfile.SYMTYPE, link="/etc/shadow")),
        tar(member("folder/", kind=tarfile.DIRTYPE)),
        tar(member("a", b"1"), member("b", b"2")),
        tar(),
        b"rubbish" * 200,
    ],
)
def test_only_file_takes_nothing_else(data: bytes) -> None:
    """A link, a folder, two files, none, or no archive."""
    assert only_file(chunks(data)) is None


def test_only_file_has_a_cap() -> None:
    """It goes into memory."""
    assert only_file(chunks(tar(member("a", b"12345"))), cap_bytes=4) is None
