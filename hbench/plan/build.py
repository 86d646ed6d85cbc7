"""Suite to Plan: every trial, in order. Reads task and adapter folders, and touches no Docker."""

import hashlib
from collections.abc import Callable, Iterator, Sequence

from hbench.errors import NothingToRunError, TaskError
from hbench.plan.arms import arms, configurations
from hbench.plan.limits import limits_of
from hbench.plan.model import Arm, JobPlan, Plan, TrialPlan
from hbench.plan.names import slugs
from hbench.plan.order import shuffled
from hbench.suite.load import LoadedSuite
from hbench.suite.model import Suite
from hbench.suite.supported import MODEL_LIMITS, unsupported
from hbench.task import dataset, template
from hbench.task.model import Task


def build_plan(loaded: LoadedSuite, *, skip_invalid: bool) -> Plan:
    """The suite expanded; the same input gives the same plan, on every machine.

    Args:
        skip_invalid: Leave invalid tasks out, and say so in the plan, where they are an error otherwise.

    Raises:
        SuiteError: The suite asks for something that cannot be, or that hbench cannot do yet.
        AdapterError: No such harness, or its folder cannot be used.
        TaskError: A task is not valid.
        NothingToRunError: The selection leaves no task.
    """
    asked = configurations(loaded)
    for refusal in unsupported(loaded.suite, [configuration.adapter for configuration in asked]):
        raise loaded.error(refusal)
    planned = arms(loaded, asked)
    seed = loaded.suite.suite.seed
    selection = dataset.select(
        loaded.suite.dataset, seed=seed, base=loaded.base, skip_invalid=skip_invalid, place=loaded.where
    )
    sees_solution = any(arm.configuration.adapter.spec.sees_solution for arm in planned)
    _check_variables(loaded.suite, selection.tasks, sees_solution=sees_solution)
    return expand(loaded, planned, selection)


def _check_variables(suite: Suite, tasks: Sequence[Task], *, sees_solution: bool) -> None:
    """Every host variable that a trial cannot do without is one that the suite passes."""
    passed = dict.fromkeys(suite.env.pass_, "")
    for task in tasks:
        for env in task.variables(sees_solution=sees_solution):
            try:
                template.resolve(env, passed=passed)
            except TaskError as problem:
                raise TaskError(problem.what, where=task.folder / "task.toml", hint=problem.hint) from problem


def expand(
    loaded: LoadedSuite,
    planned: Sequence[Arm],
    selection: dataset.Selection,
    *,
    runs_on: Callable[[Arm, Task], bool] = lambda _arm, _task: True,
) -> Plan:
    """Arms times tasks times attempts; reads no file.

    Args:
        runs_on: Whether the arm's job has the task; an arm that has none gets no job.
    """
    suite = loaded.suite
    trials = tuple(trial for trial in _trials(suite, selection.tasks, planned) if runs_on(trial.arm, trial.task))
    if not trials:
        raise NothingToRunError("the selection leaves no task", where=selection.name, hint="Widen it.")
    return Plan(
        suite=suite,
        suite_text=loaded.text,
        suite_digest=hashlib.sha256(loaded.text.encode()).hexdigest(),
        jobs=tuple(job for job in (_job(arm, trials) for arm in planned) if job.trials),
        trials=trials,
        dataset_name=selection.name,
        dataset_digest=selection.digest,
        skipped=selection.skipped,
        notes=tuple(_notes(suite, planned, selection)),
    )


def _job(arm: Arm, trials: Sequence[TrialPlan]) -> JobPlan:
    return JobPlan(arm=arm, trials=tuple(trial for trial in trials if trial.arm is arm))


def _trials(suite: Suite, tasks: Sequence[Task], planned: Sequence[Arm]) -> Iterator[TrialPlan]:
    """Attempt, then task, then arm: whatever changes with time of day meets every arm alike."""
    folders = _folders(tasks)
    limits = {task.name: limits_of(task, suite.limits) for task in tasks}
    seed = suite.suite.seed
    for attempt in range(1, suite.suite.attempts + 1):
        for task in shuffled(tasks, lambda task: task.name, seed, attempt):
            for arm in shuffled(planned, lambda arm: arm.digest, seed, attempt, task.name):
                yield TrialPlan(
                    id=f"{task.name}/{arm.label}/{attempt}",
                    folder=f"{folders[task.name]}__{attempt}",
                    arm=arm,
                    task=task,
                    attempt=attempt,
                    limits=limits[task.name],
                )


def _folders(tasks: Sequence[Task]) -> dict[str, str]:
    try:
        return slugs(task.name for task in tasks)
    except ValueError as problem:
        raise TaskError(f"task names collide: {problem}", hint="Rename one of the two tasks.") from problem


def _notes(suite: Suite, planned: Sequence[Arm], selection: dataset.Selection) -> Iterator[str]:
    if not any(arm.model for arm in planned):
        for model in suite.model:
            yield f"the model {model.name} is not used: no harness of the suite calls one"
        for limit in MODEL_LIMITS:
            if getattr(suite.limits, limit) is not None:
                yield f"{limit} has nothing to limit: no harness of the suite calls a model"
    for name, reason in sorted(selection.skipped.items()):
        yield f"left out {name}: {reason}"
    for task in sorted(selection.tasks, key=lambda task: task.name):
        yield from (f"{task.name}: {warning}" for warning in task.warnings)
