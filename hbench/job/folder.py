"""The batch's folders on disk: made once, filled trial by trial."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hbench.container.ca import CaBundle
from hbench.container.engine import EngineFacts
from hbench.errors import ResumeError, SealError, SuiteError
from hbench.job.machine import machine
from hbench.plan.lock import job_lock
from hbench.plan.model import JobPlan, Plan, TrialPlan
from hbench.results.batch import BATCH, BATCH_FORMAT, SUITE, BatchFile
from hbench.results.files import read_model, write_bytes, write_json
from hbench.results.lock import CaBundleLock, ImageLock, JobLock
from hbench.results.moment import instant, now
from hbench.results.tree import LOCK
from hbench.trial.bench import Prepared
from hbench.version import VERSION


@dataclass(frozen=True, kw_only=True)
class BatchFolder:
    """`jobs/<suite>-<UTC time>`: one folder a job in it, and `builds/` with the logs of image builds.

    Attributes:
        base: The folder that the suite's relative paths are relative to.
        skip_invalid, force_build: What the run was asked for, so that a resume does the same.
    """

    path: Path
    batch_id: str
    created_at: str
    base: Path
    skip_invalid: bool
    force_build: bool

    def job(self, job: JobPlan) -> Path:
        return self.path / job.arm.folder

    def trial(self, trial: TrialPlan) -> Path:
        return self.path / trial.arm.folder / trial.folder

    @property
    def builds(self) -> Path:
        return self.path / "builds"


def create(plan: Plan, jobs_dir: Path, *, base: Path, skip_invalid: bool, force_build: bool) -> BatchFolder:
    """A new batch folder with the suite as given."""
    created_at = now()
    path = _free(jobs_dir, f"{plan.suite.suite.name}-{instant(created_at):%Y%m%dT%H%M%SZ}")
    batch = BatchFolder(
        path=path,
        batch_id=str(uuid.uuid4()),
        created_at=created_at,
        base=base.absolute(),
        skip_invalid=skip_invalid,
        force_build=force_build,
    )
    write_bytes(path / SUITE, plan.suite_text.encode())
    return batch


def _free(jobs_dir: Path, name: str) -> Path:
    for number in range(1, 1000):
        path = jobs_dir / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as problem:
            raise SuiteError(
                f"the job folder cannot be made: {problem.strerror}", where=path, hint="Choose another --jobs-dir."
            ) from problem
        return path
    raise SuiteError("too many batches of this name in one second", where=jobs_dir, hint="Run it again.")


def write_locks(
    batch: BatchFolder,
    plan: Plan,
    *,
    images: Mapping[str, Prepared],
    facts: EngineFacts,
    ca_bundle: CaBundle | None,
) -> dict[str, JobLock]:
    """Every job's lock.json, before the first trial; job folder name -> lock."""
    here = machine(facts)
    taken = {name: _image_lock(one, facts.builder) for name, one in images.items()}
    locks = {}
    for job in plan.jobs:
        path = batch.job(job)
        path.mkdir(exist_ok=True)
        lock = job_lock(
            plan,
            job,
            job_id=str(uuid.uuid4()),
            batch_id=batch.batch_id,
            created_at=batch.created_at,
            images=taken,
            machine=here,
            ca_bundle=None if ca_bundle is None else _ca_lock(ca_bundle),
        )
        write_json(path / LOCK, lock.model_dump(mode="json"), sync_folder=True)
        locks[job.arm.folder] = lock
    return locks


def _image_lock(prepared: Prepared, builder: str) -> ImageLock | None:
    image, source = prepared.image, prepared.source
    if image is None:
        return None
    built_by = builder if source in ("build", "fallback") else None
    return ImageLock(id=image.id, repo_digests=list(image.repo_digests), source=source, builder=built_by)


def _ca_lock(bundle: CaBundle) -> CaBundleLock:
    return CaBundleLock(sha256=bundle.sha256, certificates=len(bundle.extra), found=bundle.found)


def write_batch(batch: BatchFolder, plan: Plan, *, state: Literal["running", "cancelled", "done"]) -> None:
    """`batch.json`; not part of any seal."""
    said = BatchFile(
        format=BATCH_FORMAT,
        batch_id=batch.batch_id,
        created_at=batch.created_at,
        hbench_version=VERSION,
        state=state,
        suite=plan.suite.suite.name,
        suite_digest=plan.suite_digest,
        base=str(batch.base),
        skip_invalid=batch.skip_invalid,
        force_build=batch.force_build,
        jobs=[job.arm.folder for job in plan.jobs],
    )
    write_json(batch.path / BATCH, said.model_dump(mode="json"))


def reopen(path: Path) -> BatchFolder:
    """The batch folder of an earlier run.

    Raises:
        ResumeError: It is none.
    """
    if not (path / BATCH).is_file():
        raise ResumeError("is not a batch folder", where=path, hint=f"Name the folder that holds {BATCH}.")
    try:
        said = read_model(path / BATCH, BatchFile)
    except SealError as problem:
        raise ResumeError(problem.what, where=problem.where, hint="Start a new run.") from problem
    return BatchFolder(
        path=path,
        batch_id=said.batch_id,
        created_at=said.created_at,
        base=Path(said.base),
        skip_invalid=said.skip_invalid,
        force_build=said.force_build,
    )
