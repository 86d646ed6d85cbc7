"""pass@k and pass^k against published figures, exhaustive enumeration, and properties."""

import math
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.stats import (
    Proportion,
    Rewards,
    any_solved,
    every_time,
    first_k_any,
    harbor_ks,
    mean_pass_at_k,
    pass_at_1,
    pass_at_k,
    pass_hat_k,
    trial_rate,
)

# The one count of tasks by solved attempts (0..5) that the figures printed for 20 tasks and 5 attempts allow: a mean of
# 0.560, pass@5 of 0.950 and 0/20 every time give 1 task at 0 and none at 5; pass@4 of 0.930 gives 2 at 1; pass@2 of
# 0.805 the rest.
COIN_FLIP = [0] * 1 + [1] * 2 + [2] * 3 + [3] * 8 + [4] * 6

whole = st.sampled_from([0.0, 1.0, None])
by_task = st.integers(1, 5).flatmap(
    lambda attempts: st.dictionaries(
        st.text(min_size=1), st.lists(whole, min_size=attempts, max_size=attempts), min_size=1, max_size=8
    )
)


def rewards_of(solved_counts: list[int], attempts: int) -> Rewards:
    return {str(i): [1.0] * solved + [0.0] * (attempts - solved) for i, solved in enumerate(solved_counts)}


def test_the_published_coin_flip_run_comes_out_figure_by_figure() -> None:
    """P24: an agent that solves a task 60% of the time, 20 tasks, 5 attempts: pass@5 of 0.95, and never 5 of 5."""
    counts = [(5, solved) for solved in COIN_FLIP]
    rewards = rewards_of(COIN_FLIP, 5)
    assert f"{pass_at_1(rewards):.3f}" == "0.560"
    assert [f"{mean_pass_at_k(counts, k):.3f}" for k in harbor_ks(5)] == ["0.805", "0.930", "0.950"]
    assert every_time(rewards) == Proportion(successes=0, trials=20)
    assert pass_hat_k(rewards) == 0.0


def test_no_other_counts_give_the_published_figures() -> None:
    """The vector above is not a lucky choice: every split of 20 tasks over 0..5 solved is tried."""
    printed = (0.560, 0.805, 0.930, 0.950)
    per_count = [[c / 5, *(pass_at_k(5, c, k) for k in (2, 4, 5))] for c in range(6)]
    found = [
        split
        for bars in combinations(range(25), 5)
        if (split := [b - a - 1 for a, b in zip((-1, *bars), (*bars, 25), strict=True)])[5] == 0
        and all(
            abs(sum(n * row[i] for n, row in zip(split, per_count, strict=True)) / 20 - figure) < 5e-4
            for i, figure in enumerate(printed)
        )
    ]
    assert found == [[COIN_FLIP.count(solved) for solved in range(6)]]


@pytest.mark.parametrize("n", range(1, 9))
def test_pass_at_k_is_the_share_of_draws_that_hold_a_solved_attempt(n: int) -> None:
    """Every n up to 8, every c and k, against every subset of size k."""
    for c in range(n + 1):
        for k in range(1, n + 1):
            draws = list(combinations([True] * c + [False] * (n - c), k))
            assert pass_at_k(n, c, k) == float(Fraction(sum(map(any, draws)), len(draws)))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))))
def test_pass_at_k_grows_with_k_from_the_mean_to_existence(pair: tuple[int, int]) -> None:
    """One draw is the mean, all draws ask only whether any attempt solved it."""
    n, c = pair
    values = [pass_at_k(n, c, k) for k in range(1, n + 1)]
    assert values[0] == c / n
    assert values == sorted(values)
    assert values[-1] == float(c > 0)


@given(st.integers(2, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n), st.integers(1, n))))
def test_one_more_solved_attempt_never_lowers_pass_at_k(case: tuple[int, int, int]) -> None:
    """More solved is never worse."""
    n, c, k = case
    assert pass_at_k(n, c, k) >= pass_at_k(n, c - 1, k)


