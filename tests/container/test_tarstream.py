import contextlib
import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.container.tarstream import MalformedError, TarStream, TruncatedError
from tests.container.tars import END, chunks, extended, header, member, padded, record, tar

_NAMES = st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1, max_size=150)
_PATHS = st.lists(_NAMES, min_size=1, max_size=5).map("/".join).filter(lambda path: len(path.encode()) < 2000)
_MEMBERS = st.lists(st.tuples(_PATHS, st.binary(max_size=2000)), max_size=8)


def _read(data: bytes, size: int = 1000) -> list[tuple[bytes, str, bytes]]:
    stream = TarStream(chunks(data, size))
    found = []
    while (one := stream.next()) is not None:
        found.append((one.name, one.kind, b"".join(stream.body())))
    return found


@given(_MEMBERS, st.sampled_from([tarfile.PAX_FORMAT, tarfile.GNU_FORMAT]), st.integers(1, 3000))
def test_it_reads_what_the_standard_library_writes(files: list[tuple[str, bytes]], format_: int, size: int) -> None:
    """Both ways of writing long names, whatever the pieces in which the stream comes."""
    data = tar(*(member(name, content) for name, content in files), format_=format_)
    assert _read(data, size) == [(name.encode(), "file", content) for name, content in files]


@given(st.lists(st.tuples(st.text("ab/", min_size=1, max_size=200), st.binary(max_size=600)), max_size=5))
def test_it_reads_the_split_names_of_ustar(files: list[tuple[str, bytes]]) -> None:
    """A name of more than 100 bytes stands in two fields."""
    try:
        data = tar(*(member(name, content) for name, content in files), format_=tarfile.USTAR_FORMAT)
    except ValueError:  # not every long name can be split
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as theirs:
        names = [info.name.rstrip("/") for info in theirs]
    assert [name.decode().rstrip("/") for name, _, _ in _read(data)] == names


@given(st.binary(max_size=4000), st.integers(1, 700))
def test_no_bytes_at_all_surprise_it(data: bytes, size: int) -> None:
    """Random bytes are a malformed or a truncated archive and nothing else."""
    with contextlib.suppress(MalformedError, TruncatedError):
        _read(data, size)


@given(_MEMBERS, st.lists(st.tuples(st.integers(0), st.integers(0, 255)), max_size=4))
def test_no_flipped_byte_surprises_it(files: list[tuple[str, bytes]], flips: list[tuple[int, int]]) -> None:
    """An archive with some bytes changed is read, malformed or truncated."""
    data = bytearray(tar(*(member(name, content) for name, content in files)))
    for place, value in flips:
        data[place % len(data)] = value
    with contextlib.suppress(MalformedError, TruncatedError):
        _read(bytes(data))


@pytest.mark.parametrize("cut", [0, 1, 511, 512, 513, 1023, 1024, 1536])
def test_a_stream_that_breaks_off_is_told_from_one_that_ends(cut: int) -> None:
    """An archive ends with a block of zeros; without it something went wrong on the way."""
    data = header(b"a", 600) + padded(b"x" * 600)
    with pytest.raises(TruncatedError):
        _read(data[:cut])
    assert _read(data + END) == [(b"a", "file", b"x" * 600)]


def test_what_is_not_read_of_a_body_is_passed_over() -> None:
    """The next member is found whether or not anyone wanted this one's bytes."""
    stream = TarStream(chunks(tar(member("a", b"x" * 5000), member("b", b"y"))))
    first, second = stream.next(), stream.next()
    assert (first and first.name, second and second.name) == (b"a", b"b")
    assert b"".join(stream.body()) == b"y"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (tarfile.LNKTYPE, "hard link"),
        (tarfile.SYMTYPE, "symbolic link"),
        (tarfile.CHRTYPE, "device"),
        (tarfile.BLKTYPE, "device"),
        (tarfile.FIFOTYPE, "named pipe"),
        (tarfile.DIRTYPE, "folder"),
        (b"Z", "member of unknown kind"),
        (b"V", "member of unknown kind"),
    ],
)
def test_each_kind_is_told_in_words(kind: bytes, words: str) -> None:
    """Whatever is not a file keeps the one after it readable."""
    data = header(b"a", 0, kind) + header(b"b", 1) + padded(b"y") + END
    assert _read(data) == [(b"a", words, b""), (b"b", "file", b"y")]


