"""What several attempts at the same tasks say: can it ever do this (pass@k), does it every time (pass^k)?"""

import math
from collections.abc import Iterable, Sequence

from hbench.stats.rates import Proportion, Reward, Rewards, check, mean, resolved, solved_half


def pass_at_k(n: int, c: int, k: int) -> float:
    """Probability that k attempts drawn without replacement from the n made hold a solved one: 1 - C(n-c, k) / C(n, k).

    Args:
        n: Attempts at one task.
        c: How many of them solved it, 0..n.
        k: How many are drawn, 1..n.

    Returns:
        A fraction in [0, 1], correctly rounded (the binomials are exact integers). Unbiased for the chance that at
        least one of k fresh attempts solves the task.

    Raises:
        ValueError: c is not in 0..n, or k is not in 1..n.

    Source:
        Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv 2107.03374, equation 1.
    """
    if not 0 <= c <= n:
        raise ValueError(f"{c} solved of {n} attempts")
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} needs {k} attempts, there are {n}")
    draws = math.comb(n, k)
    return (draws - math.comb(n - c, k)) / draws


def mean_pass_at_k(counts: Iterable[tuple[int, int]], k: int) -> float | None:
    """`pass_at_k` averaged over tasks, each task counting once.

    Args:
        counts: For each task (n, c): its planned attempts, and how many of them are resolved.
        k: At most the smallest n.

    Returns:
        A fraction in [0, 1]; None without tasks.

    Raises:
        ValueError: As `pass_at_k`.
    """
    return mean([pass_at_k(n, c, k) for n, c in counts])


def harbor_ks(attempts: int) -> tuple[int, ...]:
    """The k for which Harbor prints pass@k: powers of two and multiples of five, from 2 up to `attempts`.

    Three attempts give only 2; one attempt gives none. Nothing else is special about these k.
    """
    return tuple(k for k in range(2, attempts + 1) if k.bit_count() == 1 or k % 5 == 0)


def first_k_any(rewards_by_task: Rewards, k: int) -> float | None:
    """Share of tasks resolved in one of their first k attempts. Depends on the order, unlike `mean_pass_at_k`.

    Returns:
        A fraction in [0, 1]; None without tasks.

    Raises:
        ValueError: A task has fewer than k planned attempts or a reward outside 0..1, or k < 1.
    """
    check(rewards_by_task)
    for task, rewards in rewards_by_task.items():
        if not 1 <= k <= len(rewards):
            raise ValueError(f"task {task!r} has {len(rewards)} planned attempts, first {k} asked for")
    return mean([float(any_solved(rewards[:k])) for rewards in rewards_by_task.values()])


def any_solved(rewards: Sequence[Reward]) -> bool:
    """Whether any attempt at one task is resolved; printed as 100.0% or 0.0%."""
    return any(map(resolved, rewards))


def pass_hat_k(rewards_by_task: Rewards) -> float | None:
    """pass^k: share of tasks solved in all of their planned attempts, where solved is a reward of at least 0.5.

    k is the number of planned attempts; with one attempt the figure says nothing that the trial rate does not, and is
    not shown. For partial credit it can be above the trial rate: `every_time` is the strict one.

    Returns:
        A fraction in [0, 1]; None without tasks.

    Raises:
        ValueError: A task has no planned attempt, or a reward is not a number in [0, 1].
    """
    check(rewards_by_task)
    return mean([float(all(map(solved_half, rewards))) for rewards in rewards_by_task.values()])


def every_time(rewards_by_task: Rewards) -> Proportion:
    """Tasks resolved in every planned attempt, of all tasks; printed n/N.

    Raises:
        ValueError: As `pass_hat_k`.
    """
    check(rewards_by_task)
    solved = sum(all(map(resolved, rewards)) for rewards in rewards_by_task.values())
    return Proportion(successes=solved, trials=len(rewards_by_task))
