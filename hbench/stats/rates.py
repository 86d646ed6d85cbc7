"""Shares of trials, and the headline: rewards averaged per task, then over tasks."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hbench.stats.intervals import Interval, wilson

Reward = float | None
Rewards = Mapping[str, Sequence[Reward]]
"""Task name -> rewards of its planned attempts, in order."""

HALF = 0.5


@dataclass(frozen=True, kw_only=True)
class Proportion:
    """`successes` of `trials`.

    Attributes:
        rate: A fraction in [0, 1]; None for an empty group.
        interval: Its 95% Wilson interval, z = 1.96; None for an empty group.
    """

    successes: int
    trials: int

    @property
    def rate(self) -> float | None:
        return self.successes / self.trials if self.trials else None

    @property
    def interval(self) -> Interval | None:
        return wilson(self.successes, self.trials)


def resolved(reward: Reward) -> bool:
    """Whether the reward is 1.0 exactly; a trial without a reward is not resolved."""
    return reward == 1.0


def solved_half(reward: Reward) -> bool:
    """Whether the reward is at least 0.5: what pass^k calls solved. Everywhere else `resolved` decides."""
    return reward is not None and reward >= HALF


def is_continuous(rewards: Iterable[Reward]) -> bool:
    """Whether a task is graded on a scale: any reward other than 0 and 1. Such a task's own row has no pass@k."""
    return any(reward not in (None, 0.0, 1.0) for reward in rewards)


def pass_at_1(rewards_by_task: Rewards) -> float | None:
    """Mean reward over every planned trial: attempts are averaged per task, then the tasks.

    Args:
        rewards_by_task: n_tasks sequences, each at least one long; no reward counts 0.

    Returns:
        A fraction in [0, 1]; None without tasks.

    Raises:
        ValueError: A task has no planned attempt, or a reward is not a number in [0, 1].
    """
    check(rewards_by_task)
    return mean([math.fsum(reward or 0.0 for reward in row) / len(row) for row in rewards_by_task.values()])


def trial_rate(rewards_by_task: Rewards) -> Proportion:
    """Resolved trials of all planned ones, tasks not weighted: a task with more attempts weighs more.

    Raises:
        ValueError: As `pass_at_1`.
    """
    check(rewards_by_task)
    return _proportion([reward for rewards in rewards_by_task.values() for reward in rewards])


def clean_rate(trials: Iterable[tuple[Reward, bool]]) -> Proportion:
    """The trial rate without infrastructure failures: a second, labelled figure, never the headline.

    Args:
        trials: For each planned trial its reward, and whether it is an infrastructure failure.

    Returns:
        Resolved trials of those that are no infrastructure failure. Its `trials` is to be shown beside it.
    """
    return _proportion([reward for reward, infrastructure in trials if not infrastructure])


def check(rewards_by_task: Rewards) -> None:
    """Refuse what would turn a mean into nonsense (nan, a reward of 2, a task that nobody planned to run)."""
    for task, rewards in rewards_by_task.items():
        if not rewards:
            raise ValueError(f"task {task!r} has no planned attempt")
        for reward in rewards:
            if reward is not None and not 0.0 <= reward <= 1.0:
                raise ValueError(f"task {task!r} has a reward outside 0..1: {reward}")


def mean(values: Collection[float]) -> float | None:
    """Arithmetic mean, summed exactly so that the order does not matter; None without values."""
    return math.fsum(values) / len(values) if values else None


def _proportion(rewards: Collection[Reward]) -> Proportion:
    return Proportion(successes=sum(map(resolved, rewards)), trials=len(rewards))
