"""Copies what a container holds into a host folder. Every name, size and byte in the archive may be hostile.

Only regular files and folders come out, only below the destination, never over what is there already. The rest is
listed with the reason.
"""

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hbench.container.names import Admitted, RefusedNameError, checked, matches, parts_of
from hbench.container.tarstream import MalformedError, Member, TarStream
from hbench.text import safe

_ONE_FILE_CAP_BYTES = 16 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_SUCH_NAME = {errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL}
_IN_THE_WAY = {errno.EEXIST, errno.ENOTDIR, errno.ELOOP, errno.EISDIR}


@dataclass(frozen=True, kw_only=True)
class Caps:
    """How much of one archive is taken.

    Attributes:
        total_bytes: Written in all.
        file_bytes: Written to one file; a larger one is left out.
        entries: Files, folders, and what is skipped.
        depth: Folders in folders.
        stream_bytes: Read in all, with what is left out.
    """

    total_bytes: int = 256 << 20
    file_bytes: int = 64 << 20
    entries: int = 10_000
    depth: int = 32
    stream_bytes: int = 2 << 30


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something left out: its name, safe to print, and the reason as a phrase."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Unpacked:
    """What came out.

    Attributes:
        files: Paths relative to the destination, in the archive's order; "" where the destination itself is the file.
        skipped: What did not, except what was to be excluded.
        capped: The first cap that was reached, in words; None if none was.
    """

    files: tuple[str, ...]
    size_bytes: int
    skipped: tuple[Skipped, ...]
    capped: str | None


class _CapReached(Exception):  # noqa: N818 - nothing is wrong; the rest is just not read
    pass


_DEFAULT_CAPS = Caps()


def unpack(
    chunks: Iterable[bytes], destination: Path, *, caps: Caps = _DEFAULT_CAPS, exclude: Sequence[str] = ()
) -> Unpacked:
    """Make the archive's root, which is what the engine was asked for, the host's `destination`.

    Args:
        chunks: The tar stream. The caller closes it: after a cap it has not been read to its end.
        destination: A folder, made if missing, or the file to be: as the archive's root is one or the other.
        exclude: What to leave out, see `hbench.container.names.matches`.

    Raises:
        TruncatedError: The stream broke off; what was whole until then is there.
    """
    stream = TarStream(chunks)
    target = _Target(destination=destination, caps=caps, exclude=exclude)
    try:
        while (member := stream.next()) is not None:
            target.take(member, stream)
        stream.finish()
    except MalformedError as problem:
        target.skipped.append(Skipped("(the rest)", f"cannot be read: {problem}"))
    except _CapReached as cap:
        target.capped = target.capped or str(cap)
    return Unpacked(
        files=tuple(target.files),
        size_bytes=target.size_bytes,
        skipped=tuple(target.skipped),
        capped=target.capped,
    )


def only_file(chunks: Iterable[bytes], *, cap_bytes: int = _ONE_FILE_CAP_BYTES) -> bytes | None:
    """The bytes of an archive that is one regular file; None for anything else or a larger one."""
    stream = TarStream(chunks)
    try:
        member = stream.next()
        if member is None or member.kind != "file" or member.size > cap_bytes:
            return None
        data = b"".join(stream.body())
        if stream.next() is not None:
            return None
    except MalformedError:
        return None
    stream.finish()
    return data


@dataclass(kw_only=True)
class _Target:
    """The destination as it fills."""

    destination: Path
    caps: Caps
    exclude: Sequence[str]
    files: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    capped: str | None = None
    size_bytes: int = 0
    streamed_bytes: int = 0
    entries: int = 0
    root: tuple[bytes, ...] | None = None
    admitted: Admitted = field(default_factory=Admitted)

    def take(self, member: Member, stream: TarStream) -> None:
        """Write the member, or list why not."""
        self.streamed_bytes += member.size
        if self.streamed_bytes > self.caps.stream_bytes:
            raise _CapReached(f"more than {self.caps.stream_bytes} bytes to read")
        if self.entries == self.caps.entries:
            raise _CapReached(f"more than {self.caps.entries} entries")
        try:
            parts = self._parts(member.name)
            if self.exclude and matches("/".join(parts), self.exclude):
                return
            self._write(member, parts, stream)
        except RefusedNameError as reason:
            self.skipped.append(Skipped(safe(member.name.decode(errors="replace")), str(reason)))
        self.entries += 1

    def _parts(self, name: bytes) -> tuple[str, ...]:
        """Where below the destination; the first member is the archive's root."""
        parts = parts_of(name)
        if self.root is None:
            self.root = parts
        if name.startswith(b"/") or parts[: len(self.root)] != self.root:
            raise RefusedNameError("is not below what was asked for")
        return checked(parts[len(self.root) :], depth=self.caps.depth)

    def _write(self, member: Member, parts: tuple[str, ...], stream: TarStream) -> None:
        if member.kind not in ("file", "folder"):
            raise RefusedNameError(f"is a {member.kind}")
        is_folder = member.kind == "folder"
        if member.size > self.caps.file_bytes:
            self.capped = self.capped or f"a file of more than {self.caps.file_bytes} bytes"
            raise RefusedNameError(f"is larger than {self.caps.file_bytes} bytes")
        if self.size_bytes + member.size > self.caps.total_bytes:
            raise _CapReached(f"more than {self.caps.total_bytes} bytes")
        self.admitted.admit(parts, is_folder=is_folder)
        with _host_problems():
            *above, name = (self.destination.name, *parts)
            with self._folder([*above, name] if is_folder else above) as folder:
                if not is_folder:
                    self.size_bytes += _write_file(folder, name, stream)
                    self.files.append("/".join(parts))

    @contextlib.contextmanager
    def _folder(self, parts: Sequence[str]) -> Iterator[int]:
        """A descriptor of the folder, made if missing; no link is followed below the destination's parent."""
        self.destination.parent.mkdir(parents=True, exist_ok=True)
        current = os.open(self.destination.parent, _FOLDER)
        try:
            for part in parts:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, 0o755, dir_fd=current)
                inner = os.open(part, _FOLDER, dir_fd=current)
                os.close(current)
                current = inner
            yield current
        finally:
            os.close(current)


def _write_file(folder: int, name: str, stream: TarStream) -> int:
    """The member's bytes as a new file; returns how many. A file that does not get whole is removed."""
    descriptor = os.open(name, _CREATE, 0o644, dir_fd=folder)
    size = 0
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            for piece in stream.body():
                view = piece
                while view:
                    view = view[file.write(view) :]
                size += len(piece)
    except BaseException:
        os.unlink(name, dir_fd=folder)
        raise
    return size


@contextlib.contextmanager
def _host_problems() -> Iterator[None]:
    """A name that the host's file system will not have is left out; a full disk is the host's own trouble."""
    try:
        yield
    except OSError as problem:
        if problem.errno in _IN_THE_WAY:
            raise RefusedNameError("would take the place of what is there already") from problem
        if problem.errno in _NO_SUCH_NAME:
            raise RefusedNameError("has a name that this file system does not take") from problem
        raise
