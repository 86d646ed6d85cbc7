"""How far an observed share can be from the true one."""

import math
from typing import NamedTuple


class Interval(NamedTuple):
    """Two ends of a 95% interval, fractions in [0, 1]; both belong to it."""

    low: float
    high: float


def wilson(successes: int, trials: int, z: float = 1.96) -> Interval | None:
    """Wilson score interval of a proportion.

    Args:
        successes: How many of the trials count, 0..trials.
        trials: The denominator.
        z: Normal quantile. The literal 1.96 is part of the method: with the exact 1.959963984540054 the width of 19/20
            is 22.72 points instead of 22.73.

    Returns:
        Fractions clamped to [0, 1] that always hold successes / trials; None for an empty group, which has no rate.

    Raises:
        ValueError: successes is not in 0..trials, or z is not a positive finite number.

    Source:
        Wilson (1927), J. Am. Stat. Assoc. 22, 209-212.
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    if not 0 < z < math.inf:
        raise ValueError(f"z must be positive and finite, got {z}")
    if trials == 0:
        return None
    share = successes / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    # Rounding may leave 0/n a hair above 0 and n/n a hair below 1: the share itself is always inside.
    return Interval(max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)))
