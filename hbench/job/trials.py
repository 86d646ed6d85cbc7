"""The trials of a batch: a thread for each that runs, in the plan's order across all arms."""

import contextlib
import random
from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from hbench.job import attempts
from hbench.job.folder import BatchFolder
from hbench.job.progress import View
from hbench.plan.lock import trial_lock
from hbench.plan.model import Plan, TrialPlan
from hbench.results.buckets import never_got_to_the_agent
from hbench.results.files import write_json
from hbench.results.journal import Journal
from hbench.results.lock import JobLock
from hbench.results.moment import now
from hbench.results.record import TrialRecord
from hbench.results.tree import JOURNAL, LOCK, RESULT
from hbench.trial.bench import Bench, Prepared
from hbench.trial.run import run_trial

_BACK_OFF_S = 2.0
_LONGEST_BACK_OFF_S = 60.0


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """What an earlier run left of a trial.

    Attributes:
        starts: How often it was started.
        record: Its record, if that stands.
        journaled: Whether the journal has the end of its last start; a kill may come between the two.
    """

    starts: int = 0
    record: TrialRecord | None = None
    journaled: bool = True


@dataclass(frozen=True, kw_only=True)
class TrialRunner:
    """Runs the trials of a plan; `earlier` has what a resumed batch already knows of them, by trial folder."""

    batch: BatchFolder
    bench: Bench
    images: Mapping[str, Prepared]
    locks: Mapping[str, JobLock]
    view: View
    earlier: Mapping[Path, Earlier]

    def run(self, plan: Plan) -> dict[str, list[TrialRecord]]:
        """Job folder name -> records, in the plan's order; a trial that never started has none."""
        with contextlib.ExitStack() as stack:
            journals = {
                job.arm.folder: stack.enter_context(Journal(self.batch.job(job) / JOURNAL)) for job in plan.jobs
            }
            pool = stack.enter_context(ThreadPoolExecutor(plan.suite.suite.concurrency, thread_name_prefix="trial"))
            futures = [
                (trial, pool.submit(self._trial, trial, journals[trial.arm.folder], plan.suite.retry.max_retries))
                for trial in plan.trials
            ]
            done, _ = wait([future for _, future in futures], return_when=FIRST_EXCEPTION)
            if any(future.exception() is not None for future in done):
                self.bench.cancel.set()  # a mistake of hbench's own: the others end, then it is raised below
        records: dict[str, list[TrialRecord]] = {job.arm.folder: [] for job in plan.jobs}
        for trial, future in futures:
            record = future.result()
            if record is not None:
                records[trial.arm.folder].append(record)
        return records

    def _trial(self, trial: TrialPlan, journal: Journal, max_retries: int) -> TrialRecord | None:
        earlier = self.earlier.get(self.batch.trial(trial), Earlier())
        if earlier.record is not None:
            if not earlier.journaled:
                _journal_end(journal, trial, earlier.record)
            self.view.kept(trial, earlier.record)
            return earlier.record
        if self.bench.cancel.is_set():
            return None
        self.view.started(trial)
        record = self._start(trial, journal, earlier.starts + 1)
        for retry in range(1, max_retries + 1):
            if not never_got_to_the_agent(record.exception_type, agent_begun=record.agent_begun):
                break
            self._back_off(retry)
            if self.bench.cancel.is_set():
                break
            record = self._start(trial, journal, record.starts + 1)
        self.view.ended(trial, record)
        return record

    def _start(self, trial: TrialPlan, journal: Journal, starts: int) -> TrialRecord:
        """One start of the trial, on disk before and after."""
        folder = self.batch.trial(trial)
        folder.mkdir(exist_ok=True)
        attempts.set_aside(folder)
        prepared = self.images[trial.task.name]
        image_id = None if prepared.image is None else prepared.image.id
        self._write_lock(folder, trial, image_id)
        journal.start(trial.folder, starts, now())
        record = run_trial(
            trial,
            prepared,
            self.bench,
            folder,
            starts=starts,
            on_begun=lambda: journal.begun(trial.folder, starts, now()),
        )
        write_json(folder / RESULT, record.model_dump(mode="json"))
        _journal_end(journal, trial, record)
        return record

    def _write_lock(self, folder: Path, trial: TrialPlan, image_id: str | None) -> None:
        job_id = self.locks[trial.arm.folder].job_id
        write_json(folder / LOCK, trial_lock(job_id, trial, image_id=image_id).model_dump(mode="json"))

    def _back_off(self, retry: int) -> None:
        """Exponential, with jitter so that trials that failed together do not come back together."""
        longest = min(_LONGEST_BACK_OFF_S, _BACK_OFF_S * 2**retry)
        self.bench.cancel.wait(random.uniform(longest / 2, longest))  # noqa: S311 - nothing secret about it


def _journal_end(journal: Journal, trial: TrialPlan, record: TrialRecord) -> None:
    journal.end(trial.folder, record.starts, record.exception_type, record.reward, now())
