"""A plan for people and for programs; names that are not ours are made safe to print."""

from collections.abc import Iterator, Sequence
from typing import Any

from hbench.plan.lock import planned_lock
from hbench.plan.model import JobPlan, Plan
from hbench.suite.model import TIMED_PHASES
from hbench.text import safe

PLAN_FORMAT = "hbench/plan@1"
_DIGEST_WIDTH = 12
_WIDEST_COLUMN = 40


def document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON: what of each job's lock is known, and all trials in the order they start."""
    return {
        "format": PLAN_FORMAT,
        "suite": {"name": plan.suite.suite.name, "digest": plan.suite_digest},
        "jobs": [planned_lock(plan, job) for job in plan.jobs],
        "trials": [{"trial_id": trial.id, "job": trial.arm.folder, "folder": trial.folder} for trial in plan.trials],
        "notes": list(plan.notes),
    }


def lines(plan: Plan) -> Iterator[str]:
    """The plan as text."""
    locks = [planned_lock(plan, job) for job in plan.jobs]
    yield from _head(plan)
    yield ""
    yield f"Arms ({len(plan.jobs)})"
    yield from _columns([_arm(job, lock) for job, lock in zip(plan.jobs, locks, strict=True)])
    yield ""
    yield f"Tasks ({len(locks[0]['tasks'])}), each with what one trial may use"
    yield from _columns([_task(task) for task in locks[0]["tasks"]])
    yield ""
    yield f"Trials ({len(plan.trials)}), in the order they start"
    yield from (f"  {safe(trial.id)}" for trial in plan.trials)
    notes = [*plan.notes, *dict.fromkeys(note for lock in locks for note in lock["asymmetries"])]
    if notes:
        yield ""
        yield "Notes"
        yield from (f"  {safe(note, 500)}" for note in notes)


def _head(plan: Plan) -> Iterator[str]:
    suite = plan.suite
    yield f"suite {safe(suite.suite.name)}, digest {plan.suite_digest[:_DIGEST_WIDTH]}"
    yield f"dataset {safe(plan.dataset_name)}, digest {plan.dataset_digest[:_DIGEST_WIDTH]}"
    yield f"seed {suite.suite.seed}, {suite.suite.concurrency} trials at once, {suite.retry.max_retries} retries"
    yield f"network {suite.network.mode}, verifier {suite.verifier.mode}"


def _arm(job: JobPlan, lock: dict[str, Any]) -> list[str]:
    arm = job.arm
    model = "no model" if arm.model is None else safe(arm.model.name)
    return [safe(arm.label), safe(lock["configuration"]["version"]), model, arm.folder, " ".join(lock["flags"])]


def _task(task: dict[str, Any]) -> list[str]:
    limits = task["limits"]
    times = [f"{phase} {limits[f'{phase}_timeout_s']:g} s" for phase in TIMED_PHASES]
    sizes = [f"{limits['cpus']:g} cpus", f"{limits['memory_mb']} MiB", f"{limits['pids']} pids"]
    return [safe(task["name"]), *times, *sizes, task["digest"][:_DIGEST_WIDTH]]


def _columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A cell that is wider than any column pushes the rest of its own row alone."""
    widths = [min(max(map(len, column)), _WIDEST_COLUMN) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
