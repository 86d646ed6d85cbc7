"""Reads a tar stream that may be hostile: forwards only, in bounded memory, whatever the bytes are.

The standard library's reader trusts sizes in headers with memory, recursion and time, which is right for archives of
one's own. This one knows just what `docker cp` sends (ustar with PAX or GNU long names) and never interprets the rest.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hbench.container.errors import RefusedError

BLOCK = 512
_HEADERS_CAP_BYTES = 1 << 20
"""For all that stands between two members: long names and extended records."""

_KINDS = {
    b"0": "file",
    b"\0": "file",
    b"5": "folder",
    b"1": "hard link",
    b"2": "symbolic link",
    b"3": "device",
    b"4": "device",
    b"6": "named pipe",
    b"S": "sparse file",
}
_WITHOUT_BODY = frozenset({b"1", b"2", b"3", b"4", b"5", b"6"})
_EXTENDED = frozenset({b"x", b"g", b"L", b"K"})
_OCTAL = re.compile(rb" *([0-7]*)[ \0]*(?:\0.*)?", re.DOTALL)
_RECORD = re.compile(rb"([0-9]{1,7}) ([^=\0]+)=", re.DOTALL)


class TruncatedError(RefusedError):
    """The stream ended in the middle of the archive."""


class MalformedError(ValueError):
    """From here on the stream is not a tar archive."""


@dataclass(frozen=True, slots=True)
class Member:
    """One thing in the archive.

    Attributes:
        name: As it stands there, nothing checked.
        kind: "file", "folder", or in words what else.
        size: Bytes that follow, 0 for what has none.
    """

    name: bytes
    kind: str
    size: int


class TarStream:
    """The members of an archive one after the other; what is not read of one's bytes is passed over."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks: Iterator[bytes] = iter(chunks)
        self._buffer = memoryview(b"")
        self._body = 0
        self._padding = 0

    def next(self) -> Member | None:
        """The next member, None at the end.

        Raises:
            MalformedError, TruncatedError: See there.
        """
        for _ in self.body():
            pass
        self._pass_over(self._padding)
        self._padding = 0
        extended: dict[bytes, bytes] = {}
        room = _HEADERS_CAP_BYTES
        while True:
            header = self._exactly(BLOCK)
            if header == bytes(BLOCK):
                return None
            _check(header)
            kind, size = header[156:157], _number(header[124:136])
            if kind not in _EXTENDED:
                return self._member(header, kind, size, extended)
            room -= BLOCK + size
            if room < 0:
                raise MalformedError("its headers are too long")
            data = self._exactly(size)
            self._pass_over(-size % BLOCK)
            extended.update(_extended(kind, data))

    def body(self) -> Iterator[memoryview]:
        """What is left of the current member's bytes."""
        while self._body:
            piece = self._some(self._body)
            self._body -= len(piece)
            yield piece

    def finish(self) -> None:
        """Read a little past the end, so that the connection is not broken off a few zero bytes early."""
        for _, _chunk in zip(range(64), self._chunks, strict=False):
            pass

    def _member(self, header: bytes, kind: bytes, size: int, extended: dict[bytes, bytes]) -> Member:
        if kind in _WITHOUT_BODY:
            size = 0
        elif b"size" in extended:
            size = _decimal(extended[b"size"])
        name = _text(header[0:100])
        if header[257:263] == b"ustar\0" and (prefix := _text(header[345:500])):
            name = prefix + b"/" + name
        name = extended.get(b"path", extended.get(b"L", name))
        words = _KINDS.get(kind, "member of unknown kind")
        if kind == b"S":
            self._pass_over_sparse_map(header[482])
        elif any(key.startswith(b"GNU.sparse") for key in extended):
            words = _KINDS[b"S"]
        elif kind == b"\0" and name.endswith(b"/"):
            words = "folder"
        self._body, self._padding = size, -size % BLOCK
        return Member(name, words, size)

    def _pass_over_sparse_map(self, more: int) -> None:
        for _ in range(_HEADERS_CAP_BYTES // BLOCK):
            if not more:
                return
            more = self._exactly(BLOCK)[504]
        raise MalformedError("its headers are too long")

    def _exactly(self, count: int) -> bytes:
        pieces = []
        while count:
            piece = self._some(count)
            count -= len(piece)
            pieces.append(bytes(piece))
        return b"".join(pieces)

    def _pass_over(self, count: int) -> None:
        while count:
            count -= len(self._some(count))

    def _some(self, at_most: int) -> memoryview:
        """At least one byte and at most so many."""
        while not self._buffer:
            chunk = next(self._chunks, None)
            if chunk is None:
                raise TruncatedError("the engine broke off in the middle of an archive")
            self._buffer = memoryview(chunk)
        piece = self._buffer[:at_most]
        self._buffer = self._buffer[at_most:]
        return piece


def _check(header: bytes) -> None:
    """The header's checksum, unsigned as POSIX has it: what does not carry one is no header."""
    expected = sum(header) - sum(header[148:156]) + 8 * 0x20
    if _number(header[148:156]) != expected:
        raise MalformedError("it is not a tar archive")


def _number(field: bytes) -> int:
    """A number in octal digits or, where they do not suffice, in GNU's base 256."""
    if field[0] == 0x80:  # noqa: PLR2004 - marks base 256, not negative
        return _plausible(int.from_bytes(field[1:], "big"))
    match = _OCTAL.fullmatch(field)
    if match is None:
        raise MalformedError("a number in a header is not one")
    return int(match[1] or b"0", 8)


def _decimal(value: bytes) -> int:
    if not re.fullmatch(rb"[0-9]{1,19}", value):
        raise MalformedError("a number in a header is not one")
    return _plausible(int(value))


def _plausible(size: int) -> int:
    if size >= 1 << 63:
        raise MalformedError("a number in a header is too large")
    return size


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _extended(kind: bytes, data: bytes) -> dict[bytes, bytes]:
    """What a header extension says of the next member. One for all members (`g`) is nothing that an engine sends."""
    if kind == b"L":
        return {b"L": _text(data)}
    return dict(_records(data)) if kind == b"x" else {}


def _records(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The `length key=value` lines of a PAX header."""
    at = 0
    while at < len(data):
        match = _RECORD.match(data, at)
        end = at + int(match[1]) if match else 0
        if match is None or end <= match.end() or end > len(data) or data[end - 1] != 0x0A:  # noqa: PLR2004
            raise MalformedError("an extended header is not one")
        yield match[2], data[match.end() : end - 1]
        at = end
