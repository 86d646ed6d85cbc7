"""Three digests of a task folder: ours, Harbor's package digest, and the `dirhash` that Harbor calls its checksum.

**hbench.** sha256 over `hbench-task 1` and a newline, then over one line for each file and link, sorted by path:

    file NUL path NUL mode NUL size NUL sha256hex NEWLINE
    link NUL path NUL target NEWLINE

in UTF-8. `mode` is four octal digits: the owner's executable bit (0100) and the set-id and sticky bits; the other bits
come from the umask of whoever checked the task out. `size` is decimal, in bytes. No field can hold NUL and the number
of fields is fixed, so no two folders share a text. Empty folders do not count, as in git.

**harbor.** sha256 over lines `path NUL sha256hex NEWLINE`, sorted by path, of task.toml, instruction.md, README.md,
trajectory.json and the files under environment/, tests/, solution/ and steps/, without those that the task's .gitignore
matches (without one: Python's, macOS's and editors' leftovers). A link to a file counts as that file.

**dirhash.** sha256 by the `dirhash` package of everything in the folder, links followed.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from hbench.errors import TaskError
from hbench.task.model import Digests
from hbench.task.tree import Entry, entries

_DEFAULT_IGNORES = ("__pycache__/", "*.pyc", ".DS_Store", "*.swp", "*.swo", "*~")
_SINGLE_FILES = frozenset({"task.toml", "instruction.md", "README.md", "trajectory.json"})
_FOLDERS = ("environment/", "tests/", "solution/", "steps/")
_IDENTIFYING_BITS = 0o7100


def digests(folder: Path) -> Digests:
    """The three digests of `folder`.

    Raises:
        TaskError: Something in it has no place in a task or cannot be read.
    """
    return digests_of(folder, entries(folder))


def digests_of(folder: Path, tree: Iterable[Entry]) -> Digests:
    """The three digests of `folder`, whose files are `tree`."""
    tree = tuple(tree)
    contents = {entry.path: _sha256(folder / entry.path) for entry in tree if (folder / entry.path).is_file()}
    return Digests(hbench=_hbench(tree, contents), harbor=_harbor(folder, contents), dirhash=_dirhash(folder))


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as problem:
        raise TaskError(f"cannot be read: {problem.strerror}", where=path, hint="Make it readable.") from problem


def _hbench(tree: Iterable[Entry], contents: dict[str, str]) -> str:
    text = hashlib.sha256(b"hbench-task 1\n")
    for entry in tree:
        fields: tuple[str, ...] = ("link", entry.path, entry.target or "")
        if entry.target is None:
            mode = f"{entry.mode & _IDENTIFYING_BITS:04o}"
            fields = ("file", entry.path, mode, str(entry.size), contents[entry.path])
        text.update(("\0".join(fields) + "\n").encode())
    return text.hexdigest()


def _harbor(folder: Path, contents: dict[str, str]) -> str:
    from pathspec import PathSpec  # noqa: PLC0415 - slow to import, and only tasks need it

    gitignore = folder / ".gitignore"
    try:
        # A byte order mark stays, as a part of the first pattern: the digest must be Harbor's.
        ignores = gitignore.read_text(encoding="utf-8").splitlines() if gitignore.exists() else _DEFAULT_IGNORES
        ignored = PathSpec.from_lines("gitignore", ignores)
    except (OSError, ValueError) as problem:
        hint = "Correct or remove it; it decides which files belong to Harbor's digest."
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise TaskError(f"cannot be used: {reason}", where=gitignore, hint=hint) from problem
    text = hashlib.sha256()
    for path in sorted(contents):
        packaged = path in _SINGLE_FILES or path.startswith(_FOLDERS)
        if packaged and not ignored.match_file(path):
            text.update(f"{path}\0{contents[path]}\n".encode())
    return text.hexdigest()


def _dirhash(folder: Path) -> str:
    from dirhash import dirhash  # noqa: PLC0415 - slow to import, and only tasks need it

    try:
        return str(dirhash(folder, "sha256"))
    except OSError as problem:
        where = problem.filename or folder
        raise TaskError(f"cannot be read: {problem.strerror}", where=where, hint="Make it readable.") from problem
