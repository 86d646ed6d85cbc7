"""Tar archives for tests, honest and hostile, made without the code under test."""

import io
import tarfile
from collections.abc import Iterator, Mapping


def tar(*members: tuple[tarfile.TarInfo, bytes], format_: int = tarfile.PAX_FORMAT) -> bytes:
    """An archive of the members, whatever they say of themselves."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format_) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def member(
    name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, bytes]:
    """One member; its size is what the data has."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname, info.mode = kind, len(data), link, 0o777
    return info, data


def of_files(files: Mapping[str, bytes], *, root: str = "logs") -> bytes:
    """What the engine sends for a folder with these files."""
    folder = member(f"{root}/", kind=tarfile.DIRTYPE)
    return tar(folder, *(member(f"{root}/{name}", data) for name, data in files.items()))


def header(name: bytes, size: int = 0, kind: bytes = b"0", *, size_field: bytes | None = None) -> bytes:
    """One header block by hand, with a valid checksum whatever it says."""
    fields = [
        name[:100].ljust(100, b"\0"),
        b"0000777\0",
        b"0000000\0",
        b"0000000\0",
        size_field or b"%011o\0" % size,
        b"%011o\0" % 0,
        b" " * 8,
        kind,
        bytes(100),
        b"ustar\00000",
    ]
    block = b"".join(fields).ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def padded(data: bytes) -> bytes:
    """A body as it stands in an archive."""
    return data + bytes(-len(data) % 512)


def record(key: bytes, value: bytes) -> bytes:
    """One line of a PAX header."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest) + 1
    while len(str(length)) + len(rest) != length:
        length = len(str(length)) + len(rest)
    return str(length).encode() + rest


def extended(*records: bytes, kind: bytes = b"x") -> bytes:
    """A PAX header with these records."""
    body = b"".join(records)
    return header(b"PaxHeader", len(body), kind) + padded(body)


END = bytes(1024)


def chunks(data: bytes, size: int = 1000) -> Iterator[bytes]:
    """The data as a stream comes: in pieces that mind no boundary."""
    for start in range(0, len(data), size):
        yield data[start : start + size]
