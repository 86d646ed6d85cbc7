"""Plan to lock: all that is fixed before the first trial.

`planned_lock` says what is known without Docker, `job_lock` and `trial_lock` all of it. The shapes, and what each key
means, are the reader's: `hbench.results.lock`.

Flags of a job, for whoever reads or ranks it:
    sees_solution, sees_tests: as the adapter declares.
    foreign_adapter: the harness does not ship with hbench.
    timeouts_changed, resources_changed: the suite sets a limit that is otherwise the task's.
    skipped_invalid: invalid tasks were left out.
    image_fallback: an image was built from a Dockerfile because it could not be pulled.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from hbench.adapter.model import Adapter
from hbench.plan.model import Arm, JobPlan, Limits, Plan, TrialPlan
from hbench.results.lock import (
    JOB_LOCK_FORMAT,
    TRIAL_LOCK_FORMAT,
    CaBundleLock,
    ConfigurationLock,
    ImageLock,
    JobLock,
    LimitsLock,
    MachineLock,
    ModelLock,
    PlannedTrial,
    TaskLock,
    TrialLock,
)
from hbench.suite.model import TIMED_PHASES, LimitsTable, ModelEntry
from hbench.suite.supported import MODEL_LIMITS
from hbench.task.model import Task
from hbench.version import RESULTS_EPOCH, VERSION

Json = dict[str, Any]


def job_lock(
    plan: Plan,
    job: JobPlan,
    *,
    job_id: str,
    batch_id: str,
    created_at: str,
    images: Mapping[str, ImageLock | None],
    machine: MachineLock,
    ca_bundle: CaBundleLock | None,
) -> JobLock:
    """`lock.json` of a job; `images` by task name, `created_at` in UTC as ISO 8601."""
    known = planned_lock(plan, job)
    own = {task["name"]: images.get(task["name"]) for task in known["tasks"]}
    fallback = any(image is not None and image.source == "fallback" for image in own.values())
    known |= {
        "tasks": [{**task, "image": own[task["name"]]} for task in known["tasks"]],
        "flags": sorted([*known["flags"], *(["image_fallback"] if fallback else [])]),
        "job_id": job_id,
        "batch_id": batch_id,
        "created_at": created_at,
        "machine": machine,
        "ca_bundle": ca_bundle,
    }
    return JobLock.model_validate(known)


def planned_lock(plan: Plan, job: JobPlan) -> Json:
    """What of a job's lock is known without Docker: no ids, no time, no machine, every image null."""
    suite = plan.suite
    return {
        "format": JOB_LOCK_FORMAT,
        "hbench_version": VERSION,
        "results_epoch": RESULTS_EPOCH,
        "suite": {"name": suite.suite.name, "digest": plan.suite_digest}
        | suite.suite.model_dump(include={"seed", "attempts", "concurrency"}),
        "dataset": {
            "name": plan.dataset_name,
            "digest": plan.dataset_digest,
            "skipped": dict(sorted(plan.skipped.items())),
            "build_fallback": suite.dataset.build == "fallback",
        },
        "configuration": _configuration(job.arm).model_dump(mode="json"),
        "arm": {"folder": job.arm.folder, "digest": job.arm.digest},
        "model": None if job.arm.model is None else _model(job.arm.model).model_dump(mode="json"),
        "limits": suite.limits.model_dump(mode="json", exclude_none=True),
        "network": {"mode": suite.network.mode, "allow": sorted(set(suite.network.allow))},
        "verifier": {"mode": suite.verifier.mode},
        "retry": {"max_retries": suite.retry.max_retries},
        "tasks": [_task(task, suite.suite.attempts, limits).model_dump(mode="json") for task, limits in _tasks(job)],
        "trials": [_trial(trial).model_dump(mode="json") for trial in job.trials],
        "flags": sorted(_flags(plan, job.arm.configuration.adapter)),
        "asymmetries": list(asymmetries(suite.limits, job)),
        "prices": None,
    }


def trial_lock(job_id: str, trial: TrialPlan, *, image_id: str | None) -> TrialLock:
    """`lock.json` of a trial; no image id if it ended before it had an image."""
    return TrialLock(
        format=TRIAL_LOCK_FORMAT,
        job_id=job_id,
        trial_id=trial.id,
        folder=trial.folder,
        task=trial.task.name,
        attempt=trial.attempt,
        task_digest=trial.task.digests.hbench,
        image_id=image_id,
        limits=_limits(trial.limits),
    )


def _configuration(arm: Arm) -> ConfigurationLock:
    adapter = arm.configuration.adapter
    return ConfigurationLock(
        label=arm.label,
        harness=adapter.name,
        version=adapter.spec.version,
        adapter_digest=adapter.digest,
        built_in=adapter.built_in,
        options=dict(arm.configuration.options),
        sees_solution=adapter.spec.sees_solution,
        sees_tests=adapter.spec.sees_tests,
        calls_model=adapter.spec.model,
    )


def _model(model: ModelEntry) -> ModelLock:
    host = None if model.base_url is None else urlsplit(model.base_url).hostname
    return ModelLock(name=model.name, provider=model.provider, access=model.access, host=host)


def _tasks(job: JobPlan) -> list[tuple[Task, Limits]]:
    """Each task once, by name."""
    found = {trial.task.name: (trial.task, trial.limits) for trial in job.trials}
    return [found[name] for name in sorted(found)]


def _task(task: Task, attempts: int, limits: Limits) -> TaskLock:
    return TaskLock(
        name=task.name,
        attempts=attempts,
        digest=task.digests.hbench,
        harbor_digest=task.digests.harbor,
        checksum=task.digests.dirhash,
        image=None,
        limits=_limits(limits),
        warnings=list(task.warnings),
    )


def _limits(limits: Limits) -> LimitsLock:
    return LimitsLock(**{name: getattr(limits, name) for name in LimitsLock.model_fields})


def _trial(trial: TrialPlan) -> PlannedTrial:
    return PlannedTrial(trial_id=trial.id, folder=trial.folder, task=trial.task.name, attempt=trial.attempt)


def _flags(plan: Plan, adapter: Adapter) -> Iterator[str]:
    limits = plan.suite.limits
    raised = {
        "sees_solution": adapter.spec.sees_solution,
        "sees_tests": adapter.spec.sees_tests,
        "foreign_adapter": not adapter.built_in,
        "timeouts_changed": any(
            getattr(limits, f"{phase}_timeout_multiplier") != 1.0 or getattr(limits, f"{phase}_timeout_sec") is not None
            for phase in TIMED_PHASES
        ),
        "resources_changed": any(limit is not None for limit in (limits.cpus, limits.memory_mb, limits.pids)),
        "skipped_invalid": bool(plan.skipped),
    }
    return (flag for flag, is_raised in raised.items() if is_raised)


def asymmetries(limits: LimitsTable, job: JobPlan) -> Iterator[str]:
    """Limits of the suite and of tasks that do not hold in this job (R14)."""
    for limit in MODEL_LIMITS:
        if getattr(limits, limit) is not None and not job.arm.configuration.adapter.spec.model:
            yield f"{limit}: the harness calls no model, so there is nothing to limit"
    unbounded = [task.name for task, _ in _tasks(job) if task.environment.storage_mb is not None]
    if unbounded:
        yield f"storage_mb: the engine cannot limit a container's disk; asked for by {', '.join(unbounded)}"
