"""Tar archives to put into a container, and the safe way back (`unpack`, `only_file`)."""

import io
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from hbench.container.unpack import Caps, Skipped, Unpacked, only_file, unpack
from hbench.errors import TaskError

__all__ = ["Caps", "Entry", "Skipped", "Unpacked", "file", "folder", "only_file", "pack", "tree", "unpack"]

MTIME = 1_577_836_800
"""2020-01-01: what every packed file says, so that equal content is an equal archive. Zip cannot express 1970."""

_SCRIPT_CAP_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One file, folder or link to put into a container, owned by root.

    Attributes:
        name: Where, as a POSIX path; absolute, or relative to where the archive is unpacked.
        mode: Permission bits.
        content: A file's bytes, or the host file that holds them; None for a folder or link.
        link: Where a symbolic link points; None for a file or folder.
    """

    name: str
    mode: int
    content: bytes | Path | None = None
    link: str | None = None

    def read(self) -> io.BufferedReader | io.BytesIO:
        """A file's bytes as a stream."""
        if isinstance(self.content, Path):
            return os.fdopen(os.open(self.content, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb")
        return io.BytesIO(self.content or b"")


def folder(name: str, *, mode: int = 0o755) -> Entry:
    """A folder; one that is there already gets the mode."""
    return Entry(name=name, mode=mode)


def file(name: str, content: bytes | Path, *, mode: int = 0o644) -> Entry:
    """A file."""
    return Entry(name=name, mode=mode, content=content)


def tree(source: Path, target: str, *, unix_scripts: bool = False) -> list[Entry]:
    """The host folder `source` and all below it as entries at `target`, sorted, modes kept.

    Args:
        unix_scripts: Shell scripts with CR LF line ends get LF, which is what a shell in a container can read.

    Raises:
        TaskError: Something is neither a regular file, nor a folder, nor a link that stays in `source`.
    """
    root = source.resolve()
    result = [Entry(name=target, mode=stat.S_IMODE(root.stat().st_mode) & 0o777)]
    for path in _below(root):
        name = f"{target}/{path.relative_to(root).as_posix()}"
        entry = entry_of(path, name)
        if entry.link is not None and not _stays_inside(path, entry.link, root):
            what = f"the link leads out of the folder, to {entry.link!r}"
            raise TaskError(what, where=path, hint="Put a copy of the file there.")
        result.append(_with_unix_lines(entry) if unix_scripts and name.endswith(".sh") else entry)
    return result


def entry_of(path: Path, name: str) -> Entry:
    """What lies at `path`, itself and not what a link leads to; anything but file, folder or link is a TaskError."""
    status = path.lstat()
    mode = stat.S_IMODE(status.st_mode) & 0o777
    if stat.S_ISLNK(status.st_mode):
        return Entry(name=name, mode=0o777, link=os.readlink(path))  # noqa: PTH115 - a Path would lose "./" and "//"
    if stat.S_ISDIR(status.st_mode):
        return Entry(name=name, mode=mode)
    if stat.S_ISREG(status.st_mode):
        return Entry(name=name, mode=mode, content=path)
    raise TaskError("is neither a file, nor a folder, nor a link", where=path, hint="Remove it from the task.")


def pack(entries: Iterable[Entry]) -> IO[bytes]:
    """A tar archive of `entries` in a temporary file at its start; the caller closes it.

    Parents that are missing in the container are made by the engine. However large the files, memory stays small.
    """
    packed = tempfile.TemporaryFile()  # noqa: SIM115 - the caller's to close
    try:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for entry in entries:
                _add(archive, entry)
        packed.seek(0)
    except BaseException:
        packed.close()
        raise
    return packed


def _add(archive: tarfile.TarFile, entry: Entry) -> None:
    info = tarfile.TarInfo(entry.name.lstrip("/"))
    info.mode, info.mtime = entry.mode, MTIME
    if entry.link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, entry.link
        archive.addfile(info)
    elif entry.content is None:
        info.type = tarfile.DIRTYPE
        archive.addfile(info)
    else:
        with entry.read() as stream:
            info.size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            archive.addfile(info, stream)


def _below(root: Path) -> Iterator[Path]:
    for path in sorted(root.iterdir()):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _below(path)


def _stays_inside(path: Path, link: str, root: Path) -> bool:
    """Whether the link at `path` is relative and leads into `root`, also through other links."""
    if link.startswith("/"):
        return False
    lexically = Path(os.path.normpath(path.parent / link))
    try:
        really = path.resolve()
    except (OSError, RuntimeError):  # a loop leads nowhere, so not outside either
        really = lexically
    return lexically.is_relative_to(root) and really.is_relative_to(root)


def _with_unix_lines(entry: Entry) -> Entry:
    path = entry.content
    if not isinstance(path, Path) or path.stat().st_size > _SCRIPT_CAP_BYTES:
        return entry
    with entry.read() as stream:
        data = stream.read()
    if b"\r\n" not in data or b"\0" in data:
        return entry
    return Entry(name=entry.name, mode=entry.mode, content=data.replace(b"\r\n", b"\n"))
