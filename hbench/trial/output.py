"""Output of a command, streamed to disk under a cap."""

import os
from pathlib import Path
from types import TracebackType
from typing import Self

from hbench.container.tail import Tail
from hbench.errors import SealError

OUTPUT_CAP = 64 << 20
_TAIL_BYTES = 4096


class OutputFile:
    """Writes what it is called with to `path`, unbuffered, so that the file can be followed while the command runs.

    Bytes past the cap are counted and dropped; the last lines are kept apart for messages.

    Raises:
        SealError: The host's disk is full, or fails.
    """

    def __init__(self, path: Path, *, cap: int = OUTPUT_CAP) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
        self._left = cap
        self._tail = Tail(keep_bytes=_TAIL_BYTES)
        self.dropped_bytes = 0

    def __call__(self, data: bytes) -> None:
        kept = data[: self._left]
        if kept:
            self._write(kept)
            self._left -= len(kept)
        self.dropped_bytes += len(data) - len(kept)
        self._tail(data)

    def tail(self, lines: int = 10) -> str:
        """The last lines of the output, at most 1000 characters."""
        return "\n".join(self._tail.text().splitlines()[-lines:])[-1000:]

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as problem:
            raise SealError(
                f"cannot be written: {problem.strerror}", where=self._path, hint="Make room, then resume."
            ) from problem

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)
