"""TOML text to pydantic model, with errors that name file, line, key and the nearest known key."""

import difflib
import re
import stat
import tomllib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hbench.errors import HbenchError
from hbench.text import safe
from hbench.tomllines import Location, key_lines
from hbench.tomlwords import message, shown

M = TypeVar("M", bound=BaseModel)
MOST_TEXT_BYTES = 2**20


def parse_toml(text: str, *, name: str, error: type[HbenchError]) -> dict[str, Any]:
    """The document as plain values; a syntax error is raised as `error` with its line."""
    try:
        return tomllib.loads(text)
    except RecursionError as problem:
        raise error("nested too deeply", where=name, hint="Write the value with fewer brackets.") from problem
    except tomllib.TOMLDecodeError as problem:
        line = re.search(r"at line (\d+)", str(problem))
        where = f"{name}:{line[1]}" if line else name
        raise error(f"not valid TOML: {problem}", where=where, hint="Correct the syntax of that line.") from problem
    except ValueError as problem:  # int() refuses thousands of digits
        raise error("holds a number of too many digits", where=name, hint="Write a shorter number.") from problem


def validate(
    data: Mapping[str, Any],
    model: type[M],
    *,
    text: str,
    name: str,
    error: type[HbenchError],
    flag_of: Callable[[Location], str | None] = lambda _: None,
) -> M:
    """`data` as `model`; the first fault is raised as `error` at the line where its key stands.

    Args:
        data: The document's values.
        model: What they should fit.
        text: The document that `data` was read from; empty if there is none: then no line is named.
        name: What a message calls it, usually its path.
        error: What is raised.
        flag_of: The flag of the command line that said the value at a place, None if a file did.
    """
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        lines = key_lines(text)
        first = min(problem.errors(), key=lambda fault: _closest(lines, fault["loc"]) or 0)
        loc = first["loc"]
        line = _closest(lines, loc)
        where = name if line is None else f"{name}:{line}"
        key = dotted(loc)
        if first["type"] == "extra_forbidden":
            known = known_keys(model, loc)
            raise error(f'unknown key "{key}"', where=where, hint=nearest(str(loc[-1]), known)) from problem
        flag = flag_of(loc)
        called = f'"{key}"' if flag is None else f'{flag} ("{key}")'
        what = message(first, key=key, is_table_list=_is_table_list(model, loc))
        raise error(f"{called}: {what}", where=where, hint=_got(first.get("input"))) from problem


def _is_table_list(model: type[BaseModel], loc: Location) -> bool:
    """Whether there is a list of tables at `loc`, or an entry of one."""
    return bool(known_keys(model, (*loc, "") if isinstance(loc[-1], int) else (*loc, 0, "")))


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that lists what is known and asks whether the closest one was meant."""
    listed = f"Known: {', '.join(sorted(known))}."
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f'{listed} Did you mean "{close[0]}"?' if close else listed


def dotted(loc: Location) -> str:
    """The location as a person writes it: `harness.options.effort`, without the indices."""
    return safe(".".join(str(part) for part in loc if isinstance(part, str)))


def _got(value: Any) -> str | None:
    """What stands there, so that a message about it need not be looked up. None where it is too much to show."""
    if value is None or isinstance(value, dict | list):
        return None
    return f"It says {shown(value)}; correct it."


def known_keys(model: type[BaseModel], loc: Location) -> list[str]:
    """The keys that are allowed where `loc` points, aliases included."""
    annotation: Any = model
    for part in loc[:-1]:
        annotation = _inside(annotation, part)
    table = _model_in(annotation)
    return [] if table is None else [field.alias or key for key, field in table.model_fields.items()]


def _inside(annotation: Any, part: int | str) -> Any:
    """The type of the field, list item or dict value that `part` names in `annotation`."""
    table = _model_in(annotation)
    if table is not None and isinstance(part, str):
        fields = table.model_fields
        field = fields.get(part) or next((f for f in fields.values() if f.alias == part), None)
        return None if field is None else field.annotation
    for choice in _choices(annotation):
        if typing.get_origin(choice) in (list, tuple, dict):
            return typing.get_args(choice)[-1 if isinstance(part, str) else 0]
    return None


def _model_in(annotation: Any) -> type[BaseModel] | None:
    models = (c for c in _choices(annotation) if isinstance(c, type) and issubclass(c, BaseModel))
    return next(models, None)


def _choices(annotation: Any) -> tuple[Any, ...]:
    """The members of a union, or the one type."""
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    return typing.get_args(annotation) if is_union else (annotation,)


def line_of(text: str, loc: Location) -> int | None:
    """The 1-based line where the key at `loc` stands, or the closest enclosing table's line."""
    return _closest(key_lines(text), loc)


def _closest(lines: Mapping[Location, int], loc: Location) -> int | None:
    enclosing = (loc[:depth] for depth in range(len(loc), 0, -1))
    return next((lines[path] for path in enclosing if path in lines), None)


def read_text(path: Path, *, error: type[HbenchError], hint: str) -> str:
    """The file's text, decoded as UTF-8 (a byte order mark is dropped) with an error that names the file.

    It is looked at before it is opened: a pipe would never answer, a device never end.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise error("is not a regular file", where=path, hint=hint)
        if status.st_size > MOST_TEXT_BYTES:
            raise error("is larger than 1 MiB", where=path, hint=hint)
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError as problem:
        raise error("no such file", where=path, hint=hint) from problem
    except UnicodeDecodeError as problem:
        raise error(f"not UTF-8 at byte {problem.start}", where=path, hint="Save the file as UTF-8.") from problem
    except OSError as problem:
        raise error(f"cannot be read: {problem.strerror}", where=path, hint=hint) from problem
