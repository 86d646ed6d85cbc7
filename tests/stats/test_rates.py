"""Shares of trials: strict denominators, and what counts as resolved."""

import math
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.stats import (
    Proportion,
    Rewards,
    clean_rate,
    is_continuous,
    pass_at_1,
    resolved,
    solved_half,
    trial_rate,
)

reward = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))
by_task = st.dictionaries(st.text(min_size=1), st.lists(reward, min_size=1, max_size=6), min_size=1, max_size=8)


def test_attempts_are_averaged_per_task_before_the_tasks() -> None:
    """P01: a task with four attempts pulls no harder than a task with one."""
    assert pass_at_1({"a": [1.0, 1.0, 0.0, 0.0], "b": [1.0]}) == 0.75


def test_a_trial_without_a_reward_counts_zero_in_the_mean() -> None:
    """P01, T08: the denominator is every planned trial."""
    assert pass_at_1({"a": [1.0, None], "b": [None, None]}) == 0.25


def test_partial_credit_counts_as_it_is_in_the_mean_and_not_at_all_in_the_trial_rate() -> None:
    """P15: resolved is 1.0 exactly."""
    rewards = {"a": [0.9999999999], "b": [1.0]}
    assert pass_at_1(rewards) == pytest.approx(1.0, abs=1e-9)
    assert trial_rate(rewards) == Proportion(successes=1, trials=2)


def test_the_trial_rate_does_not_weight_tasks() -> None:
    """P14: resolved trials of all trials, so the longer task pulls harder."""
    assert trial_rate({"a": [1.0, 1.0, 0.0, None], "b": [0.0]}) == Proportion(successes=2, trials=5)


def test_a_published_trial_rate_comes_out_to_one_decimal() -> None:
    """P14: 398 of 879 is printed as 45.3%."""
    rate = trial_rate({"all": [1.0] * 398 + [0.0] * 481}).rate
    assert rate is not None
    assert f"{rate:.1%}" == "45.3%"


@pytest.mark.parametrize(
    ("value", "is_resolved", "is_half"),
    [
        (1.0, True, True),
        (math.nextafter(1.0, 0.0), False, True),
        (0.5, False, True),
        (math.nextafter(0.5, 0.0), False, False),
        (0.0, False, False),
        (None, False, False),
    ],
)
def test_resolved_is_exact_and_solved_half_starts_at_a_half(
    value: float | None, is_resolved: bool, is_half: bool
) -> None:
    """C1: two meanings of solved, each with its own name."""
    assert (resolved(value), solved_half(value)) == (is_resolved, is_half)


@pytest.mark.parametrize(
    ("rewards", "expected"), [([1.0, 0.0, None], False), ([1.0, 0.3], True), ([None], False), ([], False)]
)
def test_a_task_is_continuous_when_any_reward_is_between_nothing_and_all(
    rewards: list[float | None], expected: bool
) -> None:
    """T07: a missing reward says nothing about the grading."""
    assert is_continuous(rewards) is expected


def test_the_clean_rate_leaves_out_infrastructure_failures_and_says_how_many_are_left() -> None:
    """E06: ten planned trials, one resolved, nine that never began: 1/1 must not look like 100% of ten."""
    trials = [(1.0, False)] + [(None, True)] * 9
    assert clean_rate(trials) == Proportion(successes=1, trials=1)
    assert trial_rate({"t": [value for value, _ in trials]}) == Proportion(successes=1, trials=10)


def test_nothing_planned_is_no_data() -> None:
    """C7: an empty group has neither rate nor interval nor mean."""
    empty = trial_rate({})
    assert (pass_at_1({}), empty.rate, empty.interval, clean_rate([]).rate) == (None, None, None, None)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
@pytest.mark.parametrize("figure", [pass_at_1, trial_rate])
def test_a_reward_that_is_no_number_between_zero_and_one_is_refused(
    figure: Callable[[Rewards], object], bad: float
) -> None:
    """One nan would silently become the headline."""
    with pytest.raises(ValueError, match="task 't' has a reward outside"):
        figure({"s": [1.0], "t": [0.0, bad]})


def test_a_task_without_planned_attempts_is_refused() -> None:
    """It has no mean of its own, and leaving it out would change the denominator in silence."""
    with pytest.raises(ValueError, match="task 't' has no planned attempt"):
        pass_at_1({"t": []})


@given(by_task, st.randoms(use_true_random=False))
def test_the_mean_depends_on_no_order(rewards: Rewards, random: Random) -> None:
    """To the last bit: sums are exact, so a recomputation elsewhere agrees."""
    names = list(rewards)
    random.shuffle(names)
    shuffled = {name: random.sample(rewards[name], len(rewards[name])) for name in names}
    assert pass_at_1(shuffled) == pass_at_1(rewards)


@given(by_task)
def test_the_mean_is_bounded_by_strict_and_lenient_counting(rewards: Rewards) -> None:
    """Counting partial credit as nothing gives no more, and counting it as all gives no less."""
    strict = {task: [float(resolved(value)) for value in row] for task, row in rewards.items()}
    lenient = {task: [float(bool(value)) for value in row] for task, row in rewards.items()}
    low, middle, high = pass_at_1(strict), pass_at_1(rewards), pass_at_1(lenient)
    assert low is not None
    assert middle is not None
    assert high is not None
    assert 0.0 <= low <= middle <= high <= 1.0


@given(st.integers(1, 5), st.lists(st.booleans(), min_size=1, max_size=12))
def test_with_equal_attempts_and_whole_rewards_mean_and_trial_rate_agree(attempts: int, passes: list[bool]) -> None:
    """C2: the two differ only by weighting and partial credit."""
    rewards = {str(number): [float(passed)] * attempts for number, passed in enumerate(passes)}
    assert pass_at_1(rewards) == pytest.approx(trial_rate(rewards).rate)
