"""Ctrl-C and its kin, in processes of their own."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from threading import Event

import pytest

from hbench.cli.signals import cancelling

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
WAITS = """
import sys, time
from threading import Event
from hbench.cli.signals import cancelling
cancel = Event()
with cancelling(cancel):
    print("up", flush=True)
    if "long" in sys.argv:
        time.sleep(30)
    cancelled = cancel.wait(30)
print("cancelled" if cancelled else "nothing", flush=True)
"""


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Killed in the end."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for one in processes:
        one.kill()
        one.communicate()


def start(started: list[subprocess.Popen[str]], *words: str, ignore: signal.Signals | None = None) -> None:
    """A process that waits to be cancelled, or sleeps on; it may be started as nohup starts one."""
    before = WAITS if ignore is None else f"import signal; signal.signal({int(ignore)}, signal.SIG_IGN)\n{WAITS}"
    process = subprocess.Popen(
        [sys.executable, "-c", before, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    started.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_cancels_and_says_so(started: list[subprocess.Popen[str]], number: signal.Signals) -> None:
    """What runs can end by itself."""
    start(started)
    started[0].send_signal(number)
    out, err = started[0].communicate(timeout=10)
    assert (started[0].returncode, out) == (0, "cancelled\n")
    assert "running trials are recorded as cancelled (once more to leave at once)" in err


def test_the_second_signal_leaves_whatever_is_going_on(started: list[subprocess.Popen[str]]) -> None:
    """130, and what to do about the containers that stay."""
    start(started, "long")
    started[0].send_signal(signal.SIGINT)
    assert started[0].stderr is not None
    assert started[0].stderr.readline() == "\n"
    assert "stopping" in started[0].stderr.readline()
    started[0].send_signal(signal.SIGTERM)
    out, err = started[0].communicate(timeout=10)
    assert (started[0].returncode, out) == (130, "")
    assert "hbench clean" in err


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_the_process_was_started_to_ignore_stays_ignored(
    started: list[subprocess.Popen[str]], number: signal.Signals
) -> None:
    """`nohup hbench run &` outlives its terminal."""
    start(started, ignore=number)
    started[0].send_signal(number)
    with pytest.raises(subprocess.TimeoutExpired):
        started[0].wait(0.5)
    started[0].send_signal(signal.SIGTERM)
    out, _ = started[0].communicate(timeout=10)
    assert out == "cancelled\n"


def test_afterwards_every_signal_means_again_what_it_meant() -> None:
    """Also when the block ends with an error."""
    before = [signal.getsignal(number) for number in SIGNALS]

    def fails() -> None:
        with cancelling(Event()):
            assert [signal.getsignal(number) for number in SIGNALS] != before
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_a_message_that_cannot_be_shown_does_not_stop_the_stopping(monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal may be what went away."""

    class Gone:
        def fileno(self) -> int:
            raise OSError

    monkeypatch.setattr(sys, "stderr", Gone())
    cancel = Event()
    with cancelling(cancel):
        signal.raise_signal(signal.SIGINT)
        assert cancel.is_set()
