"""Numbers in, numbers out: imports nothing of hbench, so a board can serve it as it runs.

A task's rewards are one sequence in the order of its planned attempts, `None` where an attempt left no reward. An
attempt that was never made is a `None` too: every denominator is what was planned.
"""

from hbench.stats.attempts import (
    any_solved,
    every_time,
    first_k_any,
    harbor_ks,
    mean_pass_at_k,
    pass_at_k,
    pass_hat_k,
)
from hbench.stats.intervals import Interval, wilson
from hbench.stats.rates import (
    Proportion,
    Rewards,
    clean_rate,
    is_continuous,
    pass_at_1,
    resolved,
    solved_half,
    trial_rate,
)

__all__ = [
    "Interval",
    "Proportion",
    "Rewards",
    "any_solved",
    "clean_rate",
    "every_time",
    "first_k_any",
    "harbor_ks",
    "is_continuous",
    "mean_pass_at_k",
    "pass_at_1",
    "pass_at_k",
    "pass_hat_k",
    "resolved",
    "solved_half",
    "trial_rate",
    "wilson",
]
