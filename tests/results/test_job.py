"""A job's figures follow from its lock and its trials, and from nothing else."""

import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.errors import SealError
from hbench.results.job import JobResult, job_result
from hbench.results.lock import JobLock
from hbench.results.record import AgentResult, TrialRecord, Usage, VerifierResult


def test_the_figures_of_a_small_job_are_those_worked_out_by_hand(
    lock: dict[str, Any], records: list[TrialRecord]
) -> None:
    """alpha has 1 and 0.375, beta nothing and 0, gamma nothing twice."""
    result = job_result(JobLock.model_validate(lock), records)
    assert result.model_dump(mode="json", exclude={"usage"}) == {
        "format": "hbench/job-result@1",
        "job_id": lock["job_id"],
        "job_name": "oracle--none--00000000",
        "harness": "oracle",
        "model": None,
        "started_at": "2026-01-02T03:04:05.000006Z",
        "finished_at": "2026-01-02T03:04:09.000006Z",
        "n_planned": 6,
        "n_trials": 6,
        "n_with_reward": 3,
        "mean": (0.6875 + 0 + 0) / 3,
        "trial_rate": {"resolved": 1, "trials": 6},
        "per_task": [
            {"task_name": "alpha", "attempts": 2, "rewards": [1.0, 0.375], "mean": 0.6875},
            {"task_name": "beta", "attempts": 2, "rewards": [None, 0.0], "mean": 0.0},
            {"task_name": "gamma", "attempts": 2, "rewards": [None, None], "mean": 0.0},
        ],
        "exceptions": {
            "AgentTimeoutError": 1,
            "EnvironmentBuildError": 1,
            "RewardFileNotFoundError": 1,
            "VerifierOutputParseError": 1,
        },
        "buckets": {
            "failed": 1,
            "infra: EnvironmentBuildError": 1,
            "passed": 1,
            "timed out, failed": 1,
            "verifier broken": 2,
        },
        "starts_total": 7,
        "retries": 1,
        "all_errored": False,
    }


def test_the_order_in_which_trials_ended_changes_nothing(lock: dict[str, Any], records: list[TrialRecord]) -> None:
    """Not a digit, not the order of a key."""
    known = JobLock.model_validate(lock)
    wanted = job_result(known, records).model_dump_json()
    for order in itertools.permutations(records):
        assert job_result(known, order).model_dump_json() == wanted


def test_trials_that_are_missing_count_as_planned_and_earn_nothing(
    lock: dict[str, Any], records: list[TrialRecord]
) -> None:
    """The strict denominator (C11): so a mean can be shown while a job runs."""
    known = JobLock.model_validate(lock)
    result = job_result(known, records[:1])
    assert (result.n_planned, result.n_trials, result.mean) == (6, 1, 0.5 / 3)
    assert result.trial_rate.trials == 6
    assert result.per_task[0].rewards == [1.0, None]
    nothing = job_result(known, [])
    assert (nothing.mean, nothing.started_at, nothing.finished_at, nothing.all_errored) == (0.0, None, None, False)


def test_a_result_that_is_there_twice_or_not_planned_is_refused(
    lock: dict[str, Any], records: list[TrialRecord]
) -> None:
    known = JobLock.model_validate(lock)
    with pytest.raises(SealError, match="'alpha/oracle/1' has two results"):
        job_result(known, [*records, records[0]])
    with pytest.raises(SealError, match="'delta/oracle/1' is not in the lock"):
        job_result(known, [*records, records[0].model_copy(update={"trial_id": "delta/oracle/1"})])


@given(st.lists(st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=5), min_size=1, max_size=8))
def test_the_mean_is_that_of_exact_fractions(
    result_of: Callable[[list[list[float | None]]], JobResult], tasks: list[list[float | None]]
) -> None:
    """Attempts averaged per task, then tasks; no reward is 0."""
    result = result_of(tasks)
    per_task = [sum(Fraction(reward or 0.0) for reward in rewards) / len(rewards) for rewards in tasks]
    assert result.mean == pytest.approx(float(sum(per_task) / len(per_task)), rel=1e-15, abs=1e-300)
    assert [task.mean for task in result.per_task] == pytest.approx([float(m) for m in per_task], rel=1e-15, abs=1e-300)
    assert result.trial_rate.resolved == sum(reward == 1.0 for rewards in tasks for reward in rewards)
    assert 0.0 <= result.mean <= 1.0


def test_a_task_solved_every_time_has_a_mean_of_exactly_1(
    result_of: Callable[[list[list[float | None]]], JobResult],
) -> None:
    """And a job of such tasks too: no rounding gets in between."""
    assert result_of([[1.0] * 5] * 7).mean == 1.0


def test_all_errored_means_every_trial_and_nothing_earned(lock: dict[str, Any], records: list[TrialRecord]) -> None:
    """A job that earned something has a score (R30)."""
    known = JobLock.model_validate(lock)
    broken = [r.model_copy(update={"exception_info": records[2].exception_info}) for r in records]
    nothing = [r.model_copy(update={"verifier_result": None}) for r in broken]
    zeros = [r.model_copy(update={"verifier_result": VerifierResult(rewards={"reward": 0.0})}) for r in broken]
    assert job_result(known, nothing).all_errored
    assert job_result(known, zeros).all_errored
    assert not job_result(known, broken).all_errored
    assert not job_result(known, nothing[:5]).all_errored
    assert not job_result(known, [*nothing[:5], records[5].model_copy(update={"exception_info": None})]).all_errored


@pytest.mark.parametrize(
    ("usages", "total"),
    [
        ([(1, True), (2, True)], 3),
        ([(0, True), (0, True)], 0),
        ([(1, True), (None, True)], None),
        ([(1, True), (None, False)], 1),
        ([(None, True), (None, True)], None),
        ([(None, False), (None, False)], None),
    ],
)
def test_usage_is_summed_and_unknown_is_not_nought(
    usages: list[tuple[int | None, bool]],
    total: int | None,
    spending: Callable[[list[tuple[int | None, bool]]], JobResult],
) -> None:
    """A trial whose agent never began used nothing; any other that does not tell makes the sum unknown."""
    usage = spending(usages).usage
    assert usage.input == usage.cache_read == usage.cache_write == usage.output == usage.reasoning == total
    assert usage.cost_usd == (None if total is None else total / 4)


@pytest.fixture
def spending(lock: dict[str, Any], records: list[TrialRecord]) -> Callable[[list[tuple[int | None, bool]]], JobResult]:
    def do(usages: list[tuple[int | None, bool]]) -> JobResult:
        changed = [
            record.model_copy(
                update={
                    "agent_begun": begun,
                    "usage": Usage(input=n, cache_read=n, cache_write=n, output=n, reasoning=n),
                    "agent_result": AgentResult(cost_usd=None if n is None else n / 4),
                }
            )
            for record, (n, begun) in zip(records, usages, strict=False)
        ]
        return job_result(JobLock.model_validate(lock), changed)

    return do
