"""The figures of a job, and that they add up."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.report.row import TrialRow
from hbench.report.summary import JobSummary, KnownSum, summarise
from hbench.results.record import Usage
from hbench.stats import Proportion

Job = Callable[..., JobSummary]


def row(attempt: int = 1, reward: float | None = 1.0, **fields: Any) -> TrialRow:
    defaults: dict[str, Any] = {"task": "t", "attempt": attempt, "reward": reward, "exception_type": None}
    return TrialRow(**defaults | fields)


def test_a_late_pass_counts_as_reward_and_as_exception(job: Job) -> None:
    """R03: the one exception is no infrastructure trouble, and the mean is 1."""
    found = job({"t": [(1.0, "AgentTimeoutError")]})
    assert (found.with_reward, found.exceptions, found.mean) == (1, 1, 1.0)
    assert found.buckets == {"timed out, passed": 1}
    assert not found.all_errored


def test_a_broken_verifier_and_a_failing_agent_do_not_look_alike(job: Job) -> None:
    """T08, T11: 0 trials with 1 exception is not a real zero."""
    broken, failed = job({"t": ["RewardFileNotFoundError"]}), job({"t": [0.0]})
    assert (broken.with_reward, broken.exceptions, broken.mean, broken.all_errored) == (0, 1, None, True)
    assert (failed.with_reward, failed.exceptions, failed.mean, failed.all_errored) == (1, 0, 0.0, False)


def test_every_planned_trial_is_in_every_denominator(job: Job) -> None:
    """E06, C11: a crash, a cancelled trial and one that never started count 0."""
    found = job({"a": [1.0, "EnvironmentStartError"], "b": ["CancelledError", None]})
    assert (found.planned, found.recorded, found.with_reward) == (4, 3, 1)
    assert found.mean == 0.25
    assert found.trial_rate == Proportion(successes=1, trials=4)
    assert found.every_time == Proportion(successes=0, trials=2)
    assert found.clean_rate == Proportion(successes=1, trials=3)
    assert found.infrastructure == 1
    assert found.buckets == {"not run": 2, "infra: EnvironmentStartError": 1, "passed": 1}
    assert found.exceptions_by_type == {"CancelledError": 1, "EnvironmentStartError": 1}


@pytest.mark.parametrize(
    "endings",
    [
        {"a": ["EnvironmentBuildError"], "b": ["RewardFileNotFoundError"]},
        {"a": [(0.0, "NonZeroAgentExitCodeError")], "b": [(0.0, "AgentTimeoutError")]},
        {"a": ["EngineError"], "b": ["CancelledError"]},
        {"a": ["EngineError"], "b": [None]},
    ],
)
def test_a_job_whose_every_trial_erred_has_no_score(job: Job, endings: dict[str, Any]) -> None:
    """R30: 0% would describe the setup; what was never run does not make it a score."""
    found = job(endings)
    assert found.all_errored
    assert (found.mean, found.pass_at_k, found.pass_hat_k) == (None, {}, None)


@pytest.mark.parametrize("other", [0.0, (0.2, "AgentTimeoutError"), (1.0, "BudgetExceededError")])
def test_one_clean_trial_or_one_that_earned_something_makes_it_a_score(job: Job, other: Any) -> None:
    """R30 and R03 together: an error that came with a reward describes the agent."""
    found = job({"a": ["EnvironmentBuildError"], "b": [other]})
    assert not found.all_errored
    assert found.mean is not None


@pytest.mark.parametrize("endings", [{"a": [None]}, {"a": ["CancelledError"]}])
def test_a_job_of_which_nothing_ran_has_no_score_and_did_not_err(job: Job, endings: dict[str, Any]) -> None:
    """Ctrl-C in the first second is not a setup problem."""
    found = job(endings)
    assert (found.mean, found.all_errored) == (None, False)


def test_several_attempts_bring_pass_at_k_and_pass_hat_k(job: Job) -> None:
    """P21, P23, P24: Harbor's k, and both readings of every time."""
    found = job({"a": [1.0, 0.0, 0.5], "b": [1.0, 1.0, 0.5], "c": [1.0, 1.0, 1.0]})
    assert found.attempts == 3
    assert found.pass_at_k == {2: pytest.approx((2 / 3 + 1 + 1) / 3)}
    assert found.pass_hat_k == pytest.approx(2 / 3)
    assert found.every_time == Proportion(successes=1, trials=3)
    assert found.continuous_tasks == 2


