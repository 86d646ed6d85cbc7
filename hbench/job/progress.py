"""How far a batch is: state that a view draws. Views are in `hbench.cli.live`."""

import time
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from hbench.plan.model import Plan, TrialPlan
from hbench.results.record import TrialRecord


class View(Protocol):
    """What shows a batch to a person while it runs; called from several threads."""

    def stage(self, text: str) -> None:
        """Something that takes a while has begun or got on."""

    def warn(self, text: str) -> None:
        """Something a person should know."""

    def started(self, trial: TrialPlan) -> None:
        """A trial has begun."""

    def ended(self, trial: TrialPlan, record: TrialRecord) -> None:
        """A trial has its record."""

    def kept(self, trial: TrialPlan, record: TrialRecord) -> None:
        """A trial has its record from an earlier run, and is not run again."""


@dataclass
class ArmProgress:
    """One arm's trials so far; `reward_sum` counts a trial without a reward as 0."""

    planned: int
    done: int = 0
    running: int = 0
    failed: int = 0
    reward_sum: float = 0.0

    def count(self, reward: float | None) -> None:
        """One more trial that is done."""
        self.done += 1
        self.failed += reward is None
        self.reward_sum += reward or 0.0

    @property
    def mean(self) -> float | None:
        """Mean reward of the trials that are done."""
        return self.reward_sum / self.done if self.done else None


@dataclass
class Progress:
    """Counts for every arm, kept under a lock."""

    arms: dict[str, ArmProgress]
    _began: float | None = None
    _kept: int = 0
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, plan: Plan) -> "Progress":
        return cls(arms={job.arm.folder: ArmProgress(planned=len(job.trials)) for job in plan.jobs})

    def started(self, trial: TrialPlan) -> None:
        with self._lock:
            self._began = self._began or time.monotonic()
            self.arms[trial.arm.folder].running += 1

    def ended(self, trial: TrialPlan, record: TrialRecord) -> None:
        with self._lock:
            arm = self.arms[trial.arm.folder]
            arm.running -= 1
            arm.count(record.reward)

    def kept(self, trial: TrialPlan, record: TrialRecord) -> None:
        with self._lock:
            self._kept += 1
            self.arms[trial.arm.folder].count(record.reward)

    @property
    def done(self) -> int:
        return sum(arm.done for arm in self.arms.values())

    @property
    def planned(self) -> int:
        return sum(arm.planned for arm in self.arms.values())

    def eta_s(self) -> float | None:
        """Seconds until the last trial ends at the pace since the first began; None before one has ended."""
        ended = self.done - self._kept
        if not ended or self._began is None:
            return None
        return (time.monotonic() - self._began) / ended * (self.planned - self.done)