@given(st.integers(2, 8).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n), st.floats(0, 1))))
def test_pass_at_k_is_unbiased(case: tuple[int, int, float]) -> None:
    """Averaged over how many of n attempts a coin of chance p solves, it is 1 - (1 - p)^k."""
    n, k, p = case
    chances = [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    expected = sum(chance * pass_at_k(n, c, k) for c, chance in enumerate(chances))
    assert expected == pytest.approx(1 - (1 - p) ** k, abs=1e-12)


def test_huge_attempt_counts_do_not_overflow() -> None:
    """The product form in logarithms is an independent way to the same number."""
    n, c, k = 20_000, 3, 10_000
    product = math.exp(sum(math.log1p(-k / (n - i)) for i in range(c)))
    assert pass_at_k(n, c, k) == pytest.approx(1 - product, rel=1e-9)


@pytest.mark.parametrize(
    ("n", "c", "k", "says"),
    [
        (5, 6, 1, "6 solved of 5"),
        (5, -1, 1, "-1 solved of 5"),
        (5, 1, 6, "pass@6 needs 6 attempts, there are 5"),
        (5, 1, 0, "pass@0"),
        (0, 0, 1, "pass@1 needs 1 attempts, there are 0"),
    ],
)
def test_impossible_counts_are_refused(n: int, c: int, k: int, says: str) -> None:
    """pass@6 of five attempts cannot be estimated; guessing would look like a figure."""
    with pytest.raises(ValueError, match=says):
        pass_at_k(n, c, k)


@pytest.mark.parametrize(
    ("attempts", "ks"),
    [(0, ()), (1, ()), (2, (2,)), (3, (2,)), (4, (2, 4)), (5, (2, 4, 5)), (16, (2, 4, 5, 8, 10, 15, 16))],
)
def test_harbor_shows_powers_of_two_and_multiples_of_five(attempts: int, ks: tuple[int, ...]) -> None:
    """P21: three attempts give only pass@2."""
    assert harbor_ks(attempts) == ks


def test_first_k_any_follows_the_order_of_the_attempts() -> None:
    """P22: a task solved only at its third attempt is not solved in its first two."""
    rewards: Rewards = {"early": [1.0, 0.0, 0.0], "late": [0.0, None, 1.0], "half": [0.5, 0.5, 0.5]}
    assert [first_k_any(rewards, k) for k in (1, 2, 3)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])


@pytest.mark.parametrize("k", [0, 3])
def test_first_k_any_refuses_more_attempts_than_were_planned(k: int) -> None:
    """The first 3 of 2 would be the first 2 under a wrong name."""
    with pytest.raises(ValueError, match=f"task 't' has 2 planned attempts, first {k} asked for"):
        first_k_any({"t": [1.0, 0.0]}, k)


@pytest.mark.parametrize(("rewards", "expected"), [([0.0, 1.0], True), ([0.9, None], False), ([], False)])
def test_any_solved_asks_for_one_resolved_attempt(rewards: list[float | None], expected: bool) -> None:
    """P20: existence, at exactly 1.0."""
    assert any_solved(rewards) is expected


def test_pass_hat_k_takes_a_half_and_every_time_takes_only_one() -> None:
    """C5: both ask for all attempts, at different bars."""
    rewards: Rewards = {"half": [0.5, 1.0], "full": [1.0, 1.0], "missing": [1.0, None], "under": [1.0, 0.49]}
    assert pass_hat_k(rewards) == 0.5
    assert every_time(rewards) == Proportion(successes=1, trials=4)


def test_no_tasks_are_no_data() -> None:
    """C7: not a share of zero."""
    assert (mean_pass_at_k([], 2), first_k_any({}, 2), pass_hat_k({})) == (None, None, None)
    assert every_time({}).rate is None


@given(by_task)
def test_every_time_mean_and_pass_at_n_stand_in_this_order(rewards: Rewards) -> None:
    """Always is at most on average, and on average at most ever."""
    counts = [(len(row), row.count(1.0)) for row in rewards.values()]
    n = counts[0][0]
    always, ever = every_time(rewards).rate, mean_pass_at_k(counts, n)
    average = pass_at_1(rewards)
    assert always is not None
    assert average is not None
    assert ever is not None
    assert always == pass_hat_k(rewards)
    assert always <= average + 1e-12
    assert average <= ever + 1e-12
    assert ever == first_k_any(rewards, n)


@given(by_task)
def test_pass_at_one_by_counts_is_the_trial_rate_when_attempts_are_equal(
    rewards: Rewards,
) -> None:
    """P21 at k = 1 is the mean of whole rewards."""
    counts = [(len(row), row.count(1.0)) for row in rewards.values()]
    assert mean_pass_at_k(counts, 1) == pytest.approx(trial_rate(rewards).rate)
