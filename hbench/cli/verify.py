"""`hbench verify`: whether sealed jobs are what their seals say."""

from pathlib import Path
from typing import Annotated

import typer


def verify(
    paths: Annotated[list[Path], typer.Argument(help="Folders of jobs or batches.", metavar="JOB...")],
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Check every file of sealed jobs, and every total against the trials; exit status 6 names what is wrong."""
    import json as json_module

    from hbench.errors import SealError
    from hbench.results.verify import verify as faults_of
    from hbench.text import escaped

    found = {path: faults_of(path) for path in paths}
    if json:
        jobs = [
            {
                "path": str(path),
                "ok": not faults,
                "faults": [{"path": fault.path, "what": fault.what} for fault in faults],
            }
            for path, faults in found.items()
        ]
        print(json_module.dumps({"format": "hbench/verify@1", "ok": not any(found.values()), "jobs": jobs}, indent=2))
    else:
        for path, faults in found.items():
            print(f"{'FAULT' if faults else 'OK'}  {escaped(str(path))}")
            for fault in faults:
                print(f"  {fault}")
    if any(found.values()):
        raise typer.Exit(SealError.exit_code)
