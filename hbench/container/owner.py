"""Which batches are alive: a lock file each running one holds, so that what a killed one left can be told apart."""

import contextlib
import fcntl
import hashlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from hbench.errors import ResumeError, SuiteError

BATCH_LABEL = "hbench.batch"
MACHINE_LABEL = "hbench.machine"

_TRIES = 20
_BETWEEN_TRIES_S = 0.05


def machine_mark() -> str:
    """Who can tell whether a batch is alive: whoever has this cache folder, and nobody else on a shared engine.

    A random word kept beside the lock files; it names neither the machine nor the user.
    """
    path = _folder() / "mark"
    if not path.exists():
        fresh = path.with_name(f"mark-{uuid.uuid4().hex}")
        fresh.write_text(uuid.uuid4().hex[:12])
        with contextlib.suppress(FileExistsError):  # another hbench was first
            path.hardlink_to(fresh)
        fresh.unlink()
    return path.read_text()


def labels(batch_id: str) -> dict[str, str]:
    """What every container of a batch carries."""
    return {BATCH_LABEL: batch_id, MACHINE_LABEL: machine_mark()}


@contextlib.contextmanager
def alive(batch_id: str) -> Iterator[None]:
    """Show the batch as running for as long as the block runs; the kernel ends it when the process dies.

    Raises:
        ResumeError: Another process runs the batch.
    """
    path = _file(batch_id)
    descriptor = _locked(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int:
    for _ in range(_TRIES):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), path.stat()):  # else a run that ended has just removed it
                return descriptor
        os.close(descriptor)
        time.sleep(_BETWEEN_TRIES_S)  # `is_alive` has it for a moment, too
    raise ResumeError("another hbench is running this batch", hint="Wait until it has ended.")


def is_alive(batch_id: str) -> bool:
    """Whether a process with this cache folder runs the batch."""
    try:
        descriptor = os.open(_file(batch_id), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _file(batch_id: str) -> Path:
    return _folder() / f"{hashlib.sha256(batch_id.encode()).hexdigest()[:24]}.lock"


def _folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(cache) / "hbench" / "batches"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise SuiteError(
            f"the cache folder cannot be made: {problem.strerror}",
            where=folder,
            hint="Set XDG_CACHE_HOME to a folder that you can write to.",
        ) from problem
    return folder
