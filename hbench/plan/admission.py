"""`hbench validate` as a plan: every task with oracle, nop, the lazy baselines, and its own `baselines/*.sh`."""

import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import tomli_w

from hbench.adapter import find
from hbench.adapter.model import Adapter, Configuration
from hbench.errors import AdapterError, TaskError
from hbench.plan.arms import arms, configurations
from hbench.plan.build import expand
from hbench.plan.model import Arm, Plan
from hbench.suite.load import LoadedSuite, parse_suite
from hbench.suite.model import OWN_DATASET, DatasetTable
from hbench.task.baseline import baseline_reward
from hbench.task.dataset import Selection, digest_of, folders_in, reason_of, root_of
from hbench.task.lint import Lint, lint
from hbench.task.load import load_task
from hbench.task.model import Task

NAME = "validate"
ORACLE, NOP = "oracle", "nop"


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A task up for admission.

    Attributes:
        task: None for one that is not valid; `fault` then says why, with file and line.
        baselines: The task's own lazy baselines, as harnesses.
        baseline_reward: What a trial without any work may earn.
    """

    name: str
    folder: Path
    task: Task | None
    fault: str | None = None
    baselines: tuple[Adapter, ...] = ()
    baseline_reward: float = 0.0
    lint: Lint = field(default_factory=Lint)


@dataclass(frozen=True, kw_only=True)
class Admission:
    """What is asked for, and the trials that answer it; no plan where no task can run."""

    candidates: tuple[Candidate, ...]
    plan: Plan | None


def admission(paths: Sequence[Path], *, concurrency: int, agent_timeout_multiplier: float) -> Admission:
    """The trials that show whether these tasks judge as they should. A broken task does not keep the others from it.

    Args:
        paths: Folders of a task or of tasks; none stands for hbench's own tasks.

    Raises:
        SuiteError: A folder is not there, or a number is out of its range.
        NothingToRunError: A folder holds no task.
        TaskError: Two tasks have the same name.
    """
    tables = [DatasetTable(path=str(path)) for path in paths] or [DatasetTable(name=OWN_DATASET)]
    roots = [root_of(table, Path()) for table in tables]
    folders = _folders(root for _, root in roots)
    candidates = tuple(_candidate(name, folder) for name, folder in folders.items())
    document = {
        "suite": {"name": NAME, "concurrency": concurrency},
        "dataset": _dataset(tables, folders),
        "limits": {"agent_timeout_multiplier": agent_timeout_multiplier},
        "network": {"mode": "open"},  # the suite adds no limit of its own: each task's network is as the task says
        "harness": [{"name": name} for name in _harnesses()],
    }
    suite = parse_suite(tomli_w.dumps(document), base=Path(), name=NAME, is_file=False).checked()
    dataset_name = roots[0][0] if len(roots) == 1 else NAME
    return Admission(candidates=candidates, plan=_plan(suite, candidates, dataset_name))


def _harnesses() -> list[str]:
    return [ORACLE, NOP, *(name for name in find.built_in_names() if name.startswith("lazy-"))]


def _folders(roots: Iterable[Path]) -> dict[str, Path]:
    """Task name -> folder, sorted by name; a folder that is named twice counts once."""
    found: dict[str, Path] = {}
    for root in roots:
        for name, folder in folders_in(root.resolve()).items():
            if found.setdefault(name, folder) != folder:
                hint = "Validate the two one after the other, or change [task] name in one of them."
                raise TaskError(f'"{name}" is also the name of the task in {found[name]}', where=folder, hint=hint)
    return dict(sorted(found.items()))


def _candidate(name: str, folder: Path) -> Candidate:
    try:
        task = load_task(folder)
        own = tuple(find.baseline(script) for script in task.baselines)
        return Candidate(
            name=name,
            folder=folder,
            task=task,
            baselines=own,
            baseline_reward=baseline_reward(task),
            lint=lint(task),
        )
    except (TaskError, AdapterError) as fault:
        reason = reason_of(fault, folder)
        said = reason if fault.hint is None else f"{reason}. {fault.hint}"
        return Candidate(name=name, folder=folder, task=None, fault=said)


def _dataset(tables: Sequence[DatasetTable], folders: Mapping[str, Path]) -> dict[str, object]:
    """`[dataset]` of the suite: what was asked for or, of several, the folder they lie in and which of its tasks."""
    if len(tables) == 1:
        return tables[0].model_dump(exclude_defaults=True)
    common = os.path.commonpath([folder.parent for folder in folders.values()])
    return {"path": os.path.relpath(common), "include": [glob.escape(name) for name in folders]}


def _plan(suite: LoadedSuite, candidates: Sequence[Candidate], dataset_name: str) -> Plan | None:
    tasks = tuple(candidate.task for candidate in candidates if candidate.task is not None)
    if not tasks:
        return None
    own = {candidate.name: {adapter.name for adapter in candidate.baselines} for candidate in candidates}
    foreign = {adapter.name: adapter for candidate in candidates for adapter in candidate.baselines}

    def runs_on(arm: Arm, task: Task) -> bool:
        adapter = arm.configuration.adapter
        if not adapter.built_in:
            return adapter.name in own[task.name]
        return task.solution is not None or not adapter.spec.sees_solution

    asked = [*configurations(suite), *(Configuration(adapter=adapter) for adapter in foreign.values())]
    selection = Selection(
        name=dataset_name,
        tasks=tasks,
        skipped={candidate.name: candidate.fault for candidate in candidates if candidate.fault is not None},
        digest=digest_of(tasks),
    )
    return expand(suite, arms(suite, asked), selection, runs_on=runs_on)
