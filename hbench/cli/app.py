"""The `hbench` command: one thin file per command, and one place where errors become exit codes."""

import io
import platform
import sys
import traceback
from typing import Annotated

import typer

from hbench.cli.clean import clean
from hbench.cli.plan import plan
from hbench.cli.run import run
from hbench.cli.validate import validate
from hbench.cli.verify import verify
from hbench.errors import EXIT_BUG, EXIT_INTERRUPTED, HbenchError
from hbench.text import safe
from hbench.version import VERSION

app = typer.Typer(
    name="hbench",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in (run, plan, validate, verify, clean):
    app.command(command.__name__)(command)


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
) -> None:
    """Measure coding-agent harnesses: trials in Docker, sealed results."""
    if version:
        print(f"hbench {VERSION}")
        raise typer.Exit


def main() -> None:
    """Run the command line; end with the exit code that the README lists."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name that the terminal cannot show must not end the run
    try:
        app()
    except HbenchError as error:
        _say(f"error: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except Exception as bug:  # noqa: BLE001 - whatever is left is hbench's own mistake
        _say("".join(traceback.format_exception(bug)).rstrip())
        _say(f"hbench {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}")
        _say("error: this is a bug in hbench\n  Report it with the lines above; look first whether they hold a secret.")
        sys.exit(EXIT_BUG)


def _say(text: str) -> None:
    """To stderr, line by line: what others named may hold control characters."""
    for line in text.split("\n"):
        print(safe(line, 2000), file=sys.stderr)
