"""Every flag is declared once, and reaches the command as one value."""

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from hbench.cli.options import FLAG_OPTIONS, Json, Suite, with_flags
from hbench.suite.flags import Flags


def said(*arguments: str) -> tuple[Path | None, Flags, bool]:
    """What a command with shared options receives."""
    app = typer.Typer(rich_markup_mode=None)
    received: list[Any] = []

    @app.command()
    @with_flags
    def command(suite: Suite = None, *, flags: Flags, json: Json = False) -> None:
        received.extend((suite, flags, json))

    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return tuple(received)


def test_nothing_said_is_no_flag() -> None:
    """Then the suite file stays as it is."""
    assert said() == (None, Flags(), False)


def test_every_field_has_an_option_and_every_option_a_field() -> None:
    assert set(FLAG_OPTIONS) == {field.name for field in dataclasses.fields(Flags)}


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ("-p tasks/x", Flags(path=Path("tasks/x"))),
        ("--path tasks/x", Flags(path=Path("tasks/x"))),
        ("-d terminal-bench@2.0", Flags(dataset="terminal-bench@2.0")),
        ("-a oracle --agent nop --harness ./mine", Flags(agent=("oracle", "nop", "./mine"))),
        ("-m a/b --model c", Flags(model=("a/b", "c"))),
        ("-k 3", Flags(n_attempts=3)),
        ("--n-attempts 3", Flags(n_attempts=3)),
        ("-n 2", Flags(n_concurrent=2)),
        ("--n-concurrent 2", Flags(n_concurrent=2)),
        ("-i a* --include-task-name b", Flags(include=("a*", "b"))),
        ("-x a* --exclude-task-name b", Flags(exclude=("a*", "b"))),
        ("-l 5", Flags(n_tasks=5)),
        ("--n-tasks 5", Flags(n_tasks=5)),
        ("--seed 7", Flags(seed=7)),
        ("-r 1", Flags(max_retries=1)),
        ("--max-retries 1", Flags(max_retries=1)),
        ("--network open", Flags(network="open")),
        ("--allow a --allow b", Flags(allow=("a", "b"))),
        ("--timeout-multiplier 2", Flags(timeout_multiplier=2.0)),
        ("--agent-timeout-multiplier 0.05", Flags(agent_timeout_multiplier=0.05)),
        ("--verifier-timeout-multiplier 2", Flags(verifier_timeout_multiplier=2.0)),
        ("--agent-setup-timeout-multiplier 2", Flags(setup_timeout_multiplier=2.0)),
        ("--environment-build-timeout-multiplier 2", Flags(build_timeout_multiplier=2.0)),
    ],
)
def test_a_flag_is_spelt_as_in_harbor(arguments: str, flags: Flags) -> None:
    """Short and long; the other parameters of the command are untouched."""
    assert said(*arguments.split()) == (None, flags, False)


def test_flags_and_the_commands_own_parameters_mix_in_any_order() -> None:
    assert said("-k", "2", "suite.toml", "--json", "-a", "nop") == (
        Path("suite.toml"),
        Flags(n_attempts=2, agent=("nop",)),
        True,
    )


def test_the_help_loads_nothing_that_a_command_needs_only_when_it_runs() -> None:
    """`hbench --help` may take no more than twice the time of `import typer`."""
    script = "import sys, hbench.cli.options, hbench.cli.plan; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    heavy = {"pydantic", "docker", "rich", "numpy", "httpx", "tomli_w", "hbench.suite.model", "hbench.plan.build"}
    assert heavy & set(done.stdout.split()) == set()
