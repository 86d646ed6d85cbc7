"""What a builder gets for a task: the folder of its Dockerfile, the same on every machine.

Links are sent as links and never followed, so nothing from outside the folder gets in. Owners and times do not count:
two checkouts of one task give one digest and one image.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import IO

from docker.utils.build import PatternMatcher

from hbench.container import ca, dockerfile
from hbench.container.archive import MTIME, Entry, entry_of, file, pack
from hbench.container.ca import CaBundle
from hbench.errors import TaskError

DOCKERFILE = "Dockerfile"
IGNORE_FILE = ".dockerignore"
_KEPT_HEX = 24


def image_tag(folder: Path, bundle: CaBundle | None) -> str:
    """The name of the image that the folder gives; equal content, equal name."""
    return f"hbench-env:{context_digest(folder, bundle)[:_KEPT_HEX]}"


def ca_image_tag(bundle: CaBundle) -> str:
    """The name of the image that holds nothing but the bundle's files, for `COPY --from`."""
    return f"hbench-ca:{_digest(ca.container_files(bundle))[:_KEPT_HEX]}"


def context_digest(folder: Path, bundle: CaBundle | None) -> str:
    """The sha256, in hex, of the names, kinds, modes and bytes of all that the builder gets.

    Raises:
        TaskError: Something in the folder cannot be read, or is neither a file, nor a folder, nor a link.
    """
    try:
        as_built = file("Dockerfile as built", instructions(folder, bundle))
        return _digest([as_built, *entries(folder)])
    except OSError as problem:
        where = problem.filename or folder
        raise TaskError(f"cannot be read: {problem.strerror}", where=where, hint="Make it readable.") from problem


def instructions(folder: Path, bundle: CaBundle | None) -> bytes:
    """The Dockerfile as the builder gets it: with the bundle's files in every stage if there is one."""
    own = _read(folder, DOCKERFILE)
    if own is None:
        raise TaskError("has no Dockerfile", where=folder, hint="Write one, or name a docker_image in task.toml.")
    if bundle is None:
        return own
    text = own.decode(errors="surrogateescape")
    changed = dockerfile.with_ca(text, image=ca_image_tag(bundle), env=ca.container_env(bundle))
    return changed.encode(errors="surrogateescape")


def entries(folder: Path) -> list[Entry]:
    """What .dockerignore leaves of the folder, sorted; the Dockerfile and .dockerignore always: builders read them."""
    matcher = PatternMatcher([*_ignored(folder), f"!{DOCKERFILE}"])
    return [entry_of(folder / path, path) for path in sorted(matcher.walk(folder))]


def packed(folder: Path, as_built: bytes) -> IO[bytes]:
    """The context as a tar archive with this Dockerfile; the caller closes it."""
    found = entries(folder)
    return pack(file(DOCKERFILE, as_built) if entry.name == DOCKERFILE else entry for entry in found)


def lay_out(found: Iterable[Entry], target: Path) -> None:
    """Write the entries into an empty folder of ours, with their modes and one time for all."""
    made = [(entry, target / entry.name) for entry in found]
    for entry, path in made:
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.link is not None:
            path.symlink_to(entry.link)
        elif entry.content is None:
            path.mkdir(exist_ok=True)
        else:
            with entry.read() as source, path.open("xb") as copy:
                shutil.copyfileobj(source, copy)
    for entry, path in reversed(made):
        if entry.link is None:
            path.chmod(entry.mode)
        os.utime(path, (MTIME, MTIME), follow_symlinks=False)


def _ignored(folder: Path) -> list[str]:
    """The patterns of .dockerignore."""
    text = (_read(folder, IGNORE_FILE) or b"").decode("utf-8-sig", errors="surrogateescape")
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _read(folder: Path, name: str) -> bytes | None:
    """A file's bytes, None if it is not there. A link out of the folder could lead to any file of the host."""
    path = folder / name
    if not os.path.lexists(path):
        return None
    real = path.resolve()
    if not real.is_relative_to(folder.resolve()) or not real.is_file():
        raise TaskError("is not a file of this folder", where=path, hint="Put a copy of the file there.")
    return real.read_bytes()


def _digest(found: Iterable[Entry]) -> str:
    whole = hashlib.sha256(b"hbench context 1\n")
    for entry in found:
        kind = "link" if entry.link is not None else "folder" if entry.content is None else "file"
        head = f"{kind} {entry.mode:o} {entry.name}\0{entry.link or ''}\0"
        whole.update(head.encode(errors="surrogateescape"))
        if kind == "file":
            with entry.read() as stream:
                whole.update(hashlib.file_digest(stream, "sha256").digest())
    return whole.hexdigest()
