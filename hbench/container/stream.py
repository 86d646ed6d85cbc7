"""The byte stream of a running command: what the engine multiplexes on one connection."""

import select
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

STDOUT, STDERR = 1, 2
_HEADER = struct.Struct(">BxxxI")
_FIRST_LINE_CAP_BYTES = 4096


class Frames:
    """Takes the engine's frames apart: an 8-byte header (stream, length), then so many bytes."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._stream = 0
        self._left = 0

    def feed(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """The payload bytes in `data` in the order they came, each piece with its stream (STDOUT or STDERR)."""
        self._buffer += data
        while self._buffer:
            if self._left == 0:
                if len(self._buffer) < _HEADER.size:
                    return
                self._stream, self._left = _HEADER.unpack_from(self._buffer)
                del self._buffer[: _HEADER.size]
                continue
            piece = bytes(self._buffer[: self._left])
            del self._buffer[: len(piece)]
            self._left -= len(piece)
            yield self._stream, piece


class Connection:
    """A hijacked HTTP connection of docker-py: bytes both ways, with a tick to look at clock and cancel."""

    def __init__(self, response: Any, stdin: bytes | None) -> None:
        self._response = response
        reader = response.raw._fp.fp  # noqa: SLF001 - docker-py hands out no public way to the bytes read ahead
        self._socket = _socket_of(reader)
        self._socket.setblocking(False)
        self._ahead: bytes = _read_ahead(reader)
        self._to_send = memoryview(stdin or b"")
        self._closing_input = stdin is not None

    def read(self, wait_s: float) -> bytes | None:
        """The next bytes, b"" at the end of the stream, None when `wait_s` went by without any."""
        if self._ahead:
            ahead, self._ahead = self._ahead, b""
            return ahead
        until = time.monotonic() + wait_s
        while True:
            self._finish_input_if_sent()
            left = max(0.0, until - time.monotonic())
            writing = [self._socket] if len(self._to_send) else []
            readable, writable, _ = select.select([self._socket], writing, [], left)
            if writable:
                self._send_some()
            if readable:
                return self._receive()
            if not writable:
                return None

    def _receive(self) -> bytes | None:
        try:
            return bytes(self._socket.recv(65536))
        except BlockingIOError:
            return None
        except ConnectionError:
            return b""

    def _send_some(self) -> None:
        try:
            sent = self._socket.send(self._to_send[:65536])
        except ConnectionError:  # the process closed its input; what it wrote can still be read
            sent = len(self._to_send)
        self._to_send = self._to_send[sent:]

    def _finish_input_if_sent(self) -> None:
        if self._closing_input and not len(self._to_send):
            self._closing_input = False
            _shut_down_writing(self._socket)

    def close(self) -> None:
        """Give the connection up; the process in the container is not touched."""
        self._response.close()
        self._socket.close()


def _socket_of(reader: Any) -> Any:
    raw = reader.raw
    return getattr(raw, "_sock", raw)


def _read_ahead(reader: Any) -> bytes:
    """Bytes that came with the response's head and sit in the buffered reader."""
    waiting = reader.peek(1)
    return bytes(reader.read1(len(waiting))) if waiting else b""


def _shut_down_writing(connection: Any) -> None:
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:  # already closed by the other side
        return


class AfterFirstLine:
    """Calls `output` with everything but the first line of stdout, which is kept.

    A line that does not end within a few kilobytes is no first line, and is passed on.
    """

    def __init__(self, output: Callable[[bytes], None] | None) -> None:
        self.first_line: bytes | None = None
        self._head = b""
        self._output = output

    def __call__(self, stream: int, data: bytes) -> None:
        if self.first_line is None and stream == STDOUT:
            self._head += data
            line, newline, rest = self._head.partition(b"\n")
            if newline:
                self.first_line, data = line, rest
            elif len(self._head) > _FIRST_LINE_CAP_BYTES:
                self.first_line, data = b"", self._head
            else:
                return
        if data and self._output is not None:
            self._output(data)
