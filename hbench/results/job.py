"""`result.json` of a job: every figure in it follows from the lock and the trials' results. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from hbench.errors import SealError
from hbench.results.buckets import bucket
from hbench.results.lock import JobLock, PlannedTrial
from hbench.results.moment import instant
from hbench.results.record import TrialRecord

JOB_FORMAT: Final = "hbench/job-result@1"

N = TypeVar("N", int, float)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TrialRate(_Part):
    """Trials with a reward of exactly 1.0, and all that were planned."""

    resolved: int
    trials: int


class TaskResult(_Part):
    """One task; `rewards` by attempt, null where there is none, which counts 0 in `mean`."""

    task_name: str
    attempts: int
    rewards: list[float | None]
    mean: float


class JobUsage(_Part):
    """Sums over the trials, null when unknown (`_sum_of` says when)."""

    input: int | None
    cache_read: int | None
    cache_write: int | None
    output: int | None
    reasoning: int | None
    cost_usd: float | None


class JobResult(_Part):
    """`result.json` of a job.

    Attributes:
        job_name: The job folder's name.
        started_at, finished_at: The earliest start and the latest end of a trial.
        n_planned: Trials in the lock: what every mean is divided by.
        n_trials: Trials with a result; a sealed job has all.
        mean: Attempts averaged per task, then tasks; no reward counts 0.
        exceptions: exception_type -> trials.
        buckets: bucket -> trials.
        starts_total: Starts of all trials together.
        retries: Starts beyond each trial's first, whether a retry or a resume made them.
        all_errored: Every planned trial ended with an exception and none earned a reward above 0: no score.
    """

    format: Literal["hbench/job-result@1"] = JOB_FORMAT
    job_id: str
    job_name: str
    harness: str
    model: str | None
    started_at: str | None
    finished_at: str | None
    n_planned: int
    n_trials: int
    n_with_reward: int
    mean: float
    trial_rate: TrialRate
    per_task: list[TaskResult]
    exceptions: dict[str, int]
    buckets: dict[str, int]
    usage: JobUsage
    starts_total: int
    retries: int
    all_errored: bool


def job_result(lock: JobLock, records: Iterable[TrialRecord]) -> JobResult:
    """The job's figures; planned trials that have no record yet count 0 in every mean.

    Raises:
        SealError: A record is not of a planned trial, or two are of the same.
    """
    by_id = _by_trial(lock, records)
    done = list(by_id.values())
    per_task = _per_task(lock, by_id)
    rewards = [record.reward for record in done]
    starts = sum(record.starts for record in done)
    return JobResult(
        job_id=lock.job_id,
        job_name=lock.arm.folder,
        harness=lock.configuration.harness,
        model=None if lock.model is None else lock.model.name,
        started_at=min((r.started_at for r in done), key=instant, default=None),
        finished_at=max((r.finished_at for r in done), key=instant, default=None),
        n_planned=len(lock.trials),
        n_trials=len(done),
        n_with_reward=sum(reward is not None for reward in rewards),
        mean=_mean([task.mean for task in per_task]),
        trial_rate=TrialRate(resolved=sum(reward == 1.0 for reward in rewards), trials=len(lock.trials)),
        per_task=per_task,
        exceptions=_counts(r.exception_type for r in done if r.exception_type is not None),
        buckets=_counts(bucket(r.reward, r.exception_type) for r in done),
        usage=_usage(done),
        starts_total=starts,
        retries=starts - len(done),
        all_errored=len(done) == len(lock.trials)
        and all(record.exception_type is not None and not record.reward for record in done),
    )


def _by_trial(lock: JobLock, records: Iterable[TrialRecord]) -> dict[str, TrialRecord]:
    """Trial id -> record, in the order of the lock, whatever order the trials ended in."""
    given: dict[str, TrialRecord] = {}
    for record in records:
        if record.trial_id in given:
            raise SealError(f"the trial {record.trial_id!a} has two results")
        given[record.trial_id] = record
    ordered = {trial.trial_id: given.pop(trial.trial_id) for trial in lock.trials if trial.trial_id in given}
    if given:
        raise SealError(f"the trial {next(iter(given))!a} is not in the lock")
    return ordered


def _per_task(lock: JobLock, by_id: dict[str, TrialRecord]) -> list[TaskResult]:
    planned: dict[str, list[PlannedTrial]] = defaultdict(list)
    for trial in lock.trials:
        planned[trial.task].append(trial)
    return [_task_result(task.name, planned[task.name], by_id) for task in lock.tasks]


def _task_result(name: str, planned: list[PlannedTrial], by_id: dict[str, TrialRecord]) -> TaskResult:
    records = [by_id.get(trial.trial_id) for trial in sorted(planned, key=lambda trial: trial.attempt)]
    rewards = [None if record is None else record.reward for record in records]
    return TaskResult(
        task_name=name, attempts=len(planned), rewards=rewards, mean=_mean([reward or 0.0 for reward in rewards])
    )


def _mean(numbers: Sequence[float]) -> float:
    """Correctly rounded sum, so that the order of trials and the machine make no difference; 0.0 of nothing."""
    return math.fsum(numbers) / len(numbers) if numbers else 0.0


def _counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def _usage(records: Sequence[TrialRecord]) -> JobUsage:
    return JobUsage(
        input=_sum_of(records, lambda r: r.usage.input),
        cache_read=_sum_of(records, lambda r: r.usage.cache_read),
        cache_write=_sum_of(records, lambda r: r.usage.cache_write),
        output=_sum_of(records, lambda r: r.usage.output),
        reasoning=_sum_of(records, lambda r: r.usage.reasoning),
        cost_usd=_sum_of(records, lambda r: None if r.agent_result is None else r.agent_result.cost_usd, math.fsum),
    )


def _sum_of(
    records: Sequence[TrialRecord], figure: Callable[[TrialRecord], N | None], add: Callable[[list[N]], N] = sum
) -> N | None:
    """The sum over all trials; None if no trial tells, or one does not tell although its agent had begun.

    A trial whose agent had not begun used nothing, so that one container that did not start leaves the sum known.
    """
    told = [(record, figure(record)) for record in records]
    if any(number is None and record.agent_begun for record, number in told):
        return None
    known = [number for _, number in told if number is not None]
    return add(known) if known else None