def test_one_attempt_brings_neither(job: Job) -> None:
    """P23: pass^1 would be another name for a rate."""
    found = job({"a": [1.0]})
    assert (found.pass_at_k, found.pass_hat_k) == ({}, None)


def test_an_empty_job_is_no_data(job: Job) -> None:
    """C7: null, not 0."""
    found = job({})
    assert (found.planned, found.tasks, found.attempts) == (0, 0, 0)
    assert (found.mean, found.trial_rate.interval, found.buckets) == (None, None, {})


def test_totals_say_how_many_trials_they_know() -> None:
    """F04, C13: a missing cost is unknown, and a sum of the others says so."""
    known = Usage(input=10, cache_read=5, output=2, basis="proxy")
    rows = [row(1, cost_usd=0.25, agent_time_s=2.0, usage=known), row(2, cost_usd=0.5, agent_time_s=4.0), row(3)]
    found = summarise(rows, planned=[("t", 1), ("t", 2), ("t", 3)], has_model=True)
    assert found.cost_usd == KnownSum(total=0.75, trials=2)
    assert found.agent_time_s.mean == 3.0
    assert found.usage["input"] == KnownSum(total=10, trials=1)
    assert found.usage["cache_write"] == KnownSum(total=None, trials=0)
    assert found.usage["cache_write"].mean is None
    assert found.usage_basis == "proxy"


@pytest.mark.parametrize(
    ("bases", "expected"),
    [(["unknown"], "unknown"), (["proxy", "unknown"], "proxy"), (["proxy", "harness"], "mixed"), ([], "unknown")],
)
def test_the_basis_of_the_usage_is_named_and_a_mix_is_called_mixed(bases: list[Any], expected: str) -> None:
    """F02: counts of different origin are not silently one figure."""
    rows = [row(number, usage=Usage(basis=basis)) for number, basis in enumerate(bases)]
    found = summarise(rows, planned=[("t", number) for number in range(len(bases))], has_model=True)
    assert found.usage_basis == expected


@pytest.mark.parametrize(
    ("rows", "planned", "says"),
    [
        ([row(), row()], [("t", 1)], "attempt 1 at 't' is there twice"),
        ([row(2)], [("t", 1)], "attempt 2 at 't' was not planned"),
        ([], [("t", 1), ("t", 1)], "planned twice"),
        ([row(reward=1.5)], [("t", 1)], "outside 0..1"),
    ],
)
def test_what_does_not_fit_the_plan_is_refused(rows: list[TrialRow], planned: list[Any], says: str) -> None:
    """A row counted twice would change every figure in silence."""
    with pytest.raises(ValueError, match=says):
        summarise(rows, planned=planned, has_model=False)


ending = st.sampled_from(
    [1.0, 0.0, 0.4, None, "CancelledError", "EngineError", "RewardFileEmptyError", (1.0, "AgentTimeoutError")]
)


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.dictionaries(st.text(min_size=1), st.lists(ending, min_size=n, max_size=n), min_size=1, max_size=6)
    )
)
def test_the_parts_add_up_to_what_was_planned(trials: Callable[..., Any], endings: dict[str, list[Any]]) -> None:
    """Buckets partition the plan, exceptions by type the exceptions; and no figure depends on the order."""
    rows, planned = trials(endings)
    found = summarise(rows, planned=planned, has_model=False)
    assert sum(found.buckets.values()) == found.planned == len(planned)
    assert sum(found.exceptions_by_type.values()) == found.exceptions
    assert found.clean_rate.trials == found.planned - found.infrastructure
    assert found.clean_rate.successes == found.trial_rate.successes
    assert found.buckets.get("passed", 0) + found.buckets.get("timed out, passed", 0) == found.trial_rate.successes
    assert summarise(rows[::-1], planned=planned[::-1], has_model=False) == found
