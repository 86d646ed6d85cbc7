"""Removing containers off the critical path (phase 6)."""

from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from hbench.container.engine import Engine

_AT_ONCE = 4


class Undertaker:
    """Removes what it is called with in the background; leaving the block waits until all of it is gone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="teardown")
        self._under_way: list[Future[None]] = []

    def __call__(self, container: str) -> None:
        self._under_way.append(self._pool.submit(self._engine.remove, container))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True)
        if kind is None:
            for one in self._under_way:
                one.result()
