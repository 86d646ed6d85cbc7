"""Sealing: the last file of a job, written only when everything in its folder follows from the lock and the trials."""

from collections.abc import Iterable
from pathlib import Path

from hbench.errors import SealError
from hbench.results.buckets import CANCELLED
from hbench.results.checks import content_faults
from hbench.results.contents import Contents, read_contents
from hbench.results.fault import Fault
from hbench.results.files import read_model, sweep_parts, write_bytes
from hbench.results.manifest import Manifest, manifest_of
from hbench.results.moment import now
from hbench.results.traces import Needles, gather, host_traces
from hbench.results.tree import MANIFEST, RESULT, Tree, is_written_by_hbench, says_what_happened, scan
from hbench.results.verify import verify_job
from hbench.text import escaped

_NAMED = 10
_WHAT_TELLS = {
    "folder": "a folder of this machine",
    "user": "a user name of this machine",
    "host": "the host name of this machine",
}


def seal(job_folder: Path, *, needles: Needles | None = None) -> Manifest:
    """Write manifest.json, or say why this job cannot be sealed.

    A job that is sealed already, and still is what its seal says, is left as it is.

    Args:
        needles: What hbench's own files must not contain; by default what this machine is known by.

    Raises:
        SealError: The folder is not complete, not consistent, or would tell whose machine it was.
    """
    if (job_folder / MANIFEST).exists():
        _refuse(job_folder, verify_job(job_folder), "has a seal that does not hold")
        return read_model(job_folder / MANIFEST, Manifest)
    _sweep(job_folder)
    tree = scan(job_folder, keep=lambda path: says_what_happened(path) or is_written_by_hbench(path))
    contents = read_contents(tree)
    faults = [*tree.faults, *content_faults(tree, contents), *_not_run(contents)]
    faults += _trace_faults(tree, gather(job_folder.absolute().parents[:2]) if needles is None else needles)
    _refuse(job_folder, faults, "cannot be sealed")
    if contents.lock is None:
        raise AssertionError("a job without a lock has faults")
    manifest = manifest_of(tree.files, job_id=contents.lock.job_id, sealed_at=now())
    write_bytes(job_folder / MANIFEST, manifest.as_bytes(), sync_folder=True)
    return manifest


def _sweep(job_folder: Path) -> None:
    """Remove half-written files of hbench's own, where it writes: an agent has no hand in these folders."""
    sweep_parts(job_folder)
    for path in job_folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            sweep_parts(path)


def _not_run(contents: Contents) -> Iterable[Fault]:
    for folder, record in contents.records.items():
        if record.exception_type == CANCELLED:
            yield Fault(f"{escaped(folder)}/{RESULT}", "was cancelled; a resume runs it")


def _trace_faults(tree: Tree, needles: Needles) -> Iterable[Fault]:
    for path, data in tree.kept.items():
        if is_written_by_hbench(path):
            is_json = not path.endswith(".log")
            for trace in host_traces(data.decode(errors="replace"), needles, is_json=is_json):
                yield Fault(escaped(path), f"line {trace.line} contains {_WHAT_TELLS[trace.kind]}")
    for path in tree.files:
        for trace in host_traces(path, needles):
            yield Fault(escaped(path), f"has {_WHAT_TELLS[trace.kind]} in its name, which the seal lists")


def _refuse(job_folder: Path, faults: Iterable[Fault], what: str) -> None:
    ordered = sorted(set(faults))
    if not ordered:
        return
    named = "".join(f"\n  {fault}" for fault in ordered[:_NAMED])
    more = f"\n  and {len(ordered) - _NAMED} more" if len(ordered) > _NAMED else ""
    raise SealError(
        f"{what}:{named}{more}",
        where=job_folder,
        hint="Resume the batch if trials are missing; else run the job again.",
    )
