"""The order of trials: seeded, and the same on every machine and every Python."""

import hashlib
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


def shuffled(items: Iterable[T], name: Callable[[T], str], *salt: str | int) -> list[T]:
    """`items` in an order that depends on nothing but their names and the salt.

    They are sorted by a sha256: neither how `random` draws nor in which order they came plays a part.
    """
    head = "\0".join(str(part) for part in salt)

    def key(item: T) -> bytes:
        return hashlib.sha256(f"{head}\0{name(item)}".encode("utf-8", "surrogatepass")).digest()

    return sorted(items, key=key)
