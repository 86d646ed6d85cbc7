"""Suite file and flags to one suite."""

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tomli_w

from hbench.errors import SuiteError
from hbench.shipped import shipped
from hbench.suite.flags import Flags
from hbench.suite.load import LoadedSuite, parse_suite, read_suite
from hbench.suite.model import OWN_DATASET, TIMED_PHASES
from hbench.tomllines import Location

Table = dict[str, Any]
Document = dict[str, Any]

_KEY_OF_FLAG = {
    "n_attempts": ("suite", "attempts"),
    "n_concurrent": ("suite", "concurrency"),
    "seed": ("suite", "seed"),
    "include": ("dataset", "include"),
    "exclude": ("dataset", "exclude"),
    "n_tasks": ("dataset", "first"),
    "max_retries": ("retry", "max_retries"),
    "network": ("network", "mode"),
    "allow": ("network", "allow"),
    "agent_timeout_multiplier": ("limits", "agent_timeout_multiplier"),
    "verifier_timeout_multiplier": ("limits", "verifier_timeout_multiplier"),
    "setup_timeout_multiplier": ("limits", "setup_timeout_multiplier"),
    "build_timeout_multiplier": ("limits", "build_timeout_multiplier"),
}
"""Flags that say exactly what one key of the suite says."""

FLAG_OF_KEY: dict[tuple[str, ...], str] = {
    ("suite", "attempts"): "-k",
    ("suite", "concurrency"): "-n",
    ("suite", "seed"): "--seed",
    ("dataset", "name"): "-d",
    ("dataset", "path"): "-p",
    ("dataset", "include"): "-i",
    ("dataset", "exclude"): "-x",
    ("dataset", "first"): "-l",
    ("harness", "name"): "-a",
    ("harness", "path"): "-a",
    ("model", "name"): "-m",
    ("model", "provider"): "-m",
    ("retry", "max_retries"): "--max-retries",
    ("network", "mode"): "--network",
    ("network", "allow"): "--allow",
    ("limits", "agent_timeout_multiplier"): "--agent-timeout-multiplier",
    ("limits", "verifier_timeout_multiplier"): "--verifier-timeout-multiplier",
    ("limits", "setup_timeout_multiplier"): "--agent-setup-timeout-multiplier",
    ("limits", "build_timeout_multiplier"): "--environment-build-timeout-multiplier",
}
"""How what a flag said is called in an error about it: the file's own values have been checked by then."""


def resolve(path: Path | None, flags: Flags) -> LoadedSuite:
    """The suite that a command was asked for, checked.

    With a file: that, the flags on top. Without: what the flags say, or, where they name neither tasks nor a harness,
    the default suite that ships with hbench, the flags on top.

    Raises:
        SuiteError: The file or the flags cannot be used.
    """
    if path is None and (flags.path or flags.dataset or flags.agent):
        return suite_from_flags(flags)
    return overlay(read_suite(path or shipped("suites") / "default.toml"), flags).checked()


def suite_from_flags(flags: Flags) -> LoadedSuite:
    """The suite that the flags alone amount to, checked; as in Harbor the harness is oracle if none is named."""
    empty = parse_suite("", base=Path(), name="flags", is_file=False)
    document: Document = {} if flags.agent else {"harness": [{"name": "oracle"}]}
    return _with_flags(empty, document, flags).checked()


def overlay(loaded: LoadedSuite, flags: Flags) -> LoadedSuite:
    """`loaded` as the flags change it, not yet checked for what one key says about another."""
    if flags == Flags():
        return loaded
    return _with_flags(loaded, tomllib.loads(loaded.text), flags)


