"""The end of what a process says."""

from hypothesis import given
from hypothesis import strategies as st

from hbench.container.tail import Tail


@given(st.lists(st.binary(max_size=20)), st.integers(1, 30))
def test_a_tail_is_the_end_of_all_the_pieces(pieces: list[bytes], keep_bytes: int) -> None:
    """However they are cut, and no more is kept than that."""
    tail = Tail(keep_bytes=keep_bytes)
    for piece in pieces:
        tail(piece)
        assert len(tail._end) <= keep_bytes
    assert tail.text() == b"".join(pieces)[-keep_bytes:].decode(errors="replace")
