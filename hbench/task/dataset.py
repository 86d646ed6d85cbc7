"""`[dataset]` -> the tasks that it selects."""

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from hbench.tomllines import Location

CATALOG: Mapping[str, tuple[str, ...]] = {"hbench-core@1": ("tasks",)}
"""name@version -> where `shipped` finds the folder of its tasks."""

Place = Callable[[Location], str | None]
"""Says where a key of the suite stands, such as `nightly.toml:4`; None where there is no suite file."""


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


def _nowhere(_: Location) -> None:
    """The place of every key where no suite is known."""


def select(dataset: DatasetTable, *, seed: int, base: Path, skip_invalid: bool, place: Place = _nowhere) -> Selection:
    """Load the tasks that `dataset` names.

    Args:
        dataset: `[dataset]` of a suite.
        seed: Decides which tasks `sample` draws; the same names and seed give the same tasks.
        base: What a relative `path` is relative to: the suite file's folder.
        skip_invalid: Leave invalid tasks out instead of raising.
        place: What errors about a key of `dataset` are said to be at.

    Raises:
        SuiteError: The dataset is unknown, a pattern matches no task, or `sample` is larger than what there is.
        NothingToRunError: No task is left.
        TaskError: Tasks are not valid, or two have the same name; all are named.
    """
    name, root = root_of(dataset, base, place)
    folders, twice = _named(root)
    chosen = _chosen(dataset, folders, place)
    tasks, faults = _load({task: folders[task] for task in chosen})
    if twice or (faults and not skip_invalid):
        hint = "Correct them." if twice else "Correct them, or leave them out with --skip-invalid."
        raise _all_faults([*twice, *faults.values()], len(chosen) + len(twice), root, hint=hint)
    if not tasks:
        what = f"none of the {len(chosen)} selected tasks can run:{_listed(faults.values())}"
        raise NothingToRunError(what, where=root, hint="Correct them or select others.")
    tasks = _sampled(tasks, dataset.sample, seed, place)[: dataset.first]
    return Selection(
        name=name,
        tasks=tuple(tasks),
        skipped={task: reason_of(fault, folders[task]) for task, fault in faults.items()},
        digest=digest_of(tasks),
    )


def root_of(dataset: DatasetTable, base: Path, place: Place = _nowhere) -> tuple[str, Path]:
    """The dataset's name for people, and its folder.

    Raises:
        SuiteError: No dataset has that name, or the folder is not there.
    """
    if dataset.path is not None:
        root = base / dataset.path
        if not root.is_dir():
            hint = "Give the folder that holds the task folders, or one task folder."
            raise SuiteError(f"no such folder: {root}", where=place(("dataset", "path")), hint=hint)
        return root.resolve().name, root
    name = dataset.name or ""
    if name not in CATALOG:
        where = place(("dataset", "name"))
        raise SuiteError(f'no dataset is named "{name}"', where=where, hint=nearest(name, list(CATALOG)))
    return name, shipped(*CATALOG[name])


def folders_in(root: Path) -> dict[str, Path]:
    """Task name -> its folder, sorted by name; `root` is a task itself or holds tasks.

    Raises:
        NothingToRunError: There is no task.
        TaskError: Some tasks have the same name.
    """
    named, twice = _named(root)
    if twice:
        raise _all_faults(twice, len(named) + len(twice), root, hint="Correct them.")
    return named


def _named(root: Path) -> tuple[dict[str, Path], list[TaskError]]:
    """Task name -> its folder, sorted by name, and a fault for each further task of a name."""
    try:
        folders = [root] if _is_task(root) else sorted(path for path in root.iterdir() if _is_task(path))
    except OSError as problem:
        where = problem.filename or root
        raise SuiteError(f"cannot be read: {problem.strerror}", where=where, hint="Make it readable.") from problem
    named: dict[str, Path] = {}
    twice: list[TaskError] = []
    for folder in folders:
        name = task_name(folder)
        if name in named:
            hint = "Change [task] name in one of the two task.toml."
            what = f'"{name}" is also the name of the task in {named[name]}'
            twice.append(TaskError(what, where=folder, hint=hint))
        named.setdefault(name, folder)
    if not named:
        raise NothingToRunError("no task here", where=root, hint="A task's folder holds task.toml and instruction.md.")
    return dict(sorted(named.items())), twice


def _is_task(folder: Path) -> bool:
    return folder.is_dir() and any((folder / file).exists() for file in ("task.toml", "instruction.md"))


def _chosen(dataset: DatasetTable, names: Iterable[str], place: Place) -> list[str]:
    included = _matching(dataset.include, names, "include", place)
    chosen = sorted(included - _matching(dataset.exclude, names, "exclude", place))
    if not chosen:
        where = place(("dataset",))
        raise NothingToRunError("include and exclude leave no task", where=where, hint="Widen include.")
    return chosen


def _matching(patterns: Iterable[str], names: Iterable[str], key: str, place: Place) -> set[str]:
    """The names that any pattern matches, as a whole or by the part after the last slash."""
    found: set[str] = set()
    for index, pattern in enumerate(patterns):
        hits = {n for n in names if fnmatchcase(n, pattern) or fnmatchcase(n.rpartition("/")[2], pattern)}
        if not hits:
            like = get_close_matches(pattern, list(names), n=5, cutoff=0.4) or sorted(names)[:5]
            hint = f"There are tasks such as {', '.join(like)}."
            where = place(("dataset", key, index))
            raise SuiteError(f'{key}: "{pattern}" matches no task', where=where, hint=hint)
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


def _all_faults(faults: Sequence[TaskError], of: int, root: Path, *, hint: str) -> TaskError:
    what = f"{len(faults)} of {of} tasks cannot run:{_listed(faults)}"
    return TaskError(what, where=root, hint=hint)


def _listed(faults: Iterable[TaskError]) -> str:
    return "".join(f"\n  {fault.where}: {fault.what}" for fault in faults)


def reason_of(fault: HbenchError, folder: Path) -> str:
    """The fault with its file relative to the task: it is written into files that name no place of this machine."""
    inside = f"{folder}/"
    where = fault.where or ""
    return f"{where.removeprefix(inside)}: {fault.what}" if where.startswith(inside) else fault.what


def _sampled(tasks: list[Task], size: int | None, seed: int, place: Place) -> list[Task]:
    if size is None:
        return tasks
    if size > len(tasks):
        what = f"sample: {size} is more than the {len(tasks)} tasks there are"
        raise SuiteError(what, where=place(("dataset", "sample")), hint="Lower sample or widen include.")
    drawn = random.Random(seed).sample(range(len(tasks)), size)  # noqa: S311 - a draw to repeat, not a secret
    return [tasks[index] for index in sorted(drawn)]


def digest_of(tasks: Iterable[Task]) -> str:
    """sha256 hex over the lines `name NUL hbench-digest NEWLINE` of `tasks`."""
    return hashlib.sha256("".join(f"{t.name}\0{t.digests.hbench}\n" for t in tasks).encode()).hexdigest()
