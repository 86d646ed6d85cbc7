"""Output of a command on its way to disk."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.trial.output import OutputFile

PIECES = st.lists(st.binary(max_size=5000), max_size=20)


@settings(deadline=None)
@given(PIECES, st.integers(0, 20_000))
def test_the_cap_is_kept_to_the_byte_and_the_rest_counted(pieces: list[bytes], cap: int) -> None:
    """Whatever the pieces."""
    whole = b"".join(pieces)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agent" / "stdout.txt"
        with OutputFile(path, cap=cap) as output:
            for piece in pieces:
                output(piece)
        assert path.read_bytes() == whole[:cap]
        assert output.dropped_bytes == max(0, len(whole) - cap)


@settings(deadline=None)
@given(PIECES)
def test_the_tail_is_the_end_of_all_that_was_said(pieces: list[bytes]) -> None:
    """Also of what was dropped: at most 1000 characters, whole lines only if they fit."""
    whole = b"".join(pieces)
    with tempfile.TemporaryDirectory() as folder, OutputFile(Path(folder) / "out", cap=10) as output:
        for piece in pieces:
            output(piece)
        tail = output.tail()
    said = "\n".join(whole[-4096:].decode(errors="replace").splitlines()[-10:])
    assert len(tail) <= 1000
    assert said[-200:].endswith(tail[-200:])


def test_the_tail_has_the_last_ten_lines(tmp_path: Path) -> None:
    """Not the ones before."""
    with OutputFile(tmp_path / "out") as output:
        for number in range(100):
            output(f"line {number}\n".encode())
        assert output.tail().splitlines() == [f"line {number}" for number in range(90, 100)]
        assert output.tail(2) == "line 98\nline 99"


def test_output_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    """Nothing waits in a buffer."""
    with OutputFile(tmp_path / "out") as output:
        output(b"a")
        assert (tmp_path / "out").read_bytes() == b"a"
        output(b"b")
        assert (tmp_path / "out").read_bytes() == b"ab"
