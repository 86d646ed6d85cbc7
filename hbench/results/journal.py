"""`journal.jsonl`: every start and end of every trial, on disk before anything follows from it."""

import fcntl
import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hbench.errors import ResumeError, SealError
from hbench.results.files import as_model, load_json, read_bytes
from hbench.results.moment import Moment, now

JOURNAL_FORMAT: Final = "hbench/journal@1"


class Event(BaseModel):
    """One line.

    Attributes:
        event: `start`: the trial was started. `begun`: its agent had begun. `end`: it has a result. `torn`: hbench was
            killed while it wrote a line; what was written of that line is cut away.
        trial: The trial folder's name; null only for `torn`.
        start: Which start of that trial it is, from 1; null only for `torn`.
        exception_type: How it ended; null for other events.
        reward: What it ended with; null for other events.
        at: UTC, ISO 8601.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["hbench/journal@1"]
    event: Literal["start", "begun", "end", "torn"]
    trial: str | None = None
    start: int | None = Field(default=None, ge=1)
    exception_type: str | None = None
    reward: float | None = None
    at: Moment

    @model_validator(mode="after")
    def _belongs_to_a_trial(self) -> Self:
        if (self.event == "torn") != (self.trial is None) or (self.trial is None) != (self.start is None):
            raise ValueError("trial and start stand with every event but torn")
        if self.event != "end" and (self.exception_type, self.reward) != (None, None):
            raise ValueError("only an end has an exception_type or a reward")
        return self


class Journal:
    """The journal of a job, open for appending; safe to use from many threads, by one hbench at a time.

    Opening it for a resume cuts away a last line that was torn by a kill, and says so with a `torn` event.

    Raises:
        ResumeError: Another hbench has it open.
        SealError: It cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mutex = threading.Lock()
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0)
        except OSError as problem:
            what = f"cannot be opened: {problem.strerror}"
            raise SealError(what, where=path, hint="Make it writable, then resume.") from problem
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as problem:
            self.close()
            raise ResumeError(
                "another hbench is running this job", where=path, hint="Wait until it has ended."
            ) from problem
        except OSError as problem:
            self.close()
            what = f"cannot be locked: {problem.strerror}"
            raise SealError(what, where=path, hint="Use a file system that has locks (--jobs-dir).") from problem
        self._cut_torn_line()

    def start(self, trial_folder: str, start_number: int, at: str) -> None:
        """Say that a trial is about to be started, for the `start_number`-th time."""
        self._append("start", at, trial=trial_folder, start=start_number)

    def begun(self, trial_folder: str, start_number: int, at: str) -> None:
        """Say that its agent has begun: should hbench be killed now, the trial was cut off and not merely not run."""
        self._append("begun", at, trial=trial_folder, start=start_number)

    def end(
        self, trial_folder: str, start_number: int, exception_type: str | None, reward: float | None, at: str
    ) -> None:
        """Say how that start ended; its result.json is written before."""
        self._append("end", at, trial=trial_folder, start=start_number, exception_type=exception_type, reward=reward)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, event: str, at: str, **more: Any) -> None:
        value = {"format": JOURNAL_FORMAT, "event": event, **more, "at": at}
        as_model(value, Event, where=self._path)
        line = json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with self._mutex:
            size = os.fstat(self._file.fileno()).st_size
            try:
                written = self._file.write(line)
                os.fsync(self._file.fileno())
            except OSError as problem:
                self._file.truncate(size)
                raise self._full(problem.strerror) from problem
            if written != len(line):
                self._file.truncate(size)
                raise self._full("no room for the whole line")

    def _full(self, why: str | None) -> SealError:
        return SealError(f"cannot be written: {why}", where=self._path, hint="Make room, then resume.")

    def _cut_torn_line(self) -> None:
        data = read_bytes(self._path)
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._file.truncate(whole)
            self._append("torn", now())


def read(path: Path, *, torn_ok: bool = False) -> list[Event]:
    """Every event; see `parse`."""
    return parse(read_bytes(path), where=path, torn_ok=torn_ok)


def parse(data: bytes, *, where: str | Path, torn_ok: bool = False) -> list[Event]:
    """Every event, in the order written; with `torn_ok` less a last line without an end, as a running job may have it.

    Raises:
        SealError: A line is not an event; it names the line.
    """
    *lines, torn = data.split(b"\n")
    if torn and not torn_ok:
        raise SealError("the last line has no end", where=f"{where}:{len(lines) + 1}", hint="Resume the job.")
    events = []
    for number, line in enumerate(lines, start=1):
        here = f"{where}:{number}"
        events.append(as_model(load_json(line, where=here), Event, where=here))
    return events