def _with_flags(loaded: LoadedSuite, document: Document, flags: Flags) -> LoadedSuite:
    _put_dataset(document, flags, base=loaded.base)
    _put_harnesses(document, flags, base=loaded.base)
    _put_models(document, flags)
    _put_general_multiplier(document, flags)
    if flags.network not in (None, "allowlist"):
        document.get("network", {}).pop("allow", None)  # the file's list belonged to the mode that was overruled
    for field, (table, key) in _KEY_OF_FLAG.items():
        said = getattr(flags, field)
        if said is not None and said != ():
            document.setdefault(table, {})[key] = list(said) if isinstance(said, tuple) else said
    name = loaded.name if loaded.name == "flags" else f"{loaded.name} with flags"
    return parse_suite(_as_toml(document), base=loaded.base, name=name, is_file=False, flag_of=_flag_of(flags))


def _flag_of(flags: Flags) -> Callable[[Location], str | None]:
    """The flag that said the value at a place; `--timeout-multiplier` speaks for those without one of their own."""

    def flag(loc: Location) -> str | None:
        path = tuple(part for part in loc if isinstance(part, str))
        if path[0] == "limits" and getattr(flags, path[-1], None) is None:
            return "--timeout-multiplier"
        return FLAG_OF_KEY.get(path)

    return flag


def _as_toml(document: Document) -> str:
    text = tomli_w.dumps(document)
    try:
        text.encode()
    except UnicodeEncodeError as problem:  # an argument whose bytes Python could not decode
        raise SuiteError("an argument is not UTF-8", where="flags", hint="Rename what it names.") from problem
    return text


def _put_dataset(document: Document, flags: Flags, *, base: Path) -> None:
    """`-p` and `-d` name other tasks, so what the file selected among its own goes; how images are built stays."""
    if flags.path is not None and flags.dataset is not None:
        raise SuiteError("-p and -d each name the tasks to run", hint="Give one of them.")
    table: Table = document.setdefault("dataset", {"name": OWN_DATASET})
    if flags.path is not None or flags.dataset is not None:
        source = {"name": flags.dataset} if flags.path is None else {"path": _relative(flags.path, base)}
        build = {"build": table["build"]} if "build" in table else {}
        document["dataset"] = source | build


def _put_harnesses(document: Document, flags: Flags, *, base: Path) -> None:
    """`-a` picks the file's entries of that name, or adds a plain one."""
    if not flags.agent:
        return
    entries: list[Table] = []
    for agent in dict.fromkeys(flags.agent):
        if ":" in agent and "/" not in agent:
            hint = "Give the folder that holds its adapter.toml: -a ./my-harness."
            raise SuiteError(f'-a "{agent}": hbench runs adapter folders, not Python classes', where="flags", hint=hint)
        is_path = "/" in agent or agent.startswith(".")
        entry = {"path": _relative(Path(agent), base)} if is_path else {"name": agent}
        entries += [e for e in document.get("harness", []) if entry.items() <= e.items()] or [entry]
    document["harness"] = entries


def _put_models(document: Document, flags: Flags) -> None:
    """`-m` picks the file's entry of that name, or adds one; `provider/name` as Harbor writes it."""
    if not flags.model:
        return
    entries: list[Table] = []
    for model in dict.fromkeys(flags.model):
        provider, slash, name = model.partition("/")
        entry = {"name": name, "provider": provider} if slash else {"name": model}
        entries += [e for e in document.get("model", []) if e["name"] == model] or [entry]
    document["model"] = entries


def _put_general_multiplier(document: Document, flags: Flags) -> None:
    """`--timeout-multiplier` is for every limit that has no multiplier of its own."""
    if flags.timeout_multiplier is None:
        return
    limits = document.setdefault("limits", {})
    for phase in TIMED_PHASES:
        limits.setdefault(f"{phase}_timeout_multiplier", flags.timeout_multiplier)


def _relative(path: Path, base: Path) -> str:
    """A path given on the command line, as the suite writes it: relative to `base` unless it is absolute.

    The base is resolved first: `..` behind a symbolic link leads out of the link's target.
    """
    return (path if path.is_absolute() else Path(os.path.relpath(path.absolute(), base.resolve()))).as_posix()