def test_a_link_that_claims_a_size_has_no_bytes() -> None:
    """As in every reader, the size of a link or folder counts for nothing."""
    data = header(b"a", 4096, b"2") + header(b"b", 1) + padded(b"y") + END
    assert [name for name, _, _ in _read(data)] == [b"a", b"b"]


def test_both_ways_to_write_a_sparse_file_are_recognised() -> None:
    """Its bytes in the archive are not the file's bytes, so it must not pass for a file."""
    old = bytearray(header(b"old", 512, b"S"))
    old[482] = 1
    old[148:156] = b"%06o\0 " % (sum(old) - sum(old[148:156]) + 8 * 32)
    new = extended(record(b"GNU.sparse.major", b"1"), record(b"GNU.sparse.realsize", b"9" * 15)) + header(b"new", 3)
    data = bytes(old) + bytes(512) + b"x" * 512 + new + padded(b"abc") + header(b"b") + END
    assert [(name, kind) for name, kind, _ in _read(data)] == [
        (b"old", "sparse file"),
        (b"new", "sparse file"),
        (b"b", "file"),
    ]


def test_a_header_for_all_members_changes_none() -> None:
    """A global header could rename everything that follows; no engine sends one."""
    data = extended(record(b"path", b"evil"), kind=b"g") + header(b"a") + END
    assert _read(data) == [(b"a", "file", b"")]


def test_an_extended_name_wins_and_is_used_once() -> None:
    """What an extended header says is said of the next member only."""
    data = extended(record(b"path", b"long\nname")) + header(b"a") + header(b"b") + END
    assert [name for name, _, _ in _read(data)] == [b"long\nname", b"b"]


def test_an_extended_size_is_the_size() -> None:
    """Files of 8 GiB and more have theirs there."""
    data = extended(record(b"size", b"3")) + header(b"a", 0) + padded(b"abc") + END
    assert _read(data) == [(b"a", "file", b"abc")]


@pytest.mark.parametrize(
    "data",
    [
        header(b"a", size_field=b"12 34 567 89"),
        header(b"a", size_field=b"0x1234567890"),
        header(b"a", size_field=b"-00000000001"),
        header(b"a", size_field=b"\xff" * 12),
        header(b"a", size_field=b"\x80" + b"\xff" * 11),
        header(b"a")[:-1] + b"x",
        extended(b"7 path=\n") + header(b"a"),
        extended(b"99 path=a\n") + header(b"a"),
        extended(b"0 path=a\n") + header(b"a"),
        extended(b"path=a\n") + header(b"a"),
        extended(record(b"size", b"-1")) + header(b"a"),
        extended(record(b"size", b"9" * 19)) + header(b"a"),
        header(b"x", 2 << 20, b"x") + bytes(4 << 20),
        header(b"L", 2 << 30, b"L"),
        (header(b"x", 0, b"x") * 3000) + header(b"a"),
    ],
)
def test_numbers_and_headers_that_are_none_are_refused(data: bytes) -> None:
    """No size is guessed, and no header is taken into memory without bound."""
    with pytest.raises(MalformedError):
        _read(data + END)


def test_an_endless_header_is_refused_before_it_is_read() -> None:
    """A claim of 8 GiB costs nothing."""
    read = 0

    def endless() -> object:
        nonlocal read
        yield header(b"x", 0o77777777777, b"x")
        while True:
            read += 1
            yield bytes(65536)

    with pytest.raises(MalformedError):
        TarStream(endless()).next()  # type: ignore[arg-type]
    assert read == 0


def test_finish_reads_the_end_of_the_stream_and_not_more_than_a_little() -> None:
    """So the connection can be used again, and one without an end does not hold it up."""
    rest = chunks(END, 100)
    stream = TarStream(rest)
    assert stream.next() is None
    stream.finish()
    assert next(rest, None) is None
    many = iter([bytes(512)] * 1000)
    stream = TarStream(many)
    assert stream.next() is None
    stream.finish()
    assert next(many, None) is not None
