"""The options that commands share, each declared once.

A command takes `flags: Flags` and is decorated with `@with_flags`; the rest are types of single parameters. Only typer
and the standard library are imported here: `hbench --help` loads this module.
"""

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from hbench.suite.flags import Flags

Suite = Annotated[
    Path | None,
    typer.Argument(metavar="SUITE", help="A suite file. Without one: what the flags say, else the default suite."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
SkipInvalid = Annotated[bool, typer.Option("--skip-invalid", help="Leave invalid tasks out; the lock lists them.")]
ForceBuild = Annotated[
    bool, typer.Option("--force-build", help="Build from the Dockerfile even where task.toml names an image.")
]
JobsDir = Annotated[Path, typer.Option("-o", "--jobs-dir", metavar="DIR", help="Where job folders go.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", "--silent", help="Show no progress, only warnings and results.")]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Accepted for Harbor's sake: hbench never asks.")]


def _option(*names: str, metavar: str, help: str) -> Any:  # noqa: A002 - typer's own word
    return typer.Option(*names, metavar=metavar, help=help, show_default=False)


FLAG_OPTIONS: Mapping[str, Any] = {
    "path": _option("-p", "--path", metavar="PATH", help="A task folder, or a folder of task folders."),
    "dataset": _option("-d", "--dataset", metavar="NAME@VERSION", help="A dataset of the catalog."),
    "agent": _option(
        "-a", "--agent", "--harness", metavar="NAME|FOLDER", help="A harness, or an adapter folder. Repeatable."
    ),
    "model": _option("-m", "--model", metavar="[PROVIDER/]NAME", help="A model. Repeatable."),
    "n_attempts": _option("-k", "--n-attempts", metavar="N", help="Attempts at each task, 1 to 5."),
    "n_concurrent": _option("-n", "--n-concurrent", metavar="N", help="Trials at once (default 4)."),
    "include": _option("-i", "--include-task-name", metavar="GLOB", help="Only tasks of that name. Repeatable."),
    "exclude": _option("-x", "--exclude-task-name", metavar="GLOB", help="No task of that name. Repeatable."),
    "n_tasks": _option("-l", "--n-tasks", metavar="N", help="At most N tasks, the first by name."),
    "seed": _option("--seed", metavar="N", help="Draws the sample and the order of trials (default 0)."),
    "max_retries": _option(
        "-r", "--max-retries", metavar="N", help="Starts after the first, if the agent had not begun (default 0)."
    ),
    "network": _option("--network", metavar="open|allowlist|none", help="What the agent may reach."),
    "allow": _option("--allow", metavar="HOST", help="A host on the allowlist. Repeatable."),
    "timeout_multiplier": _option(
        "--timeout-multiplier", metavar="X", help="Scales every time limit that has no multiplier of its own."
    ),
    "agent_timeout_multiplier": _option(
        "--agent-timeout-multiplier", metavar="X", help="Scales the agent's time limit."
    ),
    "verifier_timeout_multiplier": _option(
        "--verifier-timeout-multiplier", metavar="X", help="Scales the verifier's time limit."
    ),
    "setup_timeout_multiplier": _option(
        "--agent-setup-timeout-multiplier", metavar="X", help="Scales the time limit for getting a harness ready."
    ),
    "build_timeout_multiplier": _option(
        "--environment-build-timeout-multiplier", metavar="X", help="Scales the time limit for building an image."
    ),
}
"""How each field of Flags is said on the command line. Type and default are the field's own."""


def with_flags(command: Callable[..., None]) -> Callable[..., None]:
    """`command` with its parameter `flags: Flags` spelt out for typer as one option a field."""
    fields = dataclasses.fields(Flags)

    @functools.wraps(command)
    def spelt_out(**said: Any) -> None:
        flags = {field.name: said.pop(field.name) for field in fields}
        command(**said, flags=Flags(**{name: _as_field(value) for name, value in flags.items() if value is not None}))

    own = inspect.signature(command).parameters.values()
    options = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[_as_typer_wants(field.type), FLAG_OPTIONS[field.name]],
        )
        for field in fields
    ]
    first = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.annotation is not Flags]
    spelt_out.__signature__ = inspect.Signature([*first, *options])  # type: ignore[attr-defined]
    return spelt_out


def _as_typer_wants(annotation: Any) -> Any:
    """For typer a tuple has a fixed length; what may be said any number of times is a list."""
    return list[str] | None if typing.get_origin(annotation) is tuple else annotation


def _as_field(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
