"""Where two JSON values are not the same."""

from collections.abc import Iterator
from typing import Any

from hbench.text import escaped

ABSENT = object()
"""Stands for a value whose key is not there."""


def differences(one: Any, other: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(dotted key, value in one, value in the other) of every leaf that is not the same; true is no 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in dict.fromkeys([*other, *one]):
            inner = f"{key}.{escaped(name)}" if key else escaped(name)
            yield from differences(one.get(name, ABSENT), other.get(name, ABSENT), inner)
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (item, counterpart) in enumerate(zip(one, other, strict=True)):
            yield from differences(item, counterpart, f"{key}[{index}]")
    elif one != other or isinstance(one, bool) != isinstance(other, bool):
        yield key, one, other
