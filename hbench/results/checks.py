"""What must follow from what: trials from the lock, rewards from the verifier's files, totals from the trials.

Pure: a job folder's tree and contents in, faults out. Sealing and verifying ask the same questions.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from hbench.results.contents import Contents
from hbench.results.difference import ABSENT, differences
from hbench.results.fault import Fault
from hbench.results.job import job_result
from hbench.results.journal import Event
from hbench.results.lock import JobLock, PlannedTrial, TaskLock, TrialLock
from hbench.results.record import TrialRecord
from hbench.results.reward import EMPTY, NOT_FOUND, UNPARSABLE, RewardProblem, parse_reward
from hbench.results.tree import JOURNAL, LOCK, RESULT, REWARD_JSON, REWARD_TXT, Tree
from hbench.text import escaped


def content_faults(tree: Tree, contents: Contents) -> list[Fault]:
    """Everything in the folder that does not follow."""
    faults = [*contents.faults]
    lock = contents.lock
    if lock is None:
        return faults
    tasks = {task.name: task for task in lock.tasks}
    faults += _foreign_folders(tree, lock)
    faults += _results_twice(contents)
    for trial in lock.trials:
        folder, task = trial.folder, tasks[trial.task]
        trial_lock, record = contents.trial_locks.get(folder), contents.records.get(folder)
        if trial_lock is not None:
            faults += _trial_lock_faults(trial_lock, trial, task, lock)
        if record is not None:
            faults += _record_faults(record, trial, task, lock)
            faults += _reward_faults(record, folder, tree)
    if contents.events is not None:
        faults += _journal_faults(contents.events, lock, contents.records)
    if contents.result is not None and len(contents.records) == len(lock.trials):
        faults += _total_faults(contents.result, lock, contents.records)
    return faults


def _foreign_folders(tree: Tree, lock: JobLock) -> Iterator[Fault]:
    for folder in tree.folders - {trial.folder for trial in lock.trials}:
        yield Fault(escaped(folder), "is not the folder of a planned trial")


def _results_twice(contents: Contents) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for folder, record in contents.records.items():
        first = seen.setdefault(record.id, folder)
        if first != folder:
            yield Fault(f"{escaped(folder)}/{RESULT}", f"id: is the same as that of {escaped(first)}")


def _trial_lock_faults(trial_lock: TrialLock, trial: PlannedTrial, task: TaskLock, lock: JobLock) -> Iterator[Fault]:
    wanted: dict[str, Any] = {
        "job_id": lock.job_id,
        "trial_id": trial.trial_id,
        "folder": trial.folder,
        "task": trial.task,
        "attempt": trial.attempt,
        "task_digest": task.digest,
        "limits": task.limits.model_dump(),
    }
    if task.image is not None:
        wanted["image_id"] = task.image.id
    whole = trial_lock.model_dump()
    given = {key: whole[key] for key in wanted}
    if given != wanted:
        yield from _difference_faults(f"{trial.folder}/{LOCK}", given, wanted, "the job's lock gives")


def _record_faults(record: TrialRecord, trial: PlannedTrial, task: TaskLock, lock: JobLock) -> Iterator[Fault]:
    agent = record.agent_info
    given = {
        "trial_id": record.trial_id,
        "trial_name": record.trial_name,
        "task_name": record.task_name,
        "task_checksum": record.task_checksum,
        "attempt": record.attempt,
        "agent_info.name": agent.name,
        "agent_info.version": agent.version,
        "agent_info.model_info.name": None if agent.model_info is None else agent.model_info.name,
    }
    wanted = {
        "trial_id": trial.trial_id,
        "trial_name": trial.folder,
        "task_name": trial.task,
        "task_checksum": task.checksum,
        "attempt": trial.attempt,
        "agent_info.name": lock.configuration.harness,
        "agent_info.version": lock.configuration.version,
        "agent_info.model_info.name": None if lock.model is None else lock.model.name,
    }
    if given != wanted:
        yield from _difference_faults(f"{trial.folder}/{RESULT}", given, wanted, "the job's lock gives")


def _reward_faults(record: TrialRecord, folder: str, tree: Tree) -> Iterator[Fault]:
    """The reward is what the verifier's files say, or its absence is what they explain.

    Where the verifier ran out of time, was tampered with, or never ran to its end, its files prove nothing.
    """
    result = f"{folder}/{RESULT}"
    try:
        parsed = parse_reward(tree.kept.get(f"{folder}/{REWARD_TXT}"), tree.kept.get(f"{folder}/{REWARD_JSON}"))
    except RewardProblem as problem:
        if record.verifier_result is not None:
            yield Fault(
                escaped(result), f"verifier_result.rewards: the trial's verifier/ gives no reward ({problem.message})"
            )
        elif record.exception_type in {NOT_FOUND, EMPTY, UNPARSABLE} - {problem.exception_type}:
            what = f"says {record.exception_type}, the trial's verifier/ gives {problem.exception_type}"
            yield Fault(escaped(result), f"exception_info.exception_type: {what} ({problem.message})")
        return
    if record.verifier_result is not None:
        rewards = record.verifier_result.rewards
        yield from _difference_faults(
            result, {"verifier_result.rewards": rewards}, {"verifier_result.rewards": parsed.rewards}, "verifier/ gives"
        )
        for flag in set(parsed.flags) - set(record.flags):
            yield Fault(escaped(result), f'flags: lacks "{flag}", which verifier/ gives')
    elif record.exception_type in {NOT_FOUND, EMPTY, UNPARSABLE}:
        what = f"says {record.exception_type}, the trial's verifier/ gives the reward {parsed.reward!r}"
        yield Fault(escaped(result), f"exception_info.exception_type: {what}")


def _journal_faults(events: list[Event], lock: JobLock, records: dict[str, TrialRecord]) -> Iterator[Fault]:
    by_folder: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        if event.trial is not None:
            by_folder[event.trial].append(event)
    for trial in lock.trials:
        told = by_folder.pop(trial.folder, [])
        record = records.get(trial.folder)
        if record is not None:
            for what in _story_faults(told, record):
                yield Fault(JOURNAL, f"trial {escaped(trial.folder)}: {what}")
    for folder in by_folder:
        yield Fault(JOURNAL, f"trial {escaped(folder)}: is not planned")


def _story_faults(told: list[Event], record: TrialRecord) -> Iterator[str]:
    """Starts are counted 1, 2, ...; each is over before the next; the last one ended as the result says."""
    starts = [event.start for event in told if event.event == "start"]
    if starts != list(range(1, record.starts + 1)):
        yield f"has the starts {starts}, its result counts {record.starts}"
        return
    current, open_ = 0, False
    for event in told:
        if event.event == "start":
            current, open_ = current + 1, True
        elif event.start != current or not open_:
            yield f'has a stray "{event.event}" of start {event.start}'
        elif event.event == "end":
            open_ = False
    last = told[-1]
    if open_ or last.event != "end":
        yield f"has no end of its last start, {record.starts}"
    elif (last.exception_type, last.reward) != (record.exception_type, record.reward):
        yield (
            f"ended with {last.exception_type} and reward {last.reward!r}, "
            f"its result says {record.exception_type} and {record.reward!r}"
        )


def _total_faults(result: Any, lock: JobLock, records: dict[str, TrialRecord]) -> Iterator[Fault]:
    if {record.trial_id for record in records.values()} != {trial.trial_id for trial in lock.trials}:
        return  # named already, trial by trial
    derived = job_result(lock, records.values()).model_dump(mode="json")
    yield from _difference_faults(RESULT, result, derived, "the trials give")


def _difference_faults(path: str, given: Any, wanted: Any, source: str) -> Iterator[Fault]:
    for key, has, should in differences(given, wanted):
        if should is ABSENT:
            what = "should not be there"
        elif has is ABSENT:
            what = f"is missing; {source} {_brief(should)}"
        else:
            what = f"says {_brief(has)}, {source} {_brief(should)}"
        yield Fault(escaped(path), f"{key or 'the whole'}: {what}")


def _brief(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:80]}..."  # noqa: PLR2004
