"""Suite, task and default, in that order; a multiplier scales what comes out."""

from collections.abc import Callable

import pytest

from hbench.plan.limits import limits_of
from hbench.suite.model import LimitsTable
from hbench.task.model import Task

MakeTask = Callable[..., Task]


def test_a_multiplier_scales_the_tasks_own_limit(make_task: MakeTask) -> None:
    """0.05 times 120 s are 6 s (R04); the others keep theirs."""
    limits = limits_of(make_task("t"), LimitsTable(agent_timeout_multiplier=0.05))
    assert limits.agent_timeout_s == pytest.approx(6.0)
    assert (limits.verifier_timeout_s, limits.build_timeout_s, limits.setup_timeout_s) == (60.0, 600.0, 360.0)


def test_the_suites_limit_replaces_the_tasks_and_is_scaled_too(make_task: MakeTask) -> None:
    table = LimitsTable(
        agent_timeout_sec=10,
        agent_timeout_multiplier=2,
        verifier_timeout_sec=20,
        verifier_timeout_multiplier=3,
        build_timeout_sec=30,
        build_timeout_multiplier=4,
        setup_timeout_sec=40,
        setup_timeout_multiplier=5,
    )
    limits = limits_of(make_task("t"), table)
    assert (limits.agent_timeout_s, limits.verifier_timeout_s) == (20, 60)
    assert (limits.build_timeout_s, limits.setup_timeout_s) == (120, 200)


def test_resources_are_the_tasks_where_the_suite_is_silent(make_task: MakeTask) -> None:
    limits = limits_of(make_task("t", cpus=0.5, memory_mb=64), LimitsTable())
    assert (limits.cpus, limits.memory_mb) == (0.5, 64)


def test_the_suites_resources_replace_the_tasks(make_task: MakeTask) -> None:
    """Every trial of a suite that says so gets the same machine."""
    limits = limits_of(make_task("t", cpus=8, memory_mb=64), LimitsTable(cpus=2, memory_mb=4096, pids=100))
    assert (limits.cpus, limits.memory_mb, limits.pids) == (2, 4096, 100)


def test_a_trial_is_never_without_limits(make_task: MakeTask) -> None:
    """Where nobody says a number there is a default, documented in docs/suite.md."""
    limits = limits_of(make_task("t"), LimitsTable())
    assert (limits.cpus, limits.memory_mb, limits.pids) == (1.0, 2048, 512)
