"""The bytes of a running command, taken apart without an engine."""

import io
import socket
import struct
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.container.stream import STDERR, STDOUT, AfterFirstLine, Connection, Frames


def frame(stream: int, data: bytes) -> bytes:
    """As the engine's documentation has it: one byte, three zeros, a big-endian length, then the data."""
    return struct.pack(">B3xI", stream, len(data)) + data


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([STDOUT, STDERR]), st.binary(max_size=40))),
    st.lists(st.integers(1, 30)),
)
def test_frames_come_out_whole_however_they_are_cut(sent: list[tuple[int, bytes]], cuts: list[int]) -> None:
    """The network cuts where it likes, also in a header."""
    stream = b"".join(frame(*one) for one in sent)
    frames, got = Frames(), []
    position = 0
    for cut in [*cuts, len(stream)]:
        got += list(frames.feed(stream[position : position + cut]))
        position += cut
    for which in (STDOUT, STDERR):
        assert b"".join(d for s, d in got if s == which) == b"".join(d for s, d in sent if s == which)
    assert b"".join(d for _, d in got) == b"".join(d for _, d in sent)


def after_first_line(*pieces: tuple[int, bytes]) -> tuple[bytes | None, bytes]:
    """The first line, and what is passed on."""
    passed: list[bytes] = []
    taker = AfterFirstLine(passed.append)
    for stream, data in pieces:
        taker(stream, data)
    return taker.first_line, b"".join(passed)


@settings(deadline=None)
@given(st.binary(max_size=60).filter(lambda line: b"\n" not in line), st.binary(max_size=60), st.integers(1, 20))
def test_the_first_line_is_kept_and_the_rest_passed_on(line: bytes, rest: bytes, cut: int) -> None:
    """In however many pieces it came."""
    data = line + b"\n" + rest
    pieces = [(STDOUT, data[at : at + cut]) for at in range(0, len(data), cut)]
    assert after_first_line(*pieces) == (line, rest)


def test_a_warning_on_stderr_is_not_taken_for_the_first_line() -> None:
    """A shell may complain about its environment before it runs anything."""
    warning = b"sh: warning: setlocale: LC_ALL: cannot change locale\n"
    assert after_first_line((STDERR, warning), (STDOUT, b"12\nhello\n")) == (b"12", warning + b"hello\n")


def test_without_a_line_end_nothing_is_passed_on_and_there_is_no_first_line() -> None:
    """Not yet."""
    assert after_first_line((STDOUT, b"12")) == (None, b"")


def test_an_endless_first_line_is_none_and_is_not_held_in_memory() -> None:
    """The image's shell may be anything."""
    endless = b"x" * 4000
    assert after_first_line((STDOUT, endless), (STDOUT, endless), (STDOUT, b"12\n")) == (b"", endless * 2 + b"12\n")


class Wire:
    """Two ends of a socket: the connection as docker-py gives it, and the engine's side of it."""

    def __init__(self, ahead: bytes, stdin: bytes | None) -> None:
        ours, self.engine = socket.socketpair()
        self.engine.sendall(ahead)
        reader = io.BufferedReader(socket.SocketIO(ours, "r"))
        if ahead:
            reader.peek(1)
        response: Any = SimpleNamespace(raw=SimpleNamespace(_fp=SimpleNamespace(fp=reader)), close=reader.close)
        self.connection = Connection(response, stdin)

    def close(self) -> None:
        self.connection.close()
        self.engine.close()


@pytest.fixture
def wires() -> Iterator[list[Wire]]:
    """Closed in the end."""
    made: list[Wire] = []
    yield made
    for one in made:
        one.close()


def wired(wires: list[Wire], *, ahead: bytes = b"", stdin: bytes | None = None) -> Wire:
    wires.append(Wire(ahead, stdin))
    return wires[-1]


def test_bytes_that_came_with_the_answers_head_are_not_lost(wires: list[Wire]) -> None:
    """They wait in a buffer that the socket knows nothing of."""
    wire = wired(wires, ahead=b"early")
    wire.engine.sendall(b"late")
    assert wire.connection.read(1) == b"early"
    assert wire.connection.read(1) == b"late"


def test_reading_gives_up_after_its_time_and_ends_with_the_stream(wires: list[Wire]) -> None:
    """None is not yet, b"" is never again."""
    wire = wired(wires)
    began = time.monotonic()
    assert wire.connection.read(0.1) is None
    assert 0.09 < time.monotonic() - began < 1
    wire.engine.close()
    assert wire.connection.read(1) == b""


def test_input_is_sent_while_output_comes_and_then_ends(wires: list[Wire]) -> None:
    """More than fits into a socket, to a process that talks before it listens."""
    text = bytes(range(256)) * 8192
    wire = wired(wires, stdin=text)
    got = bytearray()

    def engine() -> None:
        wire.engine.sendall(b"o" * 500_000)
        while data := wire.engine.recv(65536):
            got.extend(data)
        wire.engine.sendall(b"done")
        wire.engine.close()

    thread = threading.Thread(target=engine)
    thread.start()
    output = bytearray()
    while (data := wire.connection.read(1)) != b"":
        output += data or b""
    thread.join(10)
    assert bytes(got) == text
    assert bytes(output) == b"o" * 500_000 + b"done"


def test_input_that_nobody_reads_does_not_keep_the_output_back(wires: list[Wire]) -> None:
    """The process may never read it."""
    wire = wired(wires, stdin=b"x" * 4_000_000)
    wire.engine.sendall(b"hello")
    assert wire.connection.read(1) == b"hello"
    assert wire.connection.read(0.1) is None


def test_a_process_that_closes_its_input_can_still_be_read(wires: list[Wire]) -> None:
    """It has had enough, and answers."""
    wire = wired(wires, stdin=b"x" * 4_000_000)
    wire.engine.shutdown(socket.SHUT_RD)
    wire.engine.sendall(b"enough")
    assert wire.connection.read(1) == b"enough"
    assert wire.connection.read(0.1) is None


def test_without_input_the_line_stays_open(wires: list[Wire]) -> None:
    """None is no input; empty input is an end."""
    silent, ended = wired(wires), wired(wires, stdin=b"")
    silent.connection.read(0.01)
    ended.connection.read(0.01)
    silent.engine.setblocking(False)
    with pytest.raises(BlockingIOError):
        silent.engine.recv(1)
    assert ended.engine.recv(1) == b""
