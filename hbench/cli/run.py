"""`hbench run`: a suite, or Harbor's flags, to sealed jobs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hbench.cli.options import ForceBuild, JobsDir, Json, Quiet, SkipInvalid, Suite, Yes, with_flags
from hbench.suite.flags import Flags

if TYPE_CHECKING:
    from hbench.job.outcome import BatchOutcome

Resume = Annotated[
    Path | None, typer.Option("--resume", metavar="BATCH", help="Run what is missing of an earlier batch.")
]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Print the plan and start nothing.")]


@with_flags
def run(
    suite: Suite = None,
    *,
    flags: Flags,
    resume: Resume = None,
    plan_only: PlanOnly = False,
    jobs_dir: JobsDir = Path("jobs"),
    force_build: ForceBuild = False,
    skip_invalid: SkipInvalid = False,
    quiet: Quiet = False,
    json: Json = False,
    yes: Yes = False,  # noqa: ARG001 - hbench never asks
) -> None:
    """Run every trial of a suite in containers and seal the jobs.

    Without a suite or flags the suite that ships with hbench runs. Exit status: 0 every trial has a reward, 1 some have
    not, 130 stopped by a person; errors have codes of their own.
    """
    import os

    from hbench.cli import execute
    from hbench.cli.plan import show
    from hbench.errors import SuiteError
    from hbench.job.run import Request
    from hbench.plan.build import build_plan
    from hbench.suite.overlay import resolve

    if resume is not None and (plan_only or suite is not None or flags != Flags()):
        raise SuiteError("--resume runs a batch as it was asked for then", hint="Leave all else out.")
    if plan_only:
        show(suite, flags, skip_invalid=skip_invalid, json=json)
        return
    if resume is not None:
        outcome = execute.resume(resume, quiet=quiet)
    else:
        loaded = resolve(suite, flags)
        plan = build_plan(loaded, skip_invalid=skip_invalid)
        request = Request(
            plan=plan,
            base=loaded.base,
            jobs_dir=jobs_dir,
            skip_invalid=skip_invalid,
            force_build=force_build,
            environ=os.environ,
        )
        outcome = execute.execute(request, quiet=quiet)
    _show(outcome, json=json)
    raise typer.Exit(outcome.exit_code)


def _show(outcome: "BatchOutcome", *, json: bool) -> None:
    import json as json_module

    from rich.console import Console

    from hbench.cli.execute import document, job_lines, shown_path
    from hbench.report.tables import print_end

    if json:
        print(json_module.dumps(document(outcome), indent=2))
        return
    print_end(Console(), job_lines(outcome), batch=shown_path(outcome.path))
