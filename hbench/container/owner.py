"""Which batches are alive: a lock file each running one holds, so that what a killed one left can be told apart."""

import contextlib
import fcntl
import hashlib
import os
import platform
import uuid
from collections.abc import Iterator
from pathlib import Path

BATCH_LABEL = "hbench.batch"
MACHINE_LABEL = "hbench.machine"


def machine_mark() -> str:
    """A short hash that tells this machine from others that may share an engine; not its name."""
    return hashlib.sha256(f"{platform.node()}:{uuid.getnode()}".encode()).hexdigest()[:12]


def labels(batch_id: str) -> dict[str, str]:
    """What every container of a batch carries."""
    return {BATCH_LABEL: batch_id, MACHINE_LABEL: machine_mark()}


@contextlib.contextmanager
def alive(batch_id: str) -> Iterator[None]:
    """Show the batch as running for as long as the block runs; the kernel ends it when the process dies."""
    path = _file(batch_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def is_alive(batch_id: str) -> bool:
    """Whether a process on this machine runs the batch."""
    try:
        descriptor = os.open(_file(batch_id), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _file(batch_id: str) -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    safe = hashlib.sha256(batch_id.encode()).hexdigest()[:24]
    return Path(cache) / "hbench" / "batches" / f"{safe}.lock"
