"""The Wilson interval against published figures, scipy, and its own definition."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from hbench.stats import Interval, wilson

EXACT_Z = 1.959963984540054

counts = st.integers(1, 2000).flatmap(lambda trials: st.tuples(st.integers(0, trials), st.just(trials)))


def interval(successes: int, trials: int, z: float = 1.96) -> Interval:
    found = wilson(successes, trials, z)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"), [(0, 2, 0.000, 0.658), (4, 5, 0.376, 0.964), (19, 20, 0.764, 0.991)]
)
def test_published_intervals_come_out_to_three_decimals(successes: int, trials: int, low: float, high: float) -> None:
    """P16: 0/2, 4/5 and 19/20 are printed in public documents."""
    found = interval(successes, trials)
    assert (round(found.low, 3), round(found.high, 3)) == (low, high)


@pytest.mark.parametrize(("z", "width"), [(1.96, 22.73), (EXACT_Z, 22.72)])
def test_the_literal_quantile_shows_in_the_second_decimal(z: float, width: float) -> None:
    """P16: the width of 19/20 tells which z was used."""
    found = interval(19, 20, z)
    assert round(100 * (found.high - found.low), 2) == width


def test_an_empty_group_has_no_interval() -> None:
    """C7: neither 0 to 0 nor 0 to 1 would be true."""
    assert wilson(0, 0) is None


@pytest.mark.parametrize("trials", [1, 6, 11, 21, 22, 44, 10**6])  # 6 to 44 miss by a rounding when not clamped
def test_the_ends_are_exactly_zero_and_one_at_no_and_full_success(trials: int) -> None:
    """Rounding must not leave the observed share outside its own interval."""
    assert interval(0, trials).low == 0.0
    assert interval(trials, trials).high == 1.0


@given(counts)
def test_it_agrees_with_scipy_at_the_exact_quantile(pair: tuple[int, int]) -> None:
    """scipy.stats.binomtest(...).proportion_ci(0.95, method="wilson") is an independent implementation."""
    successes, trials = pair
    reference = binomtest(successes, trials).proportion_ci(confidence_level=0.95, method="wilson")
    assert interval(successes, trials, EXACT_Z) == pytest.approx((reference.low, reference.high), abs=1e-9)
    assert interval(successes, trials) == pytest.approx((reference.low, reference.high), abs=2e-5)


@given(counts)
def test_an_end_is_the_share_whose_own_z_test_just_accepts_what_was_seen(pair: tuple[int, int]) -> None:
    """The definition: |p_hat - p| = z * sqrt(p (1 - p) / n) at both ends, where they are inside (0, 1)."""
    successes, trials = pair
    for end in interval(successes, trials):
        if 0.0 < end < 1.0:
            distance = abs(successes / trials - end)
            assert distance == pytest.approx(1.96 * math.sqrt(end * (1 - end) / trials), abs=1e-9)


@given(counts)
def test_it_holds_the_share_and_mirrors_with_failure(pair: tuple[int, int]) -> None:
    """Counting failures instead of successes turns the interval around."""
    successes, trials = pair
    found, mirrored = interval(successes, trials), interval(trials - successes, trials)
    assert 0.0 <= found.low <= successes / trials <= found.high <= 1.0
    assert found == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-12)


@pytest.mark.parametrize(("successes", "trials", "z"), [(3, 2, 1.96), (-1, 2, 1.96), (0, -1, 1.96)])
def test_impossible_counts_are_refused(successes: int, trials: int, z: float) -> None:
    """More successes than trials is a bug of the caller, not a wide interval."""
    with pytest.raises(ValueError, match="successes of"):
        wilson(successes, trials, z)


@pytest.mark.parametrize("z", [0.0, -1.96, math.inf, math.nan])
def test_an_impossible_quantile_is_refused(z: float) -> None:
    """An infinite or negative z would give an interval that means nothing."""
    with pytest.raises(ValueError, match="z must be"):
        wilson(1, 2, z)
