"""What a job folder says, read file by file; what cannot be read is a fault, never an exception."""

from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from hbench.errors import SealError
from hbench.results import journal
from hbench.results.fault import Fault
from hbench.results.files import as_model, load_json
from hbench.results.lock import JobLock, TrialLock
from hbench.results.record import TrialRecord
from hbench.results.tree import JOURNAL, LOCK, RESULT, Tree
from hbench.text import escaped

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, kw_only=True)
class Contents:
    """A job folder's own words; None, or no entry, where a file is missing or not valid.

    Attributes:
        trial_locks, records: By trial folder, of planned trials only.
        result: result.json as plain values.
        faults: Why something is missing above.
    """

    lock: JobLock | None
    trial_locks: dict[str, TrialLock]
    records: dict[str, TrialRecord]
    result: Any
    events: list[journal.Event] | None
    faults: list[Fault]


def read_contents(tree: Tree) -> Contents:
    """Everything that the figures rest on."""
    faults: list[Fault] = []
    lock = _model(tree, LOCK, JobLock, faults)
    folders = [] if lock is None else [trial.folder for trial in lock.trials]
    trial_locks, records = {}, {}
    for folder in folders:
        if (trial_lock := _model(tree, f"{folder}/{LOCK}", TrialLock, faults)) is not None:
            trial_locks[folder] = trial_lock
        if (record := _model(tree, f"{folder}/{RESULT}", TrialRecord, faults)) is not None:
            records[folder] = record
    return Contents(
        lock=lock,
        trial_locks=trial_locks,
        records=records,
        result=_value(tree, RESULT, faults),
        events=_events(tree, faults),
        faults=faults,
    )


def _value(tree: Tree, path: str, faults: list[Fault]) -> Any:
    if path not in tree.kept:
        if path not in tree.files:
            faults.append(Fault(escaped(path), "is missing"))
        return None
    try:
        return load_json(tree.kept[path], where=path)
    except SealError as problem:
        faults.append(Fault(escaped(path), problem.what))
        return None


def _model(tree: Tree, path: str, model: type[M], faults: list[Fault]) -> M | None:
    value = _value(tree, path, faults)
    if value is None:
        return None
    try:
        return as_model(value, model, where=path)
    except SealError as problem:
        faults.append(Fault(escaped(path), problem.what))
        return None


def _events(tree: Tree, faults: list[Fault]) -> list[journal.Event] | None:
    if JOURNAL not in tree.kept:
        if JOURNAL not in tree.files:
            faults.append(Fault(JOURNAL, "is missing"))
        return None
    try:
        return journal.parse(tree.kept[JOURNAL], where=JOURNAL)
    except SealError as problem:
        line = str(problem.where).rpartition(":")[2]
        faults.append(Fault(JOURNAL, f"line {line}: {problem.what}"))
        return None
