"""Names of tasks and harnesses as names of folders, on every file system."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

MAX_SLUG = 80
"""Characters, all ASCII."""

_PLAIN = re.compile(r"[a-z0-9_][a-z0-9._-]*")
_TAGGED = re.compile(r"-[0-9a-f]{8}$")
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}


def slugs(names: Iterable[str]) -> dict[str, str]:
    """Each name's folder name, no two the same on a file system that ignores case.

    A name that is safe as it is stays; `org/name` becomes `name` where no other of these names is or becomes that;
    any other is made safe and tagged with 8 hex of its sha256.

    Raises:
        ValueError: Two names were made to share a slug, tag and all.
    """
    names = sorted(set(names))
    uses = Counter(_last_part(name) for name in names)
    found = {name: _slug(name, is_free=uses[_last_part(name)] == 1) for name in names}
    shared = [slug for slug, count in Counter(slug.lower() for slug in found.values()).items() if count > 1]
    if shared:
        raise ValueError(f"two names become {shared[0]}")
    return found


def _slug(name: str, *, is_free: bool) -> str:
    """`is_free`: no other name ends in the same part."""
    part = _last_part(name)
    return part if is_plain(part) and (part == name or is_free) else tagged(name)


def _last_part(name: str) -> str:
    """The `name` of `org/name`, else all of it."""
    return name.partition("/")[2] or name


def tagged(name: str) -> str:
    """`name` made safe, with 8 hex of its sha256 so that no other name becomes the same."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{cleaned(name, MAX_SLUG - 9)}-{digest[:8]}"


def cleaned(name: str, width: int) -> str:
    """`name` in at most `width` letters, digits, dots, dashes and underscores; other names may become the same."""
    kept = _OTHER.sub("-", name).lstrip(".-")[:width].rstrip(".-")
    return f"_{kept}"[:width] if _is_reserved(kept) else kept or "_"


def is_plain(name: str) -> bool:
    """Whether a folder may be called so on any file system, and the name cannot be taken for a tagged one."""
    fits = len(name) <= MAX_SLUG and _PLAIN.fullmatch(name) is not None and not name.endswith(".")
    return fits and not _is_reserved(name) and _TAGGED.search(name) is None


def _is_reserved(name: str) -> bool:
    """Whether Windows keeps the name for a device, with or without an extension."""
    return name.partition(".")[0].lower() in _RESERVED
