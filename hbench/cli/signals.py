"""Ctrl-C, a terminated process and a closed terminal all stop a run the same way."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from threading import Event
from types import FrameType

from hbench.errors import EXIT_INTERRUPTED

_STOPPING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOPPING = "\nstopping: running trials are recorded as cancelled (once more to leave at once)\n"
_LEAVING = "\nleft at once: `hbench clean` removes the containers that are still there\n"


@contextlib.contextmanager
def cancelling(cancel: Event) -> Iterator[None]:
    """Set `cancel` at the first signal, leave the process at the second.

    A signal that the process was started to ignore stays ignored: nohup does that.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            _say(_LEAVING)
            os._exit(EXIT_INTERRUPTED)
        cancel.set()
        _say(_STOPPING)

    wanted = [number for number in _STOPPING_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(text: str) -> None:
    """Unbuffered: a signal may come in the middle of another write."""
    with contextlib.suppress(OSError):  # the terminal may be what went away
        os.write(sys.stderr.fileno(), text.encode())
