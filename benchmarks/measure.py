"""Run a command, measure it, and show numbers."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # ru_maxrss counts bytes on macOS, KiB elsewhere


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one process used, and what it printed on stdout.

    Attributes:
        cpu_s: User and system time of the process and of the children that it waited for.
        peak_rss_mb: MiB, the largest of the process and those children.
    """

    wall_s: float
    cpu_s: float
    peak_rss_mb: float
    exit_code: int
    stdout: str


def run(argv: Sequence[str], env: Mapping[str, str] | None = None) -> Run:
    """Run the command to its end; its stderr goes to ours if it fails."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(argv, stdout=out, stderr=err, env={**os.environ, **(env or {})})
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            sys.stderr.write(err.read().decode(errors="replace"))
        return Run(
            wall_s=wall_s,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_rss_mb=usage.ru_maxrss * RSS_UNIT / 2**20,
            exit_code=process.returncode,
            stdout=out.read().decode(errors="replace"),
        )


def own_peak_rss_mb() -> float:
    """MiB; a child's figure can't be below it, because a new process starts as a copy of this one."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT / 2**20


def hbench_default() -> str:
    """The `hbench` command of the Python that runs this script."""
    return str(Path(sys.executable).with_name("hbench"))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """One `hbench run` of the oracle over a folder of tasks, and the records of its trials."""

    run: Run
    trials: list[dict[str, Any]]


def hbench_run(hbench: str, tasks: Path, *, concurrency: int, attempts: int = 1) -> Batch:
    """Run the oracle over the tasks; every trial must end with reward 1, or what was measured means nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        suite = Path(scratch) / "suite.toml"
        suite.write_text(
            f'[suite]\nname = "benchmark"\nattempts = {attempts}\nconcurrency = {concurrency}\n'
            f'[dataset]\npath = {json.dumps(str(tasks))}\n[network]\nmode = "open"\n[[harness]]\nname = "oracle"\n'
        )
        done = run([hbench, "run", str(suite), "--jobs-dir", str(Path(scratch) / "jobs"), "--json"])
        if done.exit_code != 0:
            raise SystemExit(f"hbench run ended with exit status {done.exit_code}\n{done.stdout}")
        [job] = json.loads(done.stdout)["jobs"]
        trials = [json.loads(path.read_text()) for path in sorted(Path(job["path"]).glob("*/result.json"))]
    wrong = [trial["trial_name"] for trial in trials if trial["verifier_result"]["rewards"]["reward"] != 1.0]
    if wrong or not trials:
        raise SystemExit(f"not every trial of the oracle had reward 1: {wrong}")
    return Batch(run=done, trials=trials)


def seconds_between(start: str, end: str) -> float:
    """From one ISO 8601 moment to another."""
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def show(title: str, rows: Sequence[tuple[str, str]], *, as_json: bool, data: Mapping[str, Any]) -> None:
    """Print the numbers as a table, or `data` as JSON."""
    if as_json:
        print(json.dumps(data, indent=2))
        return
    width = max(len(name) for name, _ in rows)
    print(title)
    for name, value in rows:
        print(f"  {name:<{width}}  {value}")


def verdict(value: float, limit: float, *, at_least: bool = False) -> str:
    """`1.21 (target: at most 1.30, met)`."""
    met = value >= limit if at_least else value <= limit
    return f"{value:.2f} (target: {'at least' if at_least else 'at most'} {limit:.2f}, {'met' if met else 'NOT met'})"
