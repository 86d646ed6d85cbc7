"""A batch from its plan to its sealed jobs: images first, then the trials, then the seals."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from hbench.container import ca, owner, sweep
from hbench.container.ca import CaBundle
from hbench.container.engine import Engine, EngineFacts
from hbench.container.errors import Cancelled, RefusedError
from hbench.container.stopping import HELPER_IMAGE
from hbench.errors import EngineError, SealError
from hbench.job import folder, resume
from hbench.job.folder import BatchFolder
from hbench.job.images import ImageMaker
from hbench.job.outcome import BatchOutcome, JobOutcome
from hbench.job.progress import View
from hbench.job.trials import TrialRunner
from hbench.job.undertaker import Undertaker
from hbench.plan.model import JobPlan, Plan
from hbench.results.buckets import CANCELLED
from hbench.results.files import write_json
from hbench.results.job import job_result
from hbench.results.lock import JobLock
from hbench.results.record import TrialRecord
from hbench.results.seal import seal
from hbench.results.tree import RESULT
from hbench.trial.bench import Bench, Prepared

_HELPER_TIMEOUT_S = 300.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """What `hbench run` is asked for.

    Attributes:
        base: The folder that the suite's relative paths are relative to.
        skip_invalid: The plan was made without its invalid tasks.
        force_build: Images named by tasks are built from the Dockerfile beside them, without a pull.
        environ: The host's environment variables.
    """

    plan: Plan
    base: Path
    jobs_dir: Path
    skip_invalid: bool
    force_build: bool
    environ: Mapping[str, str]


def run_batch(request: Request, engine: Engine, view: View, cancel: Event) -> BatchOutcome:
    """Run every trial of the plan in a new batch folder; seal each job whose trials all have a record.

    Raises:
        EngineError: The engine is out of reach, or lacks the image that stops processes.
        SuiteError: The CA bundle or the jobs folder cannot be used; nothing has been started then.
    """
    bundle, facts = _ready(request, engine, view, cancel)
    batch = folder.create(
        request.plan,
        request.jobs_dir,
        base=request.base,
        skip_invalid=request.skip_invalid,
        force_build=request.force_build,
    )
    return _run_all(request, batch, engine, bundle, facts, view, cancel)


def _run_all(
    request: Request,
    batch: BatchFolder,
    engine: Engine,
    bundle: CaBundle | None,
    facts: EngineFacts,
    view: View,
    cancel: Event,
) -> BatchOutcome:
    """From the images on, in a batch folder where no trial has been started."""
    folder.write_batch(batch, request.plan, state="running")
    with owner.alive(batch.batch_id), Undertaker(engine, view.warn) as bury:
        try:
            images = _images(request, engine, batch, bundle, view, cancel)
        except Cancelled:
            return _stopped_early(request, batch)
        locks = folder.write_locks(batch, request.plan, images=images, facts=facts, ca_bundle=bundle)
        bench = _bench(request, engine, batch, bundle, bury, cancel)
        runner = TrialRunner(batch=batch, bench=bench, images=images, locks=locks, view=view, earlier={})
        records = runner.run(request.plan)
    return _finished(request, batch, locks, records, view, cancel)


def resume_batch(request: Request, batch: BatchFolder, engine: Engine, view: View, cancel: Event) -> BatchOutcome:
    """Run what is missing of an earlier batch, after checking that nothing it depends on has changed.

    Raises:
        ResumeError: A task, the suite or a limit differs from the locks; nothing was touched.
    """
    if not resume.has_begun(batch):
        bundle, facts = _ready(request, engine, view, cancel)
        return _run_all(request, batch, engine, bundle, facts, view, cancel)
    locks = resume.check(batch, request.plan)
    bundle, _ = _ready(request, engine, view, cancel)
    with owner.alive(batch.batch_id), Undertaker(engine, view.warn) as bury:
        images = _images(request, engine, batch, bundle, view, cancel)
        resume.check_images(locks, images)
        bench = _bench(request, engine, batch, bundle, bury, cancel)
        earlier = resume.earlier(batch, request.plan)
        resume.reopen_seals(batch, request.plan, earlier)
        folder.write_batch(batch, request.plan, state="running")
        runner = TrialRunner(batch=batch, bench=bench, images=images, locks=locks, view=view, earlier=earlier)
        records = runner.run(request.plan)
    return _finished(request, batch, locks, records, view, cancel)


def _ready(request: Request, engine: Engine, view: View, cancel: Event) -> tuple[CaBundle | None, EngineFacts]:
    said = request.plan.suite.network.ca_bundle
    bundle = ca.find_ca_bundle(suite=None if said is None else str(request.base / said), environ=request.environ)
    swept = sweep.sweep(engine)
    if swept:
        view.stage(f"removed {swept} containers that an earlier run had left")
    if engine.image(HELPER_IMAGE) is None:
        try:
            engine.pull(HELPER_IMAGE, timeout_s=_HELPER_TIMEOUT_S, cancel=cancel)
        except RefusedError as problem:
            raise EngineError(
                f"the engine has no {HELPER_IMAGE}, which hbench needs to stop agents at their limit: {problem}",
                hint=f"docker pull {HELPER_IMAGE}, or in a checkout: script/base-image",
            ) from problem
    return bundle, engine.facts()


def _images(
    request: Request, engine: Engine, batch: BatchFolder, bundle: CaBundle | None, view: View, cancel: Event
) -> dict[str, Prepared]:
    plan = request.plan
    tasks = {trial.task.name: trial.task for trial in plan.trials}
    limits = {trial.task.name: trial.limits.build_timeout_s for trial in plan.trials}
    maker = ImageMaker(
        engine=engine,
        ca=bundle,
        fallback=plan.suite.dataset.build == "fallback",
        force_build=request.force_build,
        logs=batch.builds,
        cancel=cancel,
    )
    return maker.prepare(list(tasks.values()), limits, view)


def _bench(
    request: Request, engine: Engine, batch: BatchFolder, bundle: CaBundle | None, bury: Undertaker, cancel: Event
) -> Bench:
    names = request.plan.suite.env.pass_
    return Bench(
        engine=engine,
        batch_id=batch.batch_id,
        ca=bundle,
        passed_env={name: request.environ[name] for name in names if name in request.environ},
        cancel=cancel,
        bury=bury,
        labels=owner.labels(batch.batch_id),
    )


def _stopped_early(request: Request, batch: BatchFolder) -> BatchOutcome:
    """Stopped while images were made: no trial has a record, and a resume begins at the beginning."""
    folder.write_batch(batch, request.plan, state="cancelled")
    jobs = tuple(
        JobOutcome(plan=job, path=batch.job(job), records=(), not_sealed="trials are missing")
        for job in request.plan.jobs
    )
    return BatchOutcome(path=batch.path, limits=request.plan.suite.limits, jobs=jobs, cancelled=True)


def _finished(
    request: Request,
    batch: BatchFolder,
    locks: Mapping[str, JobLock],
    records: Mapping[str, list[TrialRecord]],
    view: View,
    cancel: Event,
) -> BatchOutcome:
    jobs = tuple(
        _job_outcome(batch.job(job), job, locks[job.arm.folder], records[job.arm.folder]) for job in request.plan.jobs
    )
    for job in jobs:
        if job.not_sealed is not None and not cancel.is_set():
            view.warn(f"{job.plan.arm.folder} is not sealed: {job.not_sealed}")
    cancelled = cancel.is_set()
    folder.write_batch(batch, request.plan, state="cancelled" if cancelled else "done")
    return BatchOutcome(path=batch.path, limits=request.plan.suite.limits, jobs=jobs, cancelled=cancelled)


def _job_outcome(path: Path, job: JobPlan, lock: JobLock, records: list[TrialRecord]) -> JobOutcome:
    """The job with its result and its seal, or why it has none; that does not hold up the others."""
    complete = len(records) == len(job.trials) and all(one.exception_type != CANCELLED for one in records)
    if not complete:
        return JobOutcome(plan=job, path=path, records=tuple(records), not_sealed="trials are missing")
    try:
        write_json(path / RESULT, job_result(lock, records).model_dump(mode="json"))
        seal(path)
    except SealError as problem:
        return JobOutcome(plan=job, path=path, records=tuple(records), not_sealed=str(problem))
    return JobOutcome(plan=job, path=path, records=tuple(records), not_sealed=None)
