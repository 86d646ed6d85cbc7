"""Every file of a job folder: what kind it is, its size and its sha256, read once and never followed anywhere."""

import hashlib
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hbench.results.fault import Fault
from hbench.results.files import MAX_JSON_BYTES
from hbench.text import escaped

LOCK = "lock.json"
RESULT = "result.json"
JOURNAL = "journal.jsonl"
MANIFEST = "manifest.json"
REWARD_TXT = "verifier/reward.txt"
REWARD_JSON = "verifier/reward.json"
OWN_FILES = frozenset({LOCK, RESULT, JOURNAL, MANIFEST})
"""What lies beside the trial folders."""

_IN_A_TRIAL = re.compile(r"(?:attempts/[0-9]+/)?(?:lock\.json|result\.json|trial\.log)")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_SMALL_BYTES = 2**20


class Entry(NamedTuple):
    """One regular file: its sha256 in hex and its size in bytes."""

    sha256: str
    size: int


@dataclass(kw_only=True)
class Tree:
    """What lies in a job folder. Paths are relative to it, with slashes.

    Attributes:
        files: Every regular file.
        kept: The content of those that were asked for.
        folders: The folders directly in the job folder.
        faults: What cannot be sealed: links, sockets, names that are not text, files that cannot be read.
    """

    files: dict[str, Entry] = field(default_factory=dict)
    kept: dict[str, bytes] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    faults: list[Fault] = field(default_factory=list)


def is_sealable(name: str) -> bool:
    """Whether a file of this name (or relative path) can be sealed: Unicode text without control characters."""
    if name.isascii() and name.isprintable():
        return True
    return not any(c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" for c in name)


def says_what_happened(path: str) -> bool:
    """Whether hbench derives figures from this file: locks, results, the journal, the seal, reward files."""
    head, _, rest = path.partition("/")
    return head in OWN_FILES if not rest else rest in {LOCK, RESULT, REWARD_TXT, REWARD_JSON}


def is_written_by_hbench(path: str) -> bool:
    """Whether hbench answers for every word in this file; those of an earlier start in `attempts/N/` count."""
    head, _, rest = path.partition("/")
    return head in OWN_FILES if not rest else _IN_A_TRIAL.fullmatch(rest) is not None


def scan(folder: Path, *, keep: Callable[[str], bool]) -> Tree:
    """Read every file below `folder` once."""
    tree = Tree()
    waiting = [""]
    while waiting:
        inside = waiting.pop()
        try:
            with os.scandir(folder / inside) as entries:
                found = list(entries)
        except OSError as problem:
            tree.faults.append(Fault(escaped(inside) or ".", f"cannot be read: {problem.strerror}"))
            continue
        for entry in found:
            path = f"{inside}/{entry.name}" if inside else entry.name
            if not is_sealable(entry.name):
                tree.faults.append(
                    Fault(escaped(path), "has a name with control characters or bytes that are not UTF-8")
                )
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(path)
                if not inside:
                    tree.folders.add(path)
            elif entry.is_file(follow_symlinks=False):
                _add(tree, path, entry.path, wanted=keep(path))
            else:
                kind = "a symbolic link" if entry.is_symlink() else "not a regular file"
                tree.faults.append(Fault(escaped(path), f"is {kind}"))
    return tree


def _add(tree: Tree, path: str, full_path: str, *, wanted: bool) -> None:
    try:
        entry, data = _read(full_path, wanted=wanted)
    except OSError as problem:
        tree.faults.append(Fault(escaped(path), f"cannot be read: {problem.strerror}"))
        return
    tree.files[path] = entry
    if wanted and data is None:
        tree.faults.append(Fault(escaped(path), f"is larger than {MAX_JSON_BYTES} bytes"))
    elif wanted and data is not None:
        tree.kept[path] = data


def _read(full_path: str, *, wanted: bool) -> tuple[Entry, bytes | None]:
    """The file's entry, and its content if it is small or wanted and not too large."""
    descriptor = os.open(full_path, _READ)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is no longer a regular file")
        if status.st_size <= (MAX_JSON_BYTES if wanted else _SMALL_BYTES):
            data = _read_all(descriptor, status.st_size)
            return Entry(hashlib.sha256(data).hexdigest(), len(data)), data
        hasher, size = hashlib.sha256(), 0
        while chunk := os.read(descriptor, _SMALL_BYTES):
            hasher.update(chunk)
            size += len(chunk)
        return Entry(hasher.hexdigest(), size), None
    finally:
        os.close(descriptor)


def _read_all(descriptor: int, size: int) -> bytes:
    first = os.read(descriptor, size + 1)
    if len(first) == size:
        return first
    chunks = [first]
    while chunk := os.read(descriptor, _SMALL_BYTES):
        chunks.append(chunk)
    return b"".join(chunks)
