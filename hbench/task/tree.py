"""Every file of a task folder, checked before anything in it is opened.

A task is other people's work: a link out of it, a pipe, or a name that rewrites the terminal must not get further.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from hbench.errors import TaskError
from hbench.text import is_absurd

MOST_BYTES = 10 * 2**30
DEEPEST = 100
MOST_VISITS = 1_000_000
WHY_ABSURD = "it holds control or direction characters, is not UTF-8, or is too long"
_TOP = ("environment", "tests", "solution", "steps", "baselines")


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A file or symbolic link.

    Attributes:
        path: Relative to the task folder, with forward slashes.
        mode: The mode bits, without the file's kind.
        target: The link's text as it stands; None for a file.
    """

    path: str
    mode: int
    size: int
    target: str | None = None


def entries(folder: Path) -> tuple[Entry, ...]:
    """All files and links below `folder`, sorted by path; links are not followed.

    Raises:
        TaskError: Something that has no place in a task, or cannot be read.
    """
    try:
        found = tuple(sorted(_walk(folder), key=lambda entry: entry.path))
        _check_links(folder, found)
    except OSError as problem:
        where = problem.filename or folder
        raise TaskError(f"cannot be read: {problem.strerror}", where=where, hint="Make it readable.") from problem
    if sum(entry.size for entry in found) > MOST_BYTES:
        raise TaskError(f"holds more than {MOST_BYTES // 2**30} GiB", where=folder, hint="Take large files out of it.")
    return found


def _walk(folder: Path) -> Iterator[Entry]:
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        if prefix.count("/") > DEEPEST:
            raise TaskError(f"folders lie more than {DEEPEST} deep", where=folder, hint="Flatten the task's folders.")
        with os.scandir(folder / prefix) as found:
            for item in found:
                path = prefix + item.name
                if is_absurd(item.name):
                    hint = "Rename it without control characters."
                    raise TaskError(f"the name {path!r} cannot be used: {WHY_ABSURD}", where=folder, hint=hint)
                if item.is_dir(follow_symlinks=False):
                    waiting.append(f"{path}/")
                else:
                    yield _entry(folder, path, item)


def _entry(folder: Path, path: str, item: os.DirEntry[str]) -> Entry:
    status = item.stat(follow_symlinks=False)
    mode = stat.S_IMODE(status.st_mode)
    if stat.S_ISREG(status.st_mode):
        return Entry(path=path, mode=mode, size=status.st_size)
    if stat.S_ISLNK(status.st_mode):
        target = os.readlink(item.path)  # noqa: PTH115 - a Path would not keep its exact text
        _check_target(folder, path, target)
        return Entry(path=path, mode=mode, size=status.st_size, target=target)
    hint = "A task holds files, folders and symbolic links."
    raise TaskError("is a device, pipe or socket", where=folder / path, hint=hint)


def _check_target(folder: Path, path: str, target: str) -> None:
    root, real = os.path.realpath(folder), os.path.realpath(folder / path)
    lexical = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120 - text, not a file
    inside = os.path.commonpath((root, real)) == root
    if not inside or target.startswith("/") or lexical.split("/")[0] == "..":
        hint = "Copy the file into the task."
        raise TaskError(f"the symbolic link to {target!r} leaves the task folder", where=folder / path, hint=hint)
    if any(is_absurd(part) for part in target.split("/")):
        hint = "Rename it without control characters."
        raise TaskError(f"the symbolic link's target {target!r} cannot be used", where=folder / path, hint=hint)
    if path in _TOP and (folder / path).is_dir():
        hint = "Put the folder in the link's place."
        raise TaskError("must be a folder itself, not a symbolic link to one", where=folder / path, hint=hint)


def _check_links(folder: Path, found: tuple[Entry, ...]) -> None:
    """Refuse links that make a walk of the folder endless, or so long that nobody could wait for its end."""
    links = [folder / entry.path for entry in found if entry.target is not None]
    to_folders = [link for link in links if stat.S_ISDIR(_kind(link))]
    if not to_folders:
        return
    inside: dict[str, list[str]] = {}
    for parent, names, _ in os.walk(folder):
        here = os.path.realpath(parent)
        inside[here] = [os.path.realpath(Path(parent, name)) for name in names]
    visits: dict[str, int] = {}
    try:
        for place in TopologicalSorter(inside).static_order():
            visits[place] = 1 + sum(visits[child] for child in inside[place])
    except CycleError as problem:
        raise TaskError("symbolic links form a loop", where=to_folders[0], hint="Remove the link.") from problem
    if max(visits.values()) > MOST_VISITS:
        raise TaskError("symbolic links multiply the task's folders", where=to_folders[0], hint="Remove the links.")


def _kind(link: Path) -> int:
    """The mode of what the link points to, 0 where it points to nothing.

    Raises:
        OSError: The link points to itself.
    """
    try:
        return link.stat().st_mode
    except FileNotFoundError:
        return 0
