"""Reads the jobs of a run as a stranger would: nothing of hbench is imported, every figure is worked out anew.

    smoke_check.py RUN.json [HARNESS=MEAN ...]

RUN.json is what `hbench run --json` printed. Each HARNESS=MEAN names a harness that must be there, and its mean.
"""

import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

NULL = type(None)
# Harbor's keys of a trial's result.json, which scripts written for Harbor read.
HARBOR_KEYS: dict[str, type | tuple[type, ...]] = {
    "id": str,
    "task_name": str,
    "trial_name": str,
    "task_checksum": str,
    "agent_info": dict,
    "agent_result": (dict, NULL),
    "verifier_result": (dict, NULL),
    "exception_info": (dict, NULL),
    "started_at": str,
    "finished_at": str,
    "environment_setup": (dict, NULL),
    "agent_setup": (dict, NULL),
    "agent_execution": (dict, NULL),
    "verifier": (dict, NULL),
}
PHASES = ("environment_setup", "agent_setup", "agent_execution", "verifier")
TOKENS = ("n_input_tokens", "n_cache_tokens", "n_output_tokens")


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def run_faults(run: dict[str, Any], means: dict[str, float]) -> Iterator[str]:
    """What is wrong with the report of the run and with any of its jobs."""
    if run["exit_code"] != 0:
        yield f"the run says exit_code {run['exit_code']}"
    found = {job["harness"]: job["mean"] for job in run["jobs"]}
    if means and found != means:
        yield f"the means are {found}, expected {means}"
    on_disk = {manifest.parent.resolve() for manifest in Path(run["batch"]).glob("*/manifest.json")}
    if on_disk != {Path(job["path"]).resolve() for job in run["jobs"]}:
        yield f"{run['batch']} holds other sealed jobs than the run reports"
    for job in run["jobs"]:
        yield from (f"{job['path']}: {fault}" for fault in job_faults(Path(job["path"]), job))


def job_faults(folder: Path, reported: dict[str, Any]) -> Iterator[str]:
    """What is wrong with one job folder, and where the run's report says something else of it."""
    yield from seal_faults(folder)
    trials = {path.parent.name: read(path) for path in sorted(folder.glob("*/result.json"))}
    unread = [f"{name}: {fault}" for name, trial in trials.items() for fault in trial_faults(trial)]
    unread += [f"{name}: has no lock.json" for name in trials if not (folder / name / "lock.json").is_file()]
    yield from unread
    if not unread:
        yield from total_faults(folder, trials, reported)


def total_faults(folder: Path, trials: dict[str, Any], reported: dict[str, Any]) -> Iterator[str]:
    """Figures of the job, or of the run's report, that do not follow from the trials."""
    result, figures = read(folder / "result.json"), figures_of(list(trials.values()))
    for key, value in figures.items():
        if result[key] != value:
            yield f"result.json says {key} {result[key]}, the trials say {value}"
    for key, ours in (("trials", "n_trials"), ("with_reward", "n_with_reward"), ("mean", "mean")):
        if reported[key] != figures[ours]:
            yield f"the run reports {key} {reported[key]}, the trials say {figures[ours]}"


def seal_faults(folder: Path) -> Iterator[str]:
    """Files that are not what manifest.json says, are missing, or are not in it."""
    manifest = read(folder / "manifest.json")
    sealed = manifest["files"]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    for path in sorted(there ^ (set(sealed) | {"manifest.json"})):
        yield f"{path}: is in only one of folder and seal"
    for path in sorted(there & set(sealed)):
        content = (folder / path).read_bytes()
        if [hashlib.sha256(content).hexdigest(), len(content)] != [sealed[path]["sha256"], sealed[path]["size"]]:
            yield f"{path}: differs from the seal"
    lines = [f"{manifest['format']} {manifest['job_id']} {manifest['sealed_at']}"]
    lines += [f"{sealed[path]['sha256']} {sealed[path]['size']} {path}" for path in sorted(sealed)]
    if hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest() != manifest["root"]:
        yield "manifest.json: root does not follow from files"


def trial_faults(trial: dict[str, Any]) -> Iterator[str]:
    """What a script written for Harbor would stumble over in a trial's result.json."""
    for key, kind in HARBOR_KEYS.items():
        if key not in trial or not isinstance(trial[key], kind):
            yield f"{key} is {trial.get(key, 'missing')!r}"
            return
    for part in (trial, *(trial[phase] for phase in PHASES if trial[phase])):
        if datetime.fromisoformat(part["started_at"]) > datetime.fromisoformat(part["finished_at"]):
            yield f"ended before it began: {part['started_at']}, {part['finished_at']}"
    for key in TOKENS:
        if not isinstance((trial["agent_result"] or {}).get(key), (int, NULL)):
            yield f"agent_result.{key} is no count"
    rewards = (trial["verifier_result"] or {"rewards": {"reward": None}})["rewards"]
    if next(iter(rewards)) != "reward" or not (rewards["reward"] is None or 0 <= rewards["reward"] <= 1):
        yield f"verifier_result.rewards is {rewards}"


def reward_of(trial: dict[str, Any]) -> float | None:
    return trial["verifier_result"]["rewards"]["reward"] if trial["verifier_result"] else None


def figures_of(trials: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of a job's result.json that follow from its trials; no reward counts 0 in the mean."""
    by_task: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        by_task[trial["task_name"]].append(reward_of(trial) or 0.0)
    task_means = [fmean(rewards) for rewards in by_task.values()]
    return {
        "n_trials": len(trials),
        "n_planned": len(trials),
        "n_with_reward": sum(reward_of(trial) is not None for trial in trials),
        "mean": fmean(task_means) if task_means else 0.0,
        "exceptions": dict(Counter(t["exception_info"]["exception_type"] for t in trials if t["exception_info"])),
    }


def main(argv: list[str]) -> int:
    run = read(Path(argv[0]))
    means = {name: float(mean) for name, _, mean in (text.partition("=") for text in argv[1:])}
    faults = list(run_faults(run, means))
    for fault in faults:
        print(f"smoke: {fault}", file=sys.stderr)
    if not faults:
        print(f"smoke: {len(run['jobs'])} jobs are what their readers expect")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
