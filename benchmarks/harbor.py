"""20 csv-dedupe tasks, the oracle, 2 at a time, images built beforehand: `hbench run` against `harbor run`.

Both sides are timed as a person would see them, from the command to its end, in turns on the same engine. Harbor needs
Docker's Compose plugin; where the `docker` command has none, --compose-plugins names a folder that holds it.
"""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import measure
import workload

TARGET = 12.0
# So that Harbor doesn't wait for services that the measured work has no need of.
HARBOR_ENV = {"HARBOR_TELEMETRY": "0", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}


@contextmanager
def harbor_env(plugins: Path | None) -> Iterator[dict[str, str]]:
    """Harbor's environment, with a Docker client configuration that has the given plugins."""
    with tempfile.TemporaryDirectory() as config:
        if plugins is None:
            yield HARBOR_ENV
            return
        (Path(config) / "cli-plugins").symlink_to(plugins.resolve())
        yield {**HARBOR_ENV, "DOCKER_CONFIG": config}


def harbor_s(harbor: str, tasks: Path, env: dict[str, str], *, concurrency: int, count: int) -> float:
    """Wall seconds of one `harbor run`, after checking that every trial had reward 1."""
    with tempfile.TemporaryDirectory() as jobs:
        flags = ["-a", "oracle", "-n", str(concurrency), "-o", jobs, "-y", "-q"]
        done = measure.run([harbor, "run", "-p", str(tasks), *flags], env)
        trials = [json.loads(path.read_text()) for path in Path(jobs).glob("*/*/result.json")]
    rewards = [((trial["verifier_result"] or {}).get("rewards") or {}).get("reward") for trial in trials]
    if done.exit_code != 0 or rewards != [1.0] * count:
        raise SystemExit(f"harbor run ended with exit status {done.exit_code} and rewards {rewards}\n{done.stdout}")
    return done.wall_s


def compare(args: argparse.Namespace) -> dict[str, Any]:
    """Both sides in turns."""
    ours_s, theirs_s = [], []
    with (
        tempfile.TemporaryDirectory() as scratch,
        harbor_env(args.compose_plugins) as env,
        workload.tasks(Path(scratch), base=args.base),
    ):
        for number in range(args.rounds):
            ours_s.append(measure.hbench_run(args.hbench, Path(scratch), concurrency=args.concurrency).run.wall_s)
            theirs_s.append(
                harbor_s(args.harbor, Path(scratch), env, concurrency=args.concurrency, count=workload.TASK_COUNT)
            )
            print(f"round {number + 1}: hbench {ours_s[-1]:.1f} s, harbor {theirs_s[-1]:.1f} s", file=sys.stderr)
    return {
        "tasks": workload.TASK_COUNT,
        "concurrency": args.concurrency,
        "hbench_s": ours_s,
        "harbor_s": theirs_s,
        "ratio": statistics.median(b / a for a, b in zip(ours_s, theirs_s, strict=True)),
        "target": TARGET,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("harbor", help="path of the harbor command")
    parser.add_argument("--compose-plugins", type=Path, help="folder with docker-compose (and docker-buildx)")
    parser.add_argument("--base", default="python:3.11-slim", help="a local image with bash, cmp and python3")
    parser.add_argument("--hbench", default=measure.hbench_default())
    parser.add_argument("--concurrency", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = compare(args)
    rows = [
        ("hbench", f"{statistics.median(result['hbench_s']):.1f} s"),
        ("harbor", f"{statistics.median(result['harbor_s']):.1f} s"),
        ("times faster", measure.verdict(result["ratio"], TARGET, at_least=True)),
    ]
    title = f"{result['tasks']} oracle tasks, {args.concurrency} at a time, images built beforehand"
    measure.show(title, rows, as_json=args.json, data=result)


if __name__ == "__main__":
    main()
