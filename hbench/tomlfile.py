"""TOML text to pydantic model, with errors that name file, line, key and the nearest known key."""

import difflib
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hbench.errors import HbenchError

M = TypeVar("M", bound=BaseModel)

_HEADER = re.compile(r"^\s*(\[\[?)\s*(.+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*=")
Location = tuple[int | str, ...]


def parse_toml(text: str, *, name: str, error: type[HbenchError]) -> dict[str, Any]:
    """The document as plain values; a syntax error is raised as `error` with its line."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        line = re.search(r"at line (\d+)", str(problem))
        where = f"{name}:{line[1]}" if line else name
        raise error(f"not valid TOML: {problem}", where=where, hint="Correct the syntax of that line.") from problem


def validate(data: dict[str, Any], model: type[M], *, text: str, name: str, error: type[HbenchError]) -> M:
    """`data` as `model`; the first fault is raised as `error` at the line where its key stands."""
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        faults = problem.errors()
        first = min(faults, key=lambda fault: line_of(text, fault["loc"]) or 0)
        loc = first["loc"]
        line = line_of(text, loc)
        where = name if line is None else f"{name}:{line}"
        key = ".".join(str(part) for part in loc if isinstance(part, str))
        if first["type"] == "extra_forbidden":
            known = known_keys(model, loc)
            raise error(f'unknown key "{key}"', where=where, hint=nearest(str(loc[-1]), known)) from problem
        message = first["msg"].removeprefix("Value error, ")
        if first["type"] == "missing":
            message = "is required"
        raise error(f'"{key}": {message}', where=where, hint=_got(first.get("input"))) from problem


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that lists what is known and asks whether the closest one was meant."""
    listed = f"Known: {', '.join(sorted(known))}."
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f'{listed} Did you mean "{close[0]}"?' if close else listed


def _got(value: Any) -> str | None:
    if value is None or isinstance(value, dict | list):
        return None
    return f"The file says {value!r}; correct it."


def known_keys(model: type[BaseModel], loc: Location) -> list[str]:
    """The keys that are allowed where `loc` points, aliases included."""
    current: type[BaseModel] | None = model
    for part in loc[:-1]:
        if isinstance(part, int) or current is None:
            continue
        field = current.model_fields.get(part) or next(
            (f for f in current.model_fields.values() if f.alias == part), None
        )
        current = None if field is None else _inner_model(field.annotation)
    return [] if current is None else [f.alias or key for key, f in current.model_fields.items()]


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _inner_model(argument)
        if found is not None:
            return found
    return None


def line_of(text: str, loc: Location) -> int | None:
    """The 1-based line where the key at `loc` stands, or the closest enclosing table's line."""
    wanted = _canonical(loc)
    best: tuple[int, int] | None = None
    for line, path in _keys(text):
        shared = len(path) if wanted[: len(path)] == path else 0
        if shared and (best is None or shared > best[0]):
            best = (shared, line)
    return None if best is None else best[1]


def _canonical(loc: Location) -> tuple[int | str, ...]:
    return tuple(loc)


def _keys(text: str) -> Iterator[tuple[int, tuple[int | str, ...]]]:
    """(line, path) of each table header and each key; arrays of tables carry their index."""
    table: tuple[int | str, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    in_string: str | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if in_string is not None:
            in_string = None if line.count(in_string) % 2 else in_string
            continue
        header = _HEADER.match(line)
        key = _KEY.match(line)
        if header and not key:
            names = _split(header[2])
            if header[1] == "[[":
                counts[names] = counts.get(names, -1) + 1
            table = _indexed(names, counts)
            yield number, table
        elif key:
            yield number, (*table, *_split(key[1]))
        for quote in ('"""', "'''"):
            if line.count(quote) % 2:
                in_string = quote


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", dotted))


def _indexed(names: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> tuple[int | str, ...]:
    path: list[int | str] = []
    for depth, part in enumerate(names, start=1):
        path.append(part)
        if names[:depth] in counts:
            path.append(counts[names[:depth]])
    return tuple(path)


def read_text(path: Path, *, error: type[HbenchError], hint: str) -> str:
    """The file's text, decoded as UTF-8 with an error that names the file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as problem:
        raise error("no such file", where=path, hint=hint) from problem
    except UnicodeDecodeError as problem:
        raise error(f"not UTF-8 at byte {problem.start}", where=path, hint="Save the file as UTF-8.") from problem
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", where=path, hint=hint) from problem
