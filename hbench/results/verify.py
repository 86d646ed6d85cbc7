"""Whether a sealed job still is what its seal says, and whether its figures follow from its trials (U01)."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from hbench.errors import SealError
from hbench.results.batch import BATCH, SUITE, BatchFile
from hbench.results.checks import content_faults
from hbench.results.contents import read_contents
from hbench.results.fault import Fault
from hbench.results.files import as_model, load_json, read_bytes, read_model
from hbench.results.lock import JobLock
from hbench.results.manifest import Manifest, root_digest
from hbench.results.tree import LOCK, MANIFEST, Tree, says_what_happened, scan
from hbench.text import escaped


def verify(folder: Path) -> list[Fault]:
    """Every fault of a job folder, or of all jobs of a batch folder; sorted, empty if all is well.

    Raises:
        SealError: It is neither.
    """
    jobs = job_folders(folder)
    return verify_job(folder) if jobs == [folder] else _verify_batch(folder, jobs)


def job_folders(folder: Path) -> list[Path]:
    """`[folder]` for a job; for a batch its jobs' folders, with those that batch.json names and that are not there.

    Raises:
        SealError: It is neither.
    """
    if _is_job(folder):
        return [folder]
    if not folder.is_dir():
        raise SealError("no such folder", where=folder, hint="Give the folder of a job or of a batch.")
    names = {path.name for path in folder.iterdir() if _is_job(path)} | (_named(folder) or set())
    if not names:
        hint = "Give the folder that has a lock.json, or the one above it."
        raise SealError("is neither a job nor a batch", where=folder, hint=hint)
    return [folder / name for name in sorted(names)]


def _named(batch: Path) -> set[str] | None:
    """The jobs that the folder's batch.json names, None if there is none."""
    return set(read_model(batch / BATCH, BatchFile).jobs) if (batch / BATCH).exists() else None


def _is_job(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (LOCK, MANIFEST))


def verify_job(folder: Path) -> list[Fault]:
    """Every fault of one job folder, sorted, empty if all is well."""
    return _examine(folder)[0]


def _verify_batch(folder: Path, jobs: list[Path]) -> list[Fault]:
    """Each job, and the suite file, which lies outside every seal: the locks know its digest."""
    suite = folder / SUITE
    digest = hashlib.sha256(read_bytes(suite)).hexdigest() if suite.exists() else None
    named = _named(folder)
    faults = []
    for job in jobs:
        name = escaped(job.name)
        if named is not None and job.name not in named:
            faults.append(Fault(name, "is not a job of this batch: batch.json does not name it"))
        if job.is_symlink() or not job.is_dir():
            faults.append(Fault(name, "is missing: batch.json names this job"))
            continue
        found, lock = _examine(job)
        faults += [Fault(f"{name}/{fault.path}", fault.what) for fault in found]
        if lock is not None and lock.suite.digest != digest:
            faults.append(Fault(SUITE, f"is not the suite that {name}/{LOCK} was made from"))
    return sorted(faults)


def _examine(folder: Path) -> tuple[list[Fault], JobLock | None]:
    tree = scan(folder, keep=says_what_happened)
    contents = read_contents(tree)
    faults = {*tree.faults, *_seal_faults(tree, contents.lock), *content_faults(tree, contents)}
    return sorted(faults), contents.lock


def _seal_faults(tree: Tree, lock: JobLock | None) -> Iterator[Fault]:
    data = tree.kept.get(MANIFEST)
    if data is None:
        if MANIFEST not in tree.files:
            yield Fault(MANIFEST, "is missing: the job is not sealed")
        return
    try:
        manifest = as_model(load_json(data, where=MANIFEST), Manifest, where=MANIFEST)
    except SealError as problem:
        yield Fault(MANIFEST, problem.what)
        return
    yield from _manifest_faults(manifest, data, lock)
    found = {path: entry for path, entry in tree.files.items() if path != MANIFEST}
    for path in manifest.files.keys() - found.keys():
        yield Fault(escaped(path), "is sealed and missing")
    for path in found.keys() - manifest.files.keys():
        yield Fault(escaped(path), "was added after sealing")
    for path in manifest.files.keys() & found.keys():
        sealed, entry = manifest.files[path], found[path]
        if (sealed.sha256, sealed.size) != (entry.sha256, entry.size):
            change = f"sealed {sealed.sha256[:12]}, {sealed.size} bytes; found {entry.sha256[:12]}, {entry.size} bytes"
            yield Fault(escaped(path), f"was changed after sealing ({change})")


def _manifest_faults(manifest: Manifest, data: bytes, lock: JobLock | None) -> Iterator[Fault]:
    root = root_digest(manifest.files, job_id=manifest.job_id, sealed_at=manifest.sealed_at)
    if root != manifest.root:
        yield Fault(MANIFEST, f"root: says {manifest.root[:12]}, its files give {root[:12]}")
    if lock is not None and lock.job_id != manifest.job_id:
        yield Fault(MANIFEST, f"job_id: says {manifest.job_id!a}, {LOCK} says {lock.job_id!a}")
    if data != manifest.as_bytes() or list(manifest.files) != sorted(manifest.files):
        yield Fault(MANIFEST, "is not written as hbench writes it")
