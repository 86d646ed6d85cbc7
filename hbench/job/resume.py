"""What an earlier run of a batch left, and whether it can go on from there (R07)."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hbench.errors import ResumeError, SealError
from hbench.job.folder import BatchFolder
from hbench.job.trials import Earlier
from hbench.plan.lock import job_lock
from hbench.plan.model import JobPlan, Plan, TrialPlan
from hbench.results import journal
from hbench.results.buckets import CANCELLED, never_got_to_the_agent
from hbench.results.difference import ABSENT, differences
from hbench.results.files import read_model
from hbench.results.lock import JobLock
from hbench.results.record import TrialRecord
from hbench.results.tree import JOURNAL, LOCK, MANIFEST, RESULT
from hbench.results.verify import verify_job
from hbench.trial.bench import Prepared

_OF_THE_RUN = frozenset({"job_id", "batch_id", "created_at", "machine", "ca_bundle", "trials"})
_SUMS = ("suite.digest", "dataset.digest")
"""Differ with anything that differs, so they are named only if nothing else is."""


def has_begun(batch: BatchFolder) -> bool:
    """Whether a trial may have been started; the journals are made just before the first."""
    return any(batch.path.glob(f"*/{JOURNAL}"))


def check(batch: BatchFolder, plan: Plan) -> dict[str, JobLock]:
    """The locks of the batch's jobs, after comparing them with what the plan would lock now.

    Raises:
        ResumeError: Something differs; it names what, and nothing was touched.
    """
    unasked = {lock.parent for lock in batch.path.glob(f"*/{LOCK}")} - {batch.job(job) for job in plan.jobs}
    if unasked:
        raise ResumeError(
            "the batch has a job that its suite does not ask for: its harness has changed, or it is validate's",
            where=min(unasked),
            hint="Undo the change, or start a new run; `hbench validate` always begins anew.",
        )
    return {job.arm.folder: _check_job(batch, plan, job) for job in plan.jobs}


def _check_job(batch: BatchFolder, plan: Plan, job: JobPlan) -> JobLock:
    path = batch.job(job) / LOCK
    if not path.is_file():
        hint = "Undo the change, or start a new run."
        raise ResumeError(
            f"the batch has no job {job.arm.folder}: a harness or its options have changed", where=path, hint=hint
        )
    old = read_model(path, JobLock)
    new = job_lock(
        plan,
        job,
        job_id=old.job_id,
        batch_id=old.batch_id,
        created_at=old.created_at,
        images={task.name: task.image for task in old.tasks},
        machine=old.machine,
        ca_bundle=None,
    )
    changes = [_told(*found) for found in differences(_comparable(old), _comparable(new))]
    if changes:
        said = next((one for one in changes if not one.startswith(_SUMS)), changes[0])
        raise ResumeError(
            f"has changed since the batch began: {said}", where=path, hint="Undo the change, or start a new run."
        )
    return old


def check_images(locks: Mapping[str, JobLock], images: Mapping[str, Prepared]) -> None:
    """Refuse to go on with other images than the finished trials ran in."""
    for lock in locks.values():
        for task in lock.tasks:
            image = images[task.name].image
            if task.image is not None and image is not None and image.id != task.image.id:
                raise ResumeError(
                    f"its image was {task.image.id} and is {image.id} now",
                    where=task.name,
                    hint="Bring the old image back, or start a new run.",
                )


def earlier(batch: BatchFolder, plan: Plan) -> dict[Path, Earlier]:
    """Trial folder -> what is known of the trial."""
    known: dict[Path, Earlier] = {}
    for job in plan.jobs:
        told = _events(batch, job)
        known |= {batch.trial(trial): _earlier(batch, trial, told[trial.folder]) for trial in job.trials}
    return known


def reopen_seals(batch: BatchFolder, plan: Plan, known: Mapping[Path, Earlier]) -> None:
    """Take the seal off each job of which a trial will run again; the job is sealed anew when it has ended.

    Raises:
        SealError: A seal does not hold; what was changed since must not be covered by a new one.
    """
    for job in plan.jobs:
        folder = batch.job(job)
        if not (folder / MANIFEST).exists() or all(known[batch.trial(trial)].record for trial in job.trials):
            continue
        faults = verify_job(folder)
        if faults:
            raise SealError(f"the seal does not hold: {faults[0]}", where=folder, hint="Start a new run.")
        (folder / MANIFEST).unlink()


def _events(batch: BatchFolder, job: JobPlan) -> Mapping[str | None, list[journal.Event]]:
    """The name of a trial's folder -> what the journal tells of it, in order."""
    path = batch.job(job) / JOURNAL
    told: dict[str | None, list[journal.Event]] = defaultdict(list)
    for event in journal.read(path, torn_ok=True) if path.is_file() else []:
        told[event.trial].append(event)
    return told


def _earlier(batch: BatchFolder, trial: TrialPlan, told: list[journal.Event]) -> Earlier:
    return Earlier(
        starts=sum(event.event == "start" for event in told),
        record=_standing(batch, trial),
        journaled=not told or told[-1].event == "end",
    )


def _standing(batch: BatchFolder, trial: TrialPlan) -> TrialRecord | None:
    """The trial's record if it is final: not cancelled, and not an infrastructure failure before the agent began."""
    path = batch.trial(trial) / RESULT
    try:
        record = read_model(path, TrialRecord)
    except SealError:
        return None
    if record.exception_type == CANCELLED or never_got_to_the_agent(
        record.exception_type, agent_begun=record.agent_begun
    ):
        return None
    return record


def _comparable(lock: JobLock) -> dict[str, Any]:
    """The lock without what belongs to one run; the trials follow from tasks and attempts."""
    kept = lock.model_dump(mode="json", exclude=set(_OF_THE_RUN))
    return {**kept, "tasks": {task["name"]: {**task, "image": None} for task in kept["tasks"]}}


def _told(key: str, was: Any, is_now: Any) -> str:
    if is_now is ABSENT:
        return f"{key} is gone"
    return f"{key} is new" if was is ABSENT else f"{key} was {str(was)[:80]!r} and is {str(is_now)[:80]!r}"
