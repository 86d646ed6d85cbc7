"""The figures of a job (docs/statistics.md): what was planned, what came of it, and how sure one can be."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hbench import stats
from hbench.report.row import TrialRow, is_infrastructure_failure
from hbench.results.buckets import NOT_RUN
from hbench.stats import Proportion

USAGE_KINDS = ("input", "cache_read", "cache_write", "output", "reasoning")


@dataclass(frozen=True, kw_only=True)
class KnownSum:
    """The sum over the trials that report a value; `total` is None where none does, never 0.

    `total` is short of the truth whenever `trials` is less than the job's trials, so both are shown.
    """

    total: float | None
    trials: int

    @property
    def mean(self) -> float | None:
        return None if self.total is None else self.total / self.trials


@dataclass(frozen=True, kw_only=True)
class JobSummary:
    """The figures of one job.

    Attributes:
        planned: Planned trials: the denominator of everything.
        recorded: Trials that have a record; the rest were never started.
        with_reward: Trials that the verifier gave a reward.
        exceptions: Trials in which something raised an error; one may still have a reward.
        exceptions_by_type, buckets: Trials by exception type and by triage bucket, most frequent first. Buckets add up
            to `planned`: what has no record is `not run`.
        mean: pass@1, every planned trial counted. None when the job has no score.
        all_errored: Every trial that ran ended in an exception and none earned anything, so there is no score.
        pass_at_k: k -> the unbiased estimate, for Harbor's k; empty with one attempt or without a score.
        pass_hat_k: Share of tasks with a reward of at least 0.5 in all attempts; None as for pass_at_k.
        every_time: Tasks resolved in every attempt.
        infrastructure: Trials in which the agent could not work at all.
        clean_rate: The trial rate without those.
        continuous_tasks: Tasks with a reward other than 0 and 1.
        usage: Disjoint token counts by kind.
        usage_basis: Who counted the tokens of the trials that have some: proxy, harness, mixed or unknown.
    """

    tasks: int
    attempts: int
    planned: int
    recorded: int
    with_reward: int
    exceptions: int
    exceptions_by_type: Mapping[str, int]
    buckets: Mapping[str, int]
    mean: float | None
    all_errored: bool
    trial_rate: Proportion
    pass_at_k: Mapping[int, float]
    pass_hat_k: float | None
    every_time: Proportion
    infrastructure: int
    clean_rate: Proportion
    continuous_tasks: int
    usage: Mapping[str, KnownSum]
    usage_basis: str
    cost_usd: KnownSum
    agent_time_s: KnownSum


def summarise(trials: Sequence[TrialRow], *, planned: Collection[tuple[str, int]], has_model: bool) -> JobSummary:
    """The figures of a job, from its trials and from what was planned.

    Args:
        trials: The recorded ones, in any order.
        planned: (task, attempt) of every planned trial, attempts from 1.
        has_model: Whether the configuration has a model; decides what an infrastructure failure is.

    Raises:
        ValueError: A trial was not planned, or is planned or there twice, or has a reward outside 0..1.
    """
    slots = _slots(trials, planned)
    rewards = _rewards(slots)
    attempts = min(map(len, rewards.values()), default=0)
    ran = [trial for trial in trials if trial.ran]
    all_errored = bool(ran) and all(trial.exception_type and not trial.reward for trial in ran)
    scored = bool(ran) and not all_errored
    infrastructure = [row is not None and is_infrastructure_failure(row, has_model=has_model) for row in slots.values()]
    all_rewards = [row.reward if row else None for row in slots.values()]
    exceptions = Counter(trial.exception_type for trial in trials if trial.exception_type)
    missing = Counter({NOT_RUN: len(slots) - len(trials)})
    return JobSummary(
        tasks=len(rewards),
        attempts=attempts,
        planned=len(slots),
        recorded=len(trials),
        with_reward=sum(trial.reward is not None for trial in trials),
        exceptions=exceptions.total(),
        exceptions_by_type=_most_first(exceptions),
        buckets=_most_first(missing + Counter(trial.bucket for trial in trials)),
        mean=stats.pass_at_1(rewards) if scored else None,
        all_errored=all_errored,
        trial_rate=stats.trial_rate(rewards),
        pass_at_k=_pass_at_k(rewards, attempts) if scored else {},
        pass_hat_k=stats.pass_hat_k(rewards) if scored and attempts > 1 else None,
        every_time=stats.every_time(rewards),
        infrastructure=sum(infrastructure),
        clean_rate=stats.clean_rate(zip(all_rewards, infrastructure, strict=True)),
        continuous_tasks=sum(map(stats.is_continuous, rewards.values())),
        usage={kind: _known_sum(getattr(trial.usage, kind) for trial in trials) for kind in USAGE_KINDS},
        usage_basis=_basis(trials),
        cost_usd=_known_sum(trial.cost_usd for trial in trials),
        agent_time_s=_known_sum(trial.agent_time_s for trial in trials),
    )


def _slots(trials: Sequence[TrialRow], planned: Collection[tuple[str, int]]) -> dict[tuple[str, int], TrialRow | None]:
    """Every planned (task, attempt), in order, with its trial or None."""
    slots: dict[tuple[str, int], TrialRow | None] = dict.fromkeys(sorted(planned))
    if len(slots) != len(planned):
        raise ValueError("an attempt at a task is planned twice")
    for trial in trials:
        place = (trial.task, trial.attempt)
        if place not in slots:
            raise ValueError(f"attempt {trial.attempt} at {trial.task!r} was not planned")
        if slots[place] is not None:
            raise ValueError(f"attempt {trial.attempt} at {trial.task!r} is there twice")
        slots[place] = trial
    return slots


def _rewards(slots: Mapping[tuple[str, int], TrialRow | None]) -> stats.Rewards:
    rewards: dict[str, list[float | None]] = {}
    for (task, _), row in slots.items():
        rewards.setdefault(task, []).append(row.reward if row else None)
    return rewards


def _pass_at_k(rewards: stats.Rewards, attempts: int) -> dict[int, float]:
    counts = [(len(row), sum(map(stats.resolved, row))) for row in rewards.values()]
    return {k: value for k in stats.harbor_ks(attempts) if (value := stats.mean_pass_at_k(counts, k)) is not None}


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _known_sum(values: Iterable[float | None]) -> KnownSum:
    known = [value for value in values if value is not None]
    total = sum(known) if all(isinstance(value, int) for value in known) else math.fsum(known)
    return KnownSum(total=total if known else None, trials=len(known))


def _basis(trials: Sequence[TrialRow]) -> str:
    bases = {trial.usage.basis for trial in trials} - {"unknown"}
    if len(bases) > 1:
        return "mixed"
    return next(iter(bases), "unknown")
