"""`hbench --help` against `python -c "import typer"`, in turns; medians."""

import argparse
import statistics
import sys

import measure

TARGET = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hbench", default=measure.hbench_default())
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    commands = {"typer": [sys.executable, "-c", "import typer"], "hbench": [args.hbench, "--help"]}
    wall_s: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(args.rounds + 1):
        for name, argv in commands.items():
            done = measure.run(argv)
            if done.exit_code != 0:
                raise SystemExit(f"{argv} ended with exit status {done.exit_code}")
            if number > 0:  # the first round only warms the caches
                wall_s[name].append(done.wall_s)
    medians = {name: statistics.median(values) for name, values in wall_s.items()}
    ratio = medians["hbench"] / medians["typer"]
    rows = [
        ('python -c "import typer"', f"{medians['typer'] * 1000:.0f} ms"),
        ("hbench --help", f"{medians['hbench'] * 1000:.0f} ms"),
        ("hbench / typer", measure.verdict(ratio, TARGET)),
    ]
    data = {"rounds": args.rounds, "median_s": medians, "ratio": ratio, "target": TARGET}
    measure.show("start-up", rows, as_json=args.json, data=data)


if __name__ == "__main__":
    main()
