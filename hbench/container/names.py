"""Which names out of a container may become names on the host."""

import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase

_NAME_CAP_BYTES = 255
_PATH_CAP_BYTES = 1024
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


class RefusedNameError(ValueError):
    """The name stays where it is; the message is the reason as a phrase."""


def parts_of(name: bytes) -> tuple[bytes, ...]:
    """The components of a path, without what means nothing (`.`, doubled slashes)."""
    return tuple(part for part in name.split(b"/") if part not in (b"", b"."))


def checked(parts: Sequence[bytes], *, depth: int) -> tuple[str, ...]:
    """The components as text, if each can be shown, stored and sealed anywhere.

    Raises:
        RefusedNameError: One cannot.
    """
    if b".." in parts:
        raise RefusedNameError("has .. in its name")
    if len(parts) > depth:
        raise RefusedNameError(f"is more than {depth} folders deep")
    if any(len(part) > _NAME_CAP_BYTES for part in parts) or sum(map(len, parts)) + len(parts) > _PATH_CAP_BYTES:
        raise RefusedNameError("has too long a name")
    try:
        texts = tuple(part.decode() for part in parts)
    except UnicodeDecodeError as problem:
        raise RefusedNameError("has a name that is not UTF-8") from problem
    if any(unicodedata.category(character) in _HIDDEN for text in texts for character in text):
        raise RefusedNameError("has a control or hidden character in its name")
    return texts


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a shell pattern fits the path, a folder above it, or the end of either after a slash.

    As in `tar --exclude`: `*` also matches slashes, so `*.pyc` and `node_modules` mean at any depth.
    """
    parts = path.split("/")
    ends = range(1, len(parts) + 1)
    return any(
        fnmatchcase("/".join(parts[start:end]), pattern.strip("/"))
        for pattern in patterns
        for end in ends
        for start in range(end)
    )


class Admitted:
    """The paths taken so far. Two that a file system without case or Unicode form would merge are the same path."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, bool]] = {}

    def admit(self, parts: Sequence[str], *, is_folder: bool) -> None:
        """Take the path in, and the folders above it.

        Raises:
            RefusedNameError: It is there already, or under a name like it, or something above it is a file.
        """
        for end in range(1, len(parts)):
            self._take("/".join(parts[:end]), is_folder=True)
        if parts:
            self._take("/".join(parts), is_folder=is_folder, is_last=True)

    def _take(self, path: str, *, is_folder: bool, is_last: bool = False) -> None:
        folded = _folded(path)
        if folded not in self._known:
            self._known[folded] = (path, is_folder)
            return
        known, was_folder = self._known[folded]
        if known != path:
            raise RefusedNameError(f"is, but for case or Unicode form, the same name as {known!r}")
        if was_folder != is_folder or (is_last and not is_folder):
            raise RefusedNameError("is there twice" if is_last else "lies below a file")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
