"""Every way a command can end, with its exit code.

A trial that goes wrong is a result (`hbench.trial.ending`); what is here is for the person at the keyboard. Each
message says where, what, and the next step.
"""

from pathlib import Path

EXIT_OK = 0
EXIT_NOT_ALL_REWARDED = 1
EXIT_BUG = 70
EXIT_INTERRUPTED = 130


class HbenchError(Exception):
    """The family's head.

    Args:
        what: One sentence: what is wrong.
        where: The file, `file:line`, or thing it is about.
        hint: The next step, in the imperative.
    """

    exit_code = EXIT_BUG

    def __init__(self, what: str, *, where: str | Path | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = None if where is None else str(where)
        self.hint = hint

    def __str__(self) -> str:
        return self.without_place if self.where is None else f"{self.where}: {self.without_place}"

    @property
    def without_place(self) -> str:
        """The message less `where`, for files that must not name a folder of this machine."""
        return self.what if self.hint is None else f"{self.what}\n  {self.hint}"


class SuiteError(HbenchError):
    """The suite file or the flags cannot be used."""

    exit_code = 2


class TaskError(HbenchError):
    """A task folder is not valid."""

    exit_code = 2


class NothingToRunError(HbenchError):
    """The selection leaves no trial."""

    exit_code = 3


class EngineError(HbenchError):
    """The Docker engine cannot be reached or refuses what every trial needs."""

    exit_code = 4


class AdapterError(HbenchError):
    """No such harness, or its adapter is not valid."""

    exit_code = 5


class SealError(HbenchError):
    """A job folder is not what its seal says, or cannot be sealed."""

    exit_code = 6


class ResumeError(HbenchError):
    """What is to be resumed has changed since, or is not there."""

    exit_code = 8
