"""`[dataset]` -> the tasks that it selects."""

import hashlib
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path

from hbench.errors import HbenchError, NothingToRunError, SuiteError, TaskError
from hbench.shipped import shipped
from hbench.suite.model import DatasetTable
from hbench.task.load import load_task, task_name
from hbench.task.model import Task
from hbench.tomlfile import nearest

CATALOG: Mapping[str, tuple[str, ...]] = {"hbench-core@1": ("tasks",)}
"""name@version -> where `shipped` finds the folder of its tasks."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The tasks of a run.

    Attributes:
        name: What people call the dataset: its name in the catalog, else its folder's.
        tasks: Sorted by name.
        skipped: Invalid tasks that were left out: name -> reason, without host paths.
        digest: sha256 hex over the lines `name NUL hbench-digest NEWLINE` of `tasks`.
    """

    name: str
    tasks: tuple[Task, ...]
    skipped: Mapping[str, str]
    digest: str


def select(dataset: DatasetTable, *, seed: int, base: Path, skip_invalid: bool) -> Selection:
    """Load the tasks that `dataset` names.

    Args:
        dataset: `[dataset]` of a suite.
        seed: Decides which tasks `sample` draws; the same names and seed give the same tasks.
        base: What a relative `path` is relative to: the suite file's folder.
        skip_invalid: Leave invalid tasks out instead of raising.

    Raises:
        SuiteError: The dataset is unknown, a pattern matches no task, or `sample` is larger than what there is.
        NothingToRunError: No task is left.
        TaskError: Tasks are not valid (all are named), or two have the same name.
    """
    name, root = root_of(dataset, base)
    folders = folders_in(root)
    chosen = _chosen(dataset, folders)
    tasks, faults = _load({task: folders[task] for task in chosen})
    if faults and not skip_invalid:
        raise _all_faults(faults, len(chosen))
    if not tasks:
        what = f"none of the {len(chosen)} selected tasks can run:{_listed(faults)}"
        raise NothingToRunError(what, where=root, hint="Correct them or select others.")
    tasks = _sampled(tasks, dataset.sample, seed)[: dataset.first]
    return Selection(
        name=name,
        tasks=tuple(tasks),
        skipped={task: reason_of(fault, folders[task]) for task, fault in faults.items()},
        digest=digest_of(tasks),
    )


def root_of(dataset: DatasetTable, base: Path) -> tuple[str, Path]:
    """The dataset's name for people, and its folder.

    Raises:
        SuiteError: No dataset has that name, or the folder is not there.
    """
    if dataset.path is not None:
        root = base / dataset.path
        if not root.is_dir():
            hint = "Give the folder that holds the task folders, or one task folder."
            raise SuiteError("no such folder", where=root, hint=hint)
        return root.resolve().name, root
    name = dataset.name or ""
    if name not in CATALOG:
        raise SuiteError(f'no dataset is named "{name}"', where="[dataset] name", hint=nearest(name, list(CATALOG)))
    return name, shipped(*CATALOG[name])


def folders_in(root: Path) -> dict[str, Path]:
    """Task name -> its folder, sorted by name; `root` is a task itself or holds tasks.

    Raises:
        NothingToRunError: There is no task.
        TaskError: Two tasks have the same name.
    """
    try:
        folders = [root] if _is_task(root) else sorted(path for path in root.iterdir() if _is_task(path))
    except OSError as problem:
        where = problem.filename or root
        raise SuiteError(f"cannot be read: {problem.strerror}", where=where, hint="Make it readable.") from problem
    named: dict[str, Path] = {}
    for folder in folders:
        name = task_name(folder)
        if name in named:
            hint = "Change [task] name in one of the two task.toml."
            raise TaskError(f'"{name}" is also the name of the task in {named[name]}', where=folder, hint=hint)
        named[name] = folder
    if not named:
        raise NothingToRunError("no task here", where=root, hint="A task's folder holds task.toml and instruction.md.")
    return dict(sorted(named.items()))


def _is_task(folder: Path) -> bool:
    return folder.is_dir() and any((folder / file).exists() for file in ("task.toml", "instruction.md"))


def _chosen(dataset: DatasetTable, names: Iterable[str]) -> list[str]:
    included = _matching(dataset.include, names, "include")
    chosen = sorted(included - _matching(dataset.exclude, names, "exclude"))
    if not chosen:
        raise NothingToRunError("include and exclude leave no task", where="[dataset]", hint="Widen include.")
    return chosen


def _matching(patterns: Iterable[str], names: Iterable[str], key: str) -> set[str]:
    """The names that any pattern matches, as a whole or by the part after the last slash."""
    found: set[str] = set()
    for pattern in patterns:
        hits = {n for n in names if fnmatchcase(n, pattern) or fnmatchcase(n.rpartition("/")[2], pattern)}
        if not hits:
            like = get_close_matches(pattern, list(names), n=5, cutoff=0.4) or sorted(names)[:5]
            hint = f"There are tasks such as {', '.join(like)}."
            raise SuiteError(f'"{pattern}" matches no task', where=f"[dataset] {key}", hint=hint)
        found |= hits
    return found


def _load(folders: Mapping[str, Path]) -> tuple[list[Task], dict[str, TaskError]]:
    tasks, faults = [], {}
    for name, folder in folders.items():
        try:
            tasks.append(load_task(folder))
        except TaskError as fault:
            faults[name] = fault
    return tasks, faults


def _all_faults(faults: Mapping[str, TaskError], of: int) -> TaskError:
    first = next(iter(faults.values()))
    what = f"{len(faults)} of {of} tasks cannot run:{_listed(faults)}"
    return TaskError(what, where=first.where, hint="Correct them, or leave them out with --skip-invalid.")


def _listed(faults: Mapping[str, TaskError]) -> str:
    return "".join(f"\n  {fault.where}: {fault.what}" for fault in faults.values())


def reason_of(fault: HbenchError, folder: Path) -> str:
    """The fault with its file relative to the task: it is written into files that name no place of this machine."""
    inside = f"{folder}/"
    where = fault.where or ""
    return f"{where.removeprefix(inside)}: {fault.what}" if where.startswith(inside) else fault.what


def _sampled(tasks: list[Task], size: int | None, seed: int) -> list[Task]:
    if size is None:
        return tasks
    if size > len(tasks):
        what = f"{size} is more than the {len(tasks)} tasks there are"
        raise SuiteError(what, where="[dataset] sample", hint="Lower sample or widen include.")
    drawn = random.Random(seed).sample(range(len(tasks)), size)  # noqa: S311 - a draw to repeat, not a secret
    return [tasks[index] for index in sorted(drawn)]


def digest_of(tasks: Iterable[Task]) -> str:
    """sha256 hex over the lines `name NUL hbench-digest NEWLINE` of `tasks`."""
    return hashlib.sha256("".join(f"{t.name}\0{t.digests.hbench}\n" for t in tasks).encode()).hexdigest()
