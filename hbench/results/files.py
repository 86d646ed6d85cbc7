"""The files of a job folder: written whole or not at all, read without trust.

One JSON style everywhere: keys in the order given, two spaces, UTF-8, finite numbers, a newline at the end.
"""

import contextlib
import json
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hbench.errors import SealError

M = TypeVar("M", bound=BaseModel)

MAX_JSON_BYTES = 64 * 2**20
"""More than hbench ever writes into one file; a larger one is refused unread."""

PART_SUFFIX = ".hbench-part"
"""How the temporary name of a file that is being written ends."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def write_json(path: Path, obj: Any, *, sync_folder: bool = False) -> None:
    """Write `obj` to `path` in hbench's JSON style; see `write_bytes`."""
    write_bytes(path, dump_json(obj, where=path), sync_folder=sync_folder)


def write_bytes(path: Path, data: bytes, *, sync_folder: bool = False) -> None:
    """Put `data` at `path` so that a reader, or a crash, sees the old file or the new one and nothing between.

    With `sync_folder` the folder's entry is flushed too, so that the name survives a power cut.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART_SUFFIX}")
    try:
        try:
            _write_synced(part, data)
            part.replace(path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        if sync_folder:
            _sync_folder(path.parent)
    except OSError as problem:
        raise SealError(
            f"cannot be written: {problem.strerror}", where=path, hint="Make room or correct the rights, then resume."
        ) from problem


def _write_synced(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, _CREATE, 0o666), "wb", buffering=0) as file:
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep_parts(folder: Path) -> None:
    """Remove what a killed writer left half-written directly in `folder`."""
    for part in folder.glob(f".*{PART_SUFFIX}"):
        with contextlib.suppress(FileNotFoundError):
            part.unlink()


def read_bytes(path: Path, *, limit: int = MAX_JSON_BYTES) -> bytes:
    """The content of a regular file of at most `limit` bytes; anything else is a SealError naming it."""
    try:
        with os.fdopen(os.open(path, _READ), "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise SealError("is not a regular file", where=path)
            chunks, room = [], limit + 1
            while room > 0 and (chunk := file.read(room)):
                chunks.append(chunk)
                room -= len(chunk)
    except FileNotFoundError as problem:
        raise SealError("is missing", where=path) from problem
    except OSError as problem:
        raise SealError(f"cannot be read: {problem.strerror}", where=path) from problem
    data = b"".join(chunks)
    if len(data) > limit:
        raise SealError(f"is larger than {limit} bytes", where=path)
    return data


def read_json(path: Path) -> Any:
    """The JSON value in `path`; whatever is wrong with it is a SealError naming the file."""
    return load_json(read_bytes(path), where=path)


def read_model(path: Path, model: type[M]) -> M:
    """The JSON file as `model`, types taken strictly; whatever is wrong with it is a SealError naming file and key."""
    return as_model(read_json(path), model, where=path)


def as_model(value: Any, model: type[M], *, where: str | Path) -> M:
    """`value` as `model`, types taken strictly; the first fault is a SealError naming the key."""
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False, include_context=False)[0]
        key = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise SealError(f"{key}: {first['msg'].removeprefix('Value error, ')}", where=where) from problem


def dump_json(obj: Any, *, where: str | Path) -> bytes:
    """`obj` in hbench's JSON style; NaN, infinity and text that is not Unicode are a SealError naming `where`."""
    try:
        return (json.dumps(obj, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except (ValueError, TypeError) as problem:
        raise SealError(f"cannot be written as JSON: {problem}", where=where) from problem


def load_json(data: bytes, *, where: str | Path) -> Any:
    """The JSON value: each name stands once, numbers are finite, text is Unicode; else a SealError naming `where`."""
    try:
        text = data.decode()
        value = json.loads(text, object_pairs_hook=_object, parse_float=_finite, parse_constant=_refuse_constant)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeDecodeError as problem:
        raise SealError(f"is not UTF-8 at byte {problem.start}", where=where) from problem
    except UnicodeEncodeError as problem:
        raise SealError("has half a surrogate pair in a text", where=where) from problem
    except RecursionError as problem:
        raise SealError("is nested too deeply", where=where) from problem
    except ValueError as problem:
        raise SealError(f"is not valid JSON: {problem}", where=where) from problem
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i]))
        raise ValueError(f"the key {twice!a} stands twice")
    return made


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"the number {text[:20]} is not finite")
    return number


def _refuse_constant(text: str) -> float:
    raise ValueError(f"{text} is no number")
