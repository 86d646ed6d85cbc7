"""Phase timing: wall-clock moments for people, monotonic durations for figures (R25)."""

import contextlib
import time
from collections.abc import Iterator

from hbench.results.moment import now
from hbench.results.record import Timing


class Phases:
    """The phases of one trial, each timed once."""

    def __init__(self) -> None:
        self._done: dict[str, Timing] = {}

    @contextlib.contextmanager
    def timed(self, name: str) -> Iterator[None]:
        """Time what runs inside, also when it raises."""
        started_at, started = now(), time.monotonic()
        try:
            yield
        finally:
            self._done[name] = Timing(
                started_at=started_at, finished_at=now(), duration_s=round(time.monotonic() - started, 6)
            )

    def get(self, name: str) -> Timing | None:
        return self._done.get(name)

    def durations(self) -> dict[str, float]:
        """Phase -> seconds, in the order they ended."""
        return {name: timing.duration_s for name, timing in self._done.items()}
