"""Phases 2 and 3: the harness put in place, run headless under its limit, and stopped."""

import time
from dataclasses import dataclass
from pathlib import Path

from hbench.adapter.find import files
from hbench.adapter.model import Adapter
from hbench.container import archive
from hbench.container.engine import Command, Finished
from hbench.container.errors import GoneError, RefusedError
from hbench.plan.model import TrialPlan
from hbench.results.record import ExceptionInfo
from hbench.task import template
from hbench.task.model import Task
from hbench.trial.ending import AgentSetupError, AgentSetupTimeoutError, EngineFailure
from hbench.trial.environment import Environment, reading
from hbench.trial.output import OutputFile

HARNESS_FOLDER = "/hbench/harness"
INSTRUCTION_FILE = "/hbench/instruction.md"
_ARGUMENT_CAP_BYTES = (128 << 10) - 1  # and a NUL: Linux takes no longer one


@dataclass(frozen=True, kw_only=True)
class AgentEnding:
    """How the agent ended.

    Attributes:
        exception: What its end is recorded as, None for a clean end; the tests run all the same.
    """

    exit_code: int | None
    exception: ExceptionInfo | None
    stop_reason: str
    flags: tuple[str, ...] = ()


def set_up(trial: TrialPlan, environment: Environment) -> None:
    """Copy the harness, the instruction, and what the harness is declared to see, into the container.

    Raises:
        AgentSetupError: The engine refused, or the instruction is longer than an argument may be.
        AgentSetupTimeoutError: It took longer than its limit; it is one copy, which cannot be broken off before.
    """
    began = time.monotonic()
    adapter, task = trial.arm.configuration.adapter, trial.task
    if not adapter.spec.command:
        return
    if adapter.spec.instruction == "arg" and len(task.instruction.encode()) > _ARGUMENT_CAP_BYTES:
        raise AgentSetupError("the instruction has 128 KiB or more and this harness takes it as an argument")
    try:
        with reading():
            entries = _entries(adapter, task)
        environment.put(entries)
    except RefusedError as problem:
        raise AgentSetupError(f"the harness could not be copied in: {problem}") from problem
    took_s, limit_s = time.monotonic() - began, trial.limits.setup_timeout_s
    if took_s > limit_s:
        raise AgentSetupTimeoutError(f"copying the harness in took {took_s:.1f} s, and its limit is {limit_s:g} s")


def _entries(adapter: Adapter, task: Task) -> list[archive.Entry]:
    entries = [archive.entry_of(adapter.folder / path, f"{HARNESS_FOLDER}/{path}") for path in files(adapter.folder)]
    entries.append(archive.file(INSTRUCTION_FILE, task.instruction.encode()))
    if adapter.spec.sees_solution and task.solution is not None:
        entries += archive.tree(task.solution, "/solution", unix_scripts=True)
    if adapter.spec.sees_tests:
        entries += archive.tree(task.tests, "/tests", unix_scripts=True)
    return entries


def run(trial: TrialPlan, environment: Environment, folder: Path) -> AgentEnding:
    """Let the harness work until it ends or its limit is reached."""
    adapter = trial.arm.configuration.adapter
    if not adapter.spec.command:
        return AgentEnding(exit_code=None, exception=None, stop_reason="agent_done")
    with OutputFile(folder / "agent" / "stdout.txt") as output:
        try:
            ended = environment.run(_command(trial, adapter, environment, output))
        except GoneError as problem:
            return _container_gone(environment, problem)
        except RefusedError as problem:
            raise AgentSetupError(f"the harness could not be started: {problem}") from problem
        flags = ("agent_output_truncated",) if output.dropped_bytes else ()
        return _judged(ended, trial, output.tail(), flags)


def _command(trial: TrialPlan, adapter: Adapter, environment: Environment, output: OutputFile) -> Command:
    task, spec, limit = trial.task, adapter.spec, trial.limits.agent_timeout_s
    options = {f"HBENCH_OPTION_{key.upper()}": str(value) for key, value in trial.arm.configuration.options.items()}
    passed = environment.bench.passed_env
    env = {
        **spec.env,
        **options,
        **_all(template.resolve(task.agent.env, passed=passed)),
        **(_all(template.resolve(task.solution_env, passed=passed)) if spec.sees_solution else {}),
        "HBENCH_INSTRUCTION": INSTRUCTION_FILE,
        "HBENCH_TIMEOUT_SEC": f"{limit:g}",
        "HBENCH_DEADLINE": f"{time.time() + limit:.0f}",
    }
    argv = [
        task.instruction if part == "{instruction}" and spec.instruction == "arg" else part for part in spec.command
    ]
    return Command(
        argv=argv,
        env=env,
        user=None if task.agent.user is None else str(task.agent.user),
        workdir=environment.workdir,
        timeout_s=limit,
        stop_signal=spec.stop_signal,
        stop_grace_s=spec.stop_grace_s,
        output=output,
        stdin=task.instruction.encode() if spec.instruction == "stdin" else None,
    )


def _all(resolved: template.Resolved) -> dict[str, str]:
    return {**resolved.literal, **resolved.secret}


def _judged(ended: Finished, trial: TrialPlan, tail: str, flags: tuple[str, ...]) -> AgentEnding:
    if ended.timed_out:
        said = f"stopped at its limit of {trial.limits.agent_timeout_s:g} s"
        exception = ExceptionInfo(exception_type="AgentTimeoutError", exception_message=said)
        return AgentEnding(exit_code=ended.exit_code, exception=exception, stop_reason="timeout", flags=flags)
    if ended.exit_code != 0:
        said = f"exit status {ended.exit_code}\n{tail}".rstrip()
        exception = ExceptionInfo(exception_type="NonZeroAgentExitCodeError", exception_message=said)
        return AgentEnding(exit_code=ended.exit_code, exception=exception, stop_reason="error", flags=flags)
    return AgentEnding(exit_code=0, exception=None, stop_reason="agent_done", flags=flags)


def _container_gone(environment: Environment, problem: GoneError) -> AgentEnding:
    why = environment.bench.engine.why_stopped(environment.container)
    if why is None:
        raise EngineFailure(f"the harness was lost from sight: {problem}") from problem
    exception = ExceptionInfo(exception_type="NonZeroAgentExitCodeError", exception_message=why)
    return AgentEnding(exit_code=None, exception=exception, stop_reason="error", flags=("container_stopped",))
