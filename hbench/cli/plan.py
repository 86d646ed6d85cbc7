"""`hbench plan`: what a run would do, without touching Docker."""

from pathlib import Path

from hbench.cli.options import Json, SkipInvalid, Suite, with_flags
from hbench.suite.flags import Flags


@with_flags
def plan(suite: Suite = None, *, flags: Flags, skip_invalid: SkipInvalid = False, json: Json = False) -> None:
    """Print every trial in its order, the limits of each task, and what of the locks is known. Starts nothing."""
    show(suite, flags, skip_invalid=skip_invalid, json=json)


def show(suite: Path | None, flags: Flags, *, skip_invalid: bool, json: bool) -> None:
    """Print the plan; `hbench run --plan` does the same."""
    import json as json_module

    from hbench.plan.build import build_plan
    from hbench.plan.show import document, lines
    from hbench.suite.overlay import resolve

    made = build_plan(resolve(suite, flags), skip_invalid=skip_invalid)
    if json:
        print(json_module.dumps(document(made), indent=2))
    else:
        for line in lines(made):
            print(line)
