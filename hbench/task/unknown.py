"""Keys of task.toml that no table has: kept, and told to the person."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from hbench.tomlfile import dotted, known_keys, nearest
from hbench.tomllines import Location, key_lines

MOST_WARNINGS = 20


def unknown_keys(document: Mapping[str, Any], model: type[BaseModel], *, text: str, file: str) -> tuple[str, ...]:
    """One warning for each key of `document` that `model` does not have: file, line and the nearest known key.

    Args:
        document: The file's values.
        model: What they should fit.
        text: The file itself, for the lines.
        file: How the warnings call it.
    """
    unknown = list(_unknown(document, model, ()))
    lines = key_lines(text) if unknown else {}
    warnings = [_warning(place, model, f"{file}:{lines.get(place, 1)}") for place in unknown[:MOST_WARNINGS]]
    more = len(unknown) - len(warnings)
    return (*warnings, f"{file}: {more} more unknown keys") if more else tuple(warnings)


def _warning(location: Location, model: type[BaseModel], where: str) -> str:
    hint = nearest(str(location[-1]), known_keys(model, location))
    return f'{where}: unknown key "{dotted(location)}" is kept but changes nothing. {hint}'


def _unknown(value: Any, model: type[BaseModel], location: Location) -> Iterator[Location]:
    """Where a key stands that its table does not have; a table with keys of its own choice has every key."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown(item, model, (*location, index))
    elif isinstance(value, Mapping) and (known := known_keys(model, (*location, ""))):
        for key, item in value.items():
            if key in known:
                yield from _unknown(item, model, (*location, key))
            else:
                yield (*location, key)
