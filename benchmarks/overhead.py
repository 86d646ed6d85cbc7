"""A trial's overhead (wall minus agent minus tests) against the floor, both one trial at a time, in turns.

Two figures: `recorded` is what the trials' own records say; `span` is the time from the first trial's start to the
last one's end, shared among them, so that work between trials and work done off the critical path count too.
"""

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
import workload
from floor import measure as measure_floor

TARGET = 1.3


def phase_s(trial: dict[str, Any], name: str) -> float:
    """Seconds that the phase took."""
    return float(trial[name]["duration_s"])


def overheads(batch: measure.Batch) -> tuple[float, float]:
    """Seconds a trial: as recorded, and as the span of the whole batch shows it."""
    trials = batch.trials
    work_s = [phase_s(trial, "agent_execution") + phase_s(trial, "verifier") for trial in trials]
    wall_s = [measure.seconds_between(trial["started_at"], trial["finished_at"]) for trial in trials]
    first = min(trial["started_at"] for trial in trials)
    last = max(trial["finished_at"] for trial in trials)
    return (
        statistics.fmean(wall - work for wall, work in zip(wall_s, work_s, strict=True)),
        (measure.seconds_between(first, last) - sum(work_s)) / len(trials),
    )


def compare(hbench: str, base: str, *, rounds: int, count: int) -> dict[str, Any]:
    """Floor and hbench in turns, so that both meet the same load of the machine."""
    floor_s, recorded_s, span_s = [], [], []
    with tempfile.TemporaryDirectory() as scratch, workload.tasks(Path(scratch), base=base, count=count) as images:
        task = next(Path(scratch).iterdir())
        for number in range(rounds):
            floor_s.append(measure_floor(images[0], trials=count, concurrency=1, task=task)["wall_s_per_trial"])
            recorded, span = overheads(measure.hbench_run(hbench, Path(scratch), concurrency=1))
            recorded_s.append(recorded)
            span_s.append(span)
            print(f"round {number + 1}: floor {floor_s[-1]:.3f} s, hbench {span:.3f} s", file=sys.stderr)
    return {
        "rounds": rounds,
        "trials_per_round": count,
        "floor_s": floor_s,
        "recorded_s": recorded_s,
        "span_s": span_s,
        "recorded_ratio": statistics.median(a / b for a, b in zip(recorded_s, floor_s, strict=True)),
        "span_ratio": statistics.median(a / b for a, b in zip(span_s, floor_s, strict=True)),
        "target": TARGET,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="python:3.11-slim", help="a local image with bash, cmp and python3")
    parser.add_argument("--hbench", default=measure.hbench_default())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=10, help="trials of each side in a round")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    result = compare(args.hbench, args.base, rounds=args.rounds, count=args.trials)
    rows = [
        ("floor a trial", f"{statistics.median(result['floor_s']):.3f} s"),
        ("overhead a trial, recorded", f"{statistics.median(result['recorded_s']):.3f} s"),
        ("overhead a trial, span", f"{statistics.median(result['span_s']):.3f} s"),
        ("recorded / floor", measure.verdict(result["recorded_ratio"], TARGET)),
        ("span / floor", measure.verdict(result["span_ratio"], TARGET)),
    ]
    measure.show("overhead of a trial, one at a time", rows, as_json=args.json, data=result)


if __name__ == "__main__":
    main()
