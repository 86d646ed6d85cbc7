"""One trial, phase by phase, and the record of whatever came of it."""

import contextlib
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hbench.container.errors import Cancelled, RefusedError
from hbench.errors import EngineError, TaskError
from hbench.plan.model import TrialPlan
from hbench.results import traces
from hbench.results.moment import now
from hbench.results.record import (
    TRIAL_FORMAT,
    AgentInfo,
    AgentResult,
    ExceptionInfo,
    ModelInfo,
    TrialRecord,
    VerifierResult,
)
from hbench.task import template
from hbench.text import safe
from hbench.trial import agent, collect, environment
from hbench.trial import verify as verifier
from hbench.trial.bench import Bench, Prepared
from hbench.trial.clock import Phases
from hbench.trial.ending import (
    AgentSetupError,
    CancelledError,
    EngineFailure,
    EnvironmentBuildError,
    TrialEnding,
)

_LOG_WIDTH = 1000


@dataclass
class _Course:
    """What is known of a trial so far; kept up to date so that any ending can be recorded."""

    started_at: str = field(default_factory=now)
    phases: Phases = field(default_factory=Phases)
    flags: set[str] = field(default_factory=set)
    agent_ending: agent.AgentEnding | None = None
    agent_begun: bool = False
    rewards: Mapping[str, float] | None = None


def run_trial(
    trial: TrialPlan,
    prepared: Prepared,
    bench: Bench,
    folder: Path,
    *,
    starts: int = 1,
    on_begun: Callable[[], None] = lambda: None,
) -> TrialRecord:
    """Run one trial to its recorded ending; its files stream into `folder`.

    Args:
        starts: How often the trial was started, this one included.
        on_begun: Called when the agent begins.

    Whatever goes wrong with task, agent, tests or engine is an ending in the record; only hbench's own mistakes raise.
    """
    course = _Course()
    ending: TrialEnding | None = None
    try:
        _phases(trial, prepared, bench, folder, course, on_begun)
    except TrialEnding as problem:
        ending = problem
    except TaskError as problem:
        ending = AgentSetupError(problem.without_place)
    except (RefusedError, EngineError) as problem:
        ending = EngineFailure(problem.without_place)
    except Cancelled:
        ending = CancelledError("the run was stopped by a person")
    needles = traces.gather(folder.absolute().parents[1:3])
    record = _record(trial, course, ending, starts, needles)
    _write_log(folder / "trial.log", course, record)
    return record


def _phases(
    trial: TrialPlan,
    prepared: Prepared,
    bench: Bench,
    folder: Path,
    course: _Course,
    on_begun: Callable[[], None],
) -> None:
    if prepared.image is None:
        raise EnvironmentBuildError(prepared.problem or "the task has no image")
    _check_variables(trial, bench)
    timed = course.phases.timed
    with contextlib.ExitStack() as stack:
        with timed("environment_setup"):
            place = stack.enter_context(environment.started(trial, prepared.image, bench))
        if place.inside.hidden:
            course.flags.add("hidden_paths_removed")
        with timed("agent_setup"):
            agent.set_up(trial, place)
        course.agent_begun = True
        on_begun()
        with timed("agent_execution"):
            try:
                course.agent_ending = agent.run(trial, place, folder)
            except AgentSetupError:
                course.agent_begun = False  # it was refused before a process of its own was there
                raise
        course.flags.update(course.agent_ending.flags)
        with timed("collect"):
            course.flags.update(collect.collect(trial.task, place, folder))
        with timed("verifier"):
            course.rewards = verifier.verify(trial, place, folder, course.flags)


def _check_variables(trial: TrialPlan, bench: Bench) -> None:
    """Fail for want of a variable before the agent works, not when the tests need it."""
    sees_solution = trial.arm.configuration.adapter.spec.sees_solution
    for env in trial.task.variables(sees_solution=sees_solution):
        template.resolve(env, passed=bench.passed_env)


def _record(
    trial: TrialPlan, course: _Course, ending: TrialEnding | None, starts: int, needles: traces.Needles
) -> TrialRecord:
    spec = trial.arm.configuration.adapter.spec
    ended, model = course.agent_ending, trial.arm.model
    phase = course.phases.get
    return TrialRecord(
        format=TRIAL_FORMAT,
        id=str(uuid.uuid4()),
        trial_id=trial.id,
        task_name=trial.task.name,
        trial_name=trial.folder,
        task_checksum=trial.task.digests.dirhash,
        attempt=trial.attempt,
        agent_info=AgentInfo(
            name=trial.arm.configuration.adapter.name,
            version=spec.version,
            model_info=None if model is None else ModelInfo(name=model.name, provider=model.provider),
        ),
        agent_result=None if ended is None else AgentResult(exit_code=ended.exit_code),
        verifier_result=None if course.rewards is None else VerifierResult(rewards=dict(course.rewards)),
        exception_info=_exception(course, ending, needles),
        started_at=course.started_at,
        finished_at=now(),
        environment_setup=phase("environment_setup"),
        agent_setup=phase("agent_setup"),
        agent_execution=phase("agent_execution"),
        verifier=phase("verifier"),
        collect=phase("collect"),
        network={"mode": "open"},
        stop_reason="unknown" if ended is None else ended.stop_reason,
        agent_begun=course.agent_begun,
        starts=starts,
        flags=sorted(_flags(course, ending)),
    )


def _exception(course: _Course, ending: TrialEnding | None, needles: traces.Needles) -> ExceptionInfo | None:
    """What denied the reward, if anything did; else how the agent ended. Nothing in it tells whose machine this is."""
    agents = None if course.agent_ending is None else course.agent_ending.exception
    if ending is not None:
        kind, said = ending.exception_type, str(ending)
    elif agents is not None:
        kind, said = agents.exception_type, agents.exception_message
    else:
        return None
    return ExceptionInfo(exception_type=kind, exception_message=traces.without_traces(said, needles)[:4000])


def _flags(course: _Course, ending: TrialEnding | None) -> set[str]:
    """An agent's ending that the record has no room for stands as a flag."""
    hidden = {"AgentTimeoutError": "agent_timed_out", "NonZeroAgentExitCodeError": "agent_exit_nonzero"}
    agents = None if course.agent_ending is None else course.agent_ending.exception
    if ending is None or agents is None:
        return course.flags
    return course.flags | {hidden[agents.exception_type]}


def _write_log(path: Path, course: _Course, record: TrialRecord) -> None:
    lines = [f"{record.started_at} started"]
    for name, duration_s in course.phases.durations().items():
        lines.append(f"  {name}: {duration_s:.3f} s")
    if record.exception_info is not None:
        said = f"{record.exception_type}: {record.exception_info.exception_message}"  # holds what the agent printed
        lines += [f"  {safe(line, _LOG_WIDTH)}" for line in said.splitlines()]
    lines.append(f"{record.finished_at} ended, reward {record.reward}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
