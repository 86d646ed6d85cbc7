"""From a harness's name, a person's folder or a task's baseline script to an Adapter."""

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import NoReturn

from hbench.adapter.model import Adapter, AdapterFile
from hbench.errors import AdapterError
from hbench.shipped import shipped
from hbench.text import is_absurd
from hbench.tomlfile import nearest, parse_toml, read_text, validate

_FILE = "adapter.toml"
_LITTER = re.compile(r"__pycache__|\.git|\.DS_Store|.*~|\..*\.sw[a-p]|\.#.*|#.*#")
"""What editors, Python and git leave behind: no part of a harness, neither digested nor copied."""
_NAME_HINT = "Rename it without control and direction characters, in UTF-8."


def built_in_names() -> list[str]:
    """The harnesses that ship with hbench, sorted."""
    return sorted(file.parent.name for file in shipped("adapters").glob(f"*/{_FILE}"))


def find(name: str) -> Adapter:
    """The built-in harness of that name.

    Raises:
        AdapterError: No such name, or a path was given for one.
    """
    if "/" in name or "\\" in name:
        raise AdapterError(f'"{name}" is a path, not a name', hint="Give a harness's folder as `path`.")
    known = built_in_names()
    if name not in known:
        hint = nearest(name, known)
        if Path(name, _FILE).is_file():
            hint = f"The folder of that name holds an adapter: write ./{name}, as -a or as `path`."
        raise AdapterError(f'no adapter is named "{name}"', hint=hint)
    folder = shipped("adapters", name)
    return Adapter(name=name, spec=_spec(folder), folder=folder, digest=digest(folder), built_in=True)


def load(folder: Path) -> Adapter:
    """The harness in that folder, called `name@<12 hex of its digest>` unless it is a built-in's own folder.

    Raises:
        AdapterError: No such folder, or its adapter.toml or files cannot be used.
    """
    if not folder.is_dir():
        raise AdapterError(f"no such folder: {folder}", hint=f"Give a folder that holds an {_FILE}.")
    folder = folder.resolve()
    if folder.parent == shipped("adapters").resolve() and folder.name in built_in_names():
        return find(folder.name)
    if not (folder / _FILE).is_file():
        raise AdapterError(f"{folder} holds no {_FILE}", hint="Write one: format, name, version, command.")
    found = digest(folder)
    return _foreign(_spec(folder), folder, found)


def baseline(script: Path) -> Adapter:
    """A task's own lazy baseline as a harness; the script's whole folder goes with it.

    It runs with sh, or with bash where its first line says so.

    Raises:
        AdapterError: No such file, or its name cannot be a harness's.
    """
    first_line = read_text(script, error=AdapterError, hint="Give one of the task's baselines/*.sh.").partition("\n")[0]
    shell = "bash" if first_line.startswith("#!") and "bash" in first_line else "sh"
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", script.stem) is None:
        raise AdapterError(
            f'"{script.stem}" cannot be a baseline\'s name',
            where=script,
            hint="Use lower-case letters, digits, dots and hyphens, 64 at most.",
        )
    spec = AdapterFile(format=1, name=script.stem, version="1", command=[shell, f"/hbench/harness/{script.name}"])
    folder = script.parent.resolve()
    return _foreign(spec, folder, digest(folder))


def files(folder: Path) -> list[Path]:
    """The files that belong to the harness, relative to its folder, sorted by their POSIX path.

    Raises:
        AdapterError: There is something that is neither a regular file nor a folder, such as a symlink, or a name with
            control characters.
    """
    found = []
    for parent, folders, names in os.walk(folder, onerror=_unreadable):
        folders[:] = [name for name in folders if not _LITTER.fullmatch(name)]
        for name in folders + [name for name in names if not _LITTER.fullmatch(name)]:
            path = Path(parent, name)
            if is_absurd(name):
                raise AdapterError(f"the name {name!r} cannot be used", where=folder, hint=_NAME_HINT)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                found.append(path.relative_to(folder))
            elif not stat.S_ISDIR(mode):
                what = "a symlink" if stat.S_ISLNK(mode) else "not a regular file"
                raise AdapterError(f"is {what}", where=path, hint="Put a copy of the file there, or take it out.")
    return sorted(found, key=Path.as_posix)


def digest(folder: Path) -> str:
    """sha256 hex over the path, mode and bytes of each file of the harness.

    Of the mode only whether the owner may execute the file, as git keeps it: the rest depends on the umask.
    """
    total = hashlib.sha256()
    for file in files(folder):
        inner, mode = _content(folder / file)
        total.update(f"{file.as_posix()}\0{mode}\0{inner}\n".encode("utf-8", "surrogateescape"))
    return total.hexdigest()


def _content(file: Path) -> tuple[str, str]:
    try:
        with file.open("rb") as content:
            inner = hashlib.file_digest(content, "sha256").hexdigest()
        return inner, "755" if file.stat().st_mode & 0o100 else "644"
    except OSError as problem:
        _unreadable(problem)


def _unreadable(problem: OSError) -> NoReturn:
    raise AdapterError(
        f"cannot be read: {problem.strerror}", where=problem.filename, hint="Make it readable."
    ) from problem


def _foreign(spec: AdapterFile, folder: Path, found: str) -> Adapter:
    return Adapter(name=f"{spec.name}@{found[:12]}", spec=spec, folder=folder, digest=found, built_in=False)


def _spec(folder: Path) -> AdapterFile:
    file = folder / _FILE
    name = str(file)
    text = read_text(file, error=AdapterError, hint="It holds at least: format, name, version, command.")
    data = parse_toml(text, name=name, error=AdapterError)
    return validate(data, AdapterFile, text=text, name=name, error=AdapterError)
