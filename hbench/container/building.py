"""What the two builders share: the build, when to give it up, and the end of what it said."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from hbench.container.errors import Cancelled
from hbench.container.tail import Tail
from hbench.text import safe

TICK_S = 0.2
_RECENT_BYTES = 16 << 10
_LINE_WIDTH = 300
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, kw_only=True)
class Build:
    """An image to build.

    Attributes:
        folder: The context, as it is on the host.
        instructions: The Dockerfile to build it with, which need not be the folder's.
        until: When it has taken too long, on the monotonic clock.
        output: Called with what the builder says, as it comes.
    """

    folder: Path
    instructions: bytes
    tag: str
    labels: Mapping[str, str]
    until: float
    cancel: Event
    output: Callable[[bytes], None]

    def is_given_up(self) -> bool:
        """Whether it was cancelled or has taken too long."""
        return self.cancel.is_set() or time.monotonic() > self.until

    def check(self) -> None:
        """Go on only if there is reason to.

        Raises:
            Cancelled: It was cancelled.
            TimeoutError: It has taken too long.
        """
        if self.cancel.is_set():
            raise Cancelled
        if self.is_given_up():
            raise TimeoutError


class Recent:
    """Passes output on, and keeps the end of it for a message."""

    def __init__(self, output: Callable[[bytes], None]) -> None:
        self._output = output
        self._tail = Tail(keep_bytes=_RECENT_BYTES)

    def __call__(self, data: bytes) -> None:
        self._output(data)
        self._tail(data)

    def lines(self) -> list[str]:
        """The last lines that are not blank, without colours, safe to print."""
        text = _COLOUR.sub("", self._tail.text())
        return [safe(line.rstrip(), _LINE_WIDTH) for line in text.splitlines() if line.strip()]
