"""`hbench clean`: remove what killed runs left on the engine."""

from typing import Annotated

import typer


def clean(
    everything: Annotated[
        bool, typer.Option("--all", help="Also containers of batches that run now, here or on other machines.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Remove containers of batches that no process on this machine runs any more."""
    import json as json_module

    from hbench.container.docker_engine import connect
    from hbench.container.sweep import sweep

    removed = sweep(connect(), everything=everything)
    if json:
        print(json_module.dumps({"format": "hbench/clean@1", "removed_containers": removed}, indent=2))
    else:
        print(f"removed {removed} containers" if removed != 1 else "removed 1 container")
