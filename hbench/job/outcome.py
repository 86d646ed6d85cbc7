"""A batch after the run, and the exit code it comes to."""

from dataclasses import dataclass
from pathlib import Path

from hbench.errors import EXIT_INTERRUPTED, EXIT_NOT_ALL_REWARDED, EXIT_OK, SealError
from hbench.plan.model import JobPlan
from hbench.results.record import TrialRecord
from hbench.suite.model import LimitsTable


@dataclass(frozen=True, kw_only=True)
class JobOutcome:
    """A job after the run; `not_sealed` says why it has no seal, None for a sealed one."""

    plan: JobPlan
    path: Path
    records: tuple[TrialRecord, ...]
    not_sealed: str | None


@dataclass(frozen=True, kw_only=True)
class BatchOutcome:
    """A batch after the run; `limits` are the suite's."""

    path: Path
    limits: LimitsTable
    jobs: tuple[JobOutcome, ...]
    cancelled: bool

    @property
    def exit_code(self) -> int:
        """0: every trial has a reward; 1: some do not; 6: a job could not be sealed; 130: a person stopped it."""
        if self.cancelled:
            return EXIT_INTERRUPTED
        if any(job.not_sealed is not None for job in self.jobs):
            return SealError.exit_code
        rewarded = sum(record.reward is not None for job in self.jobs for record in job.records)
        planned = sum(len(job.plan.trials) for job in self.jobs)
        return EXIT_OK if rewarded == planned else EXIT_NOT_ALL_REWARDED
