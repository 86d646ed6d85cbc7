"""`hbench validate`: whether tasks judge as they should, shown by trials of what must pass and of what must not."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hbench.cli.options import FLAG_OPTIONS, ForceBuild, JobsDir, Json, Quiet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hbench.job.outcome import BatchOutcome
    from hbench.report.admission import Verdict

Paths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATHS", help="Folders of a task or of tasks. Without any: hbench's own tasks."),
]


def validate(
    paths: Paths = None,
    n_concurrent: Annotated[int, FLAG_OPTIONS["n_concurrent"]] = 4,
    agent_timeout_multiplier: Annotated[float, FLAG_OPTIONS["agent_timeout_multiplier"]] = 1.0,
    jobs_dir: JobsDir = Path("jobs"),
    force_build: ForceBuild = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Run oracle, nop and the lazy baselines on tasks: oracle must earn 1, the others 0 or the declared baseline.

    A task's own baselines/*.sh are tried too. Exit status: 0 every task is admitted, 1 some are not, 130 stopped by a
    person; errors have codes of their own.
    """
    import os

    from hbench.cli.execute import execute
    from hbench.cli.judging import verdicts_on
    from hbench.job.run import Request
    from hbench.plan.admission import admission

    asked = admission(paths or [], concurrency=n_concurrent, agent_timeout_multiplier=agent_timeout_multiplier)
    outcome = None
    if asked.plan is not None:
        request = Request(
            plan=asked.plan,
            base=Path(),
            jobs_dir=jobs_dir,
            skip_invalid=True,
            force_build=force_build,
            environ=os.environ,
        )
        outcome = execute(request, quiet=quiet)
    raise typer.Exit(_show(verdicts_on(asked, outcome), outcome, json=json))


def _show(verdicts: "Sequence[Verdict]", outcome: "BatchOutcome | None", *, json: bool) -> int:
    """Print what came of it; returns the exit status."""
    import json as json_module

    from rich.console import Console

    from hbench.cli.execute import shown_path
    from hbench.errors import EXIT_INTERRUPTED, EXIT_NOT_ALL_REWARDED, EXIT_OK
    from hbench.report.verdicts import document, print_verdicts

    batch = None if outcome is None else shown_path(outcome.path)
    code = EXIT_OK if all(one.word == "admitted" for one in verdicts) else EXIT_NOT_ALL_REWARDED
    if outcome is not None and outcome.cancelled:
        code = EXIT_INTERRUPTED
    if json:
        print(json_module.dumps(document(verdicts, batch=batch, exit_code=code), indent=2))
    else:
        print_verdicts(Console(), verdicts, batch=batch)
    return code
