"""Removing containers off the critical path (phase 6)."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from hbench.container.engine import Engine
from hbench.errors import HbenchError

_AT_ONCE = 4


class Undertaker:
    """Removes what it is called with in the background; leaving the block waits until all of it is gone.

    What cannot be removed is a warning: the results are on disk, and a sweep may have more luck.
    """

    def __init__(self, engine: Engine, warn: Callable[[str], None]) -> None:
        self._engine = engine
        self._warn = warn
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="teardown")
        self._under_way: list[Future[str | None]] = []

    def __call__(self, container: str) -> None:
        self._under_way.append(self._pool.submit(self._remove, container))

    def _remove(self, container: str) -> str | None:
        """Why it could not be removed, if it could not."""
        try:
            self._engine.remove(container)
        except HbenchError as problem:
            return str(problem)
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True)
        problems = [one.result() for one in self._under_way]
        if left := [problem for problem in problems if problem is not None]:
            self._warn(f"{len(left)} containers could not be removed: {left[0]}\nTry later: hbench clean")
