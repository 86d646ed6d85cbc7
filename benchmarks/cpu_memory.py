"""The runner's own CPU a trial against the floor script's, and its memory with many trials at once.

Both processes are measured whole, start and imports included, over the same number of trials at the same concurrency;
what Docker and the containers use is not part of either. For the memory, every agent also prints a lot.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
import workload

CPU_TARGET = 2.5
MEMORY_TARGET_MB = 120.0
CHATTER_KB = 1024


def cpu(args: argparse.Namespace) -> dict[str, Any]:
    """CPU seconds a trial of both processes."""
    count = min(args.trials, workload.TASK_COUNT)
    attempts = max(1, args.trials // count)
    trials = count * attempts
    with tempfile.TemporaryDirectory() as scratch, workload.tasks(Path(scratch), base=args.base, count=count) as images:
        task = next(Path(scratch).iterdir())
        script = str(Path(__file__).with_name("floor.py"))
        options = ["--task", str(task), "--trials", str(trials), "--concurrency", str(args.concurrency)]
        floor = measure.run([sys.executable, script, images[0], *options])
        if floor.exit_code != 0:
            raise SystemExit(f"floor.py ended with exit status {floor.exit_code}")
        ours = measure.hbench_run(args.hbench, Path(scratch), concurrency=args.concurrency, attempts=attempts)
    return {
        "trials": trials,
        "concurrency": args.concurrency,
        "floor_cpu_s_per_trial": floor.cpu_s / trials,
        "hbench_cpu_s_per_trial": ours.run.cpu_s / trials,
        "ratio": ours.run.cpu_s / floor.cpu_s,
        "target": CPU_TARGET,
    }


def at_once(trials: list[dict[str, Any]]) -> int:
    """How many agents ran at the same moment, at most."""
    spans = [trial["agent_execution"] for trial in trials]
    edges = [(span["started_at"], 1) for span in spans] + [(span["finished_at"], -1) for span in spans]
    alive = most = 0
    for _, change in sorted(edges):
        alive += change
        most = max(most, alive)
    return most


def memory(args: argparse.Namespace) -> dict[str, Any]:
    """Peak memory of the hbench process while so many trials run at once."""
    # All trials must be alive together, so each agent outlasts the starting of the others.
    patience = f"for i in $(seq {CHATTER_KB}); do printf '%01023d\\n' $i; done\nsleep {args.sleep}\n"
    with (
        tempfile.TemporaryDirectory() as scratch,
        workload.tasks(Path(scratch), base=args.base, count=args.at_once, solve=workload.SOLVE + patience),
    ):
        batch = measure.hbench_run(args.hbench, Path(scratch), concurrency=args.at_once)
    return {
        "asked_at_once": args.at_once,
        "at_once": at_once(batch.trials),
        "peak_rss_mb": batch.run.peak_rss_mb,
        "own_peak_rss_mb": measure.own_peak_rss_mb(),
        "target_mb": MEMORY_TARGET_MB,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=["cpu", "memory"], default=["cpu", "memory"])
    parser.add_argument("--base", default="python:3.11-slim", help="a local image with bash, cmp and python3")
    parser.add_argument("--hbench", default=measure.hbench_default())
    parser.add_argument("--trials", type=int, default=60, help="for the CPU")
    parser.add_argument("--concurrency", type=int, default=2, help="for the CPU")
    parser.add_argument("--at-once", type=int, default=32, help="for the memory")
    parser.add_argument("--sleep", type=int, default=30, help="seconds that each agent waits, for the memory")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result: dict[str, Any] = {}
    rows: list[tuple[str, str]] = []
    if "cpu" in args.part:
        result["cpu"] = part = cpu(args)
        rows += [
            ("floor CPU a trial", f"{part['floor_cpu_s_per_trial'] * 1000:.1f} ms"),
            ("hbench CPU a trial", f"{part['hbench_cpu_s_per_trial'] * 1000:.1f} ms"),
            ("hbench / floor", measure.verdict(part["ratio"], CPU_TARGET)),
        ]
    if "memory" in args.part:
        result["memory"] = part = memory(args)
        rows += [
            ("trials at once", f"{part['at_once']} (of {part['asked_at_once']})"),
            ("peak memory, MiB", measure.verdict(part["peak_rss_mb"], MEMORY_TARGET_MB)),
        ]
    measure.show("the runner's own CPU and memory", rows, as_json=args.json, data=result)


if __name__ == "__main__":
    main()
