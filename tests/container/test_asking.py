"""What the engine's client raises, in hbench's words."""

from collections.abc import Iterator

import pytest
import requests
from docker.errors import APIError, NotFound

from hbench.container.asking import ask, guarded
from hbench.container.errors import GoneError, RefusedError
from hbench.errors import EngineError, HbenchError


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (NotFound("No such container: c"), GoneError),
        (APIError("Container c is not running"), GoneError),
        (APIError("no space left"), RefusedError),
        (requests.ConnectionError("refused"), EngineError),
    ],
)
def test_an_error_says_whether_container_request_or_engine_failed(
    raised: Exception, expected: type[HbenchError]
) -> None:
    """Only the last one ends the run; the message is the engine's own."""

    def request() -> None:
        raise raised

    with pytest.raises(HbenchError, match=str(raised)) as caught:
        ask(request)
    assert type(caught.value) is expected


def test_a_stream_that_breaks_off_is_the_engines_failure_and_is_closed() -> None:
    """What came before has been passed on."""
    closed = []

    def pieces() -> Iterator[bytes]:
        try:
            yield b"a"
            raise requests.exceptions.ChunkedEncodingError("cut")
        finally:
            closed.append(True)

    stream = guarded(pieces())
    assert next(stream) == b"a"
    with pytest.raises(EngineError, match="cut"):
        next(stream)
    assert closed


def test_closing_a_stream_closes_what_it_reads_from() -> None:
    """A connection that is not read to its end must not stay open."""
    closed = []

    def pieces() -> Iterator[bytes]:
        try:
            yield from [b"a", b"b"]
        finally:
            closed.append(True)

    stream = guarded(pieces())
    assert next(stream) == b"a"
    stream.close()
    assert closed
    assert list(guarded(pieces())) == [b"a", b"b"]
