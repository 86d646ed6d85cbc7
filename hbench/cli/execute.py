"""What `run` and `validate` share: a plan carried out under signals and a view, and what it came to."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Any

from hbench.cli.live import view_for
from hbench.cli.signals import cancelling
from hbench.container.docker_engine import connect
from hbench.container.engine import Engine
from hbench.container.errors import Cancelled
from hbench.job.folder import reopen
from hbench.job.outcome import BatchOutcome, JobOutcome
from hbench.job.progress import View
from hbench.job.run import Request, resume_batch, run_batch
from hbench.plan.build import build_plan
from hbench.plan.lock import asymmetries
from hbench.plan.model import Plan
from hbench.report.as_json import to_json
from hbench.report.row import TrialRow
from hbench.report.summary import JobSummary, summarise
from hbench.report.tables import JobLine
from hbench.results.batch import SUITE
from hbench.suite.load import load_suite

RUN_FORMAT = "hbench/run@1"
_MORE_CONNECTIONS = 16


def execute(request: Request, *, quiet: bool) -> BatchOutcome:
    """Run a plan's trials, shown to the person at the terminal, stopped by Ctrl-C."""
    return _carried_out(
        request.plan, lambda engine, view, cancel: run_batch(request, engine, view, cancel), quiet=quiet
    )


def resume(path: Path, *, quiet: bool) -> BatchOutcome:
    """Run what is missing of the batch at `path`, as it was asked for then."""
    batch = reopen(path)
    loaded = load_suite(path / SUITE, base=batch.base)
    plan = build_plan(loaded, skip_invalid=batch.skip_invalid)
    request = Request(
        plan=plan,
        base=batch.base,
        jobs_dir=path.parent,
        skip_invalid=batch.skip_invalid,
        force_build=batch.force_build,
        environ=os.environ,
    )
    return _carried_out(
        plan, lambda engine, view, cancel: resume_batch(request, batch, engine, view, cancel), quiet=quiet
    )


def _carried_out(plan: Plan, work: Callable[[Engine, View, Event], BatchOutcome], *, quiet: bool) -> BatchOutcome:
    cancel = Event()
    engine = connect(connections=plan.suite.suite.concurrency + _MORE_CONNECTIONS)
    with view_for(plan, quiet=quiet) as view, cancelling(cancel):
        try:
            return work(engine, view, cancel)
        except Cancelled:
            raise KeyboardInterrupt from None  # before the first trial: nothing to record, nothing to resume


def summary_of(job: JobOutcome) -> JobSummary:
    """The job's figures, whether it is sealed or not."""
    return summarise(
        [TrialRow.of(record) for record in job.records],
        planned=[(trial.task.name, trial.attempt) for trial in job.plan.trials],
        has_model=job.plan.arm.model is not None,
    )


def job_lines(outcome: BatchOutcome) -> list[JobLine]:
    """Each job as the end tables show it."""
    return [
        JobLine(
            harness=job.plan.arm.label,
            model=None if job.plan.arm.model is None else job.plan.arm.model.name,
            path=shown_path(job.path),
            sealed=job.not_sealed is None,
            summary=summary_of(job),
            asymmetries=tuple(asymmetries(outcome.limits, job.plan)),
        )
        for job in outcome.jobs
    ]


def document(outcome: BatchOutcome) -> dict[str, Any]:
    """The outcome for `--json`."""
    return {
        "format": RUN_FORMAT,
        "batch": str(outcome.path),
        "cancelled": outcome.cancelled,
        "exit_code": outcome.exit_code,
        "jobs": [_job(job) for job in outcome.jobs],
    }


def _job(job: JobOutcome) -> dict[str, Any]:
    summary = summary_of(job)
    return {
        "path": str(job.path),
        "harness": job.plan.arm.label,
        "model": None if job.plan.arm.model is None else job.plan.arm.model.name,
        "sealed": job.not_sealed is None,
        "trials": summary.planned,
        "with_reward": summary.with_reward,
        "exceptions": summary.exceptions,
        "mean": summary.mean,
        "summary": to_json(summary),
    }


def shown_path(path: Path) -> str:
    """As a person would type it: relative to where they are, if it is below."""
    here = Path.cwd()
    absolute = path.absolute()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(absolute)
