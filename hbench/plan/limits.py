"""Task, suite and multipliers to what one trial may use."""

from typing import TypeVar

from hbench.plan.model import Limits
from hbench.suite.model import LimitsTable
from hbench.task.model import Task

Number = TypeVar("Number", int, float)

SETUP_TIMEOUT_S = 360.0
"""For getting a harness ready, which no task says anything about."""

CPUS = 1.0
MEMORY_MB = 2048
PIDS = 512
"""These three where neither suite nor task says a number: a trial is never without limits."""


def limits_of(task: Task, table: LimitsTable) -> Limits:
    """The suite's number where it gives one, else the task's, else the default; times the multiplier for times."""
    environment = task.environment
    return Limits(
        agent_timeout_s=_or(table.agent_timeout_sec, task.agent.timeout_s) * table.agent_timeout_multiplier,
        verifier_timeout_s=_or(table.verifier_timeout_sec, task.verifier.timeout_s) * table.verifier_timeout_multiplier,
        build_timeout_s=_or(table.build_timeout_sec, environment.build_timeout_s) * table.build_timeout_multiplier,
        setup_timeout_s=_or(table.setup_timeout_sec, SETUP_TIMEOUT_S) * table.setup_timeout_multiplier,
        cpus=_or(table.cpus, environment.cpus, CPUS),
        memory_mb=_or(table.memory_mb, environment.memory_mb, MEMORY_MB),
        pids=_or(table.pids, PIDS),
    )


def _or(*choices: Number | None) -> Number:
    return next(choice for choice in choices if choice is not None)
