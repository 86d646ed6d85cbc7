"""What an `adapter.toml` may say, and the harness that comes out of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hbench.text import is_absurd


def _plain(value: str) -> str:
    if "/" in value or is_absurd(value):
        raise ValueError("must hold neither a slash nor control characters")
    return value


def _printable(value: str) -> str:
    """A script may have lines and tabs; what else is below a blank has no business in an argument."""
    if any(character < " " and character not in "\t\n" for character in value):
        raise ValueError("must hold no control characters")
    return value


class AdapterFile(BaseModel):
    """`adapter.toml`: how a harness is started.

    Attributes:
        version: The harness's exact version.
        command: argv, without a shell; an empty list does nothing. `{instruction}` as a whole element is the text
            when `instruction = "arg"`.
        instruction: How the instruction reaches the harness: the file /hbench/instruction.md, its standard input, or
            one argv element (up to 128 KiB). The file is always there.
        env: Literal values added to the harness's environment.
        stop_signal: What asks the harness to end at the limit, before KILL.
        stop_grace_s: Seconds between the two.
        sees_solution: /solution is copied in before it starts (oracle). Boards refuse it.
        sees_tests: /tests is. Boards refuse it.
        model: Whether the harness calls a model.
        options: Names of the options a suite may set, each with its type.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal[1]
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    version: Annotated[str, Field(min_length=1, max_length=64), AfterValidator(_plain)]
    description: str = ""
    command: list[Annotated[str, AfterValidator(_printable)]]
    instruction: Literal["file", "stdin", "arg"] = "file"
    env: dict[str, Annotated[str, AfterValidator(_printable)]] = Field(default_factory=dict)
    stop_signal: Literal["TERM", "INT", "HUP", "QUIT"] = "TERM"
    stop_grace_s: float = Field(default=5.0, ge=0, le=60)
    sees_solution: bool = False
    sees_tests: bool = False
    model: bool = False
    options: dict[str, Literal["string", "integer", "number", "boolean"]] = Field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """A harness that hbench can run.

    Attributes:
        name: The harness's name: a built-in's own, or `name@<12 hex of its digest>` for any other folder.
        folder: Its folder; its files are copied to /hbench/harness/ in the trial's container.
        digest: sha256 hex over every byte and mode of the folder.
        built_in: Whether it ships with hbench.
    """

    name: str
    spec: AdapterFile
    folder: Path
    digest: str
    built_in: bool


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """Harness + version + options (prompt template and extra instructions come with the real harnesses)."""

    adapter: Adapter
    options: Mapping[str, Any] = field(default_factory=dict)
