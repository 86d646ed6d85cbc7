"""Counting how far a batch is."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

from hbench.job.progress import Progress
from hbench.plan.model import Plan
from tests.job.world import World


@dataclass(frozen=True)
class Record:
    """All that progress looks at."""

    reward: float | None


@pytest.fixture
def plan(world: World) -> Plan:
    """Eight trials of two arms."""
    return world.plan()


def ended(progress: Progress, trial: Any, reward: float | None) -> None:
    progress.ended(trial, Record(reward))  # type: ignore[arg-type]


def kept(progress: Progress, trial: Any, reward: float | None) -> None:
    progress.kept(trial, Record(reward))  # type: ignore[arg-type]


def test_every_arm_is_counted_apart(plan: Plan) -> None:
    """Planned, running, done, failed, and the mean of what is done: no reward is 0."""
    progress = Progress.of(plan)
    first, second = (job.trials for job in plan.jobs)
    for trial in (*first[:3], second[0]):
        progress.started(trial)
    ended(progress, first[0], 1.0)
    ended(progress, first[1], None)
    arms = progress.arms
    one, other = arms[plan.jobs[0].arm.folder], arms[plan.jobs[1].arm.folder]
    assert (one.planned, one.done, one.running, one.failed, one.mean) == (4, 2, 1, 1, 0.5)
    assert (other.planned, other.done, other.running, other.failed, other.mean) == (4, 0, 1, 0, None)
    assert (progress.planned, progress.done) == (8, 2)


def test_what_was_kept_is_done_but_says_nothing_of_the_pace(plan: Plan) -> None:
    """A resumed batch does not promise to end at once."""
    progress = Progress.of(plan)
    for trial in plan.trials[:6]:
        kept(progress, trial, 1.0)
    assert (progress.done, progress.eta_s()) == (6, None)
    progress.started(plan.trials[6])
    assert progress.eta_s() is None
    time.sleep(0.05)
    ended(progress, plan.trials[6], 1.0)
    left_s = progress.eta_s()
    assert left_s is not None
    assert 0.04 < left_s < 5


def test_the_time_left_is_that_of_the_trials_left_at_the_pace_so_far(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two trials in 10 s leave 30 s for six."""
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = Progress.of(plan)
    for trial in plan.trials[:2]:
        progress.started(trial)
    clock[0] = 110.0
    for trial in plan.trials[:2]:
        ended(progress, trial, 0.0)
    assert progress.eta_s() == 30.0


def test_counts_hold_when_many_trials_end_at_once(plan: Plan) -> None:
    """Each trial has a thread."""
    progress = Progress.of(plan)

    def one(number: int) -> None:
        trial = plan.trials[number % 8]
        progress.started(trial)
        ended(progress, trial, 1.0)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(4000)))
    assert progress.done == 4000
    assert all((arm.running, arm.mean) == (0, 1.0) for arm in progress.arms.values())
