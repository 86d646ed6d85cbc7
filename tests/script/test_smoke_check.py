"""script/smoke_check.py, on a job made by hand: what it must let pass, and everything it must find."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "script" / "smoke_check.py"
TIMES = {"started_at": "2026-01-05T10:00:00+00:00", "finished_at": "2026-01-05T10:00:09+00:00"}


def trial(task: str, attempt: int, reward: float | None) -> dict[str, Any]:
    return {
        "id": f"{task}-{attempt}",
        "task_name": task,
        "trial_name": f"{task}__{attempt}",
        "task_checksum": "0" * 64,
        "agent_info": {"name": "oracle", "version": "1"},
        "agent_result": {"n_input_tokens": None, "n_cache_tokens": None, "n_output_tokens": 7, "cost_usd": None},
        "verifier_result": None if reward is None else {"rewards": {"reward": reward}},
        "exception_info": None if reward is not None else {"exception_type": "VerifierTimeoutError"},
        **TIMES,
        "environment_setup": TIMES,
        "agent_setup": None,
        "agent_execution": TIMES,
        "verifier": TIMES,
    }


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def seal(job: Path) -> None:
    """manifest.json over what is there now."""
    contents = {p.relative_to(job).as_posix(): p.read_bytes() for p in job.rglob("*") if p.is_file()}
    contents.pop("manifest.json", None)
    files = {path: {"sha256": sha256(data), "size": len(data)} for path, data in sorted(contents.items())}
    lines = ["hbench/manifest@1 j now", *(f"{f['sha256']} {f['size']} {path}" for path, f in files.items())]
    root = sha256("".join(f"{line}\n" for line in lines).encode())
    seal_of_all = {"format": "hbench/manifest@1", "job_id": "j", "sealed_at": "now", "files": files, "root": root}
    write(job / "manifest.json", seal_of_all)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """Two tasks, two attempts: rewards 1 and 0.5, then 1 and none. Its mean is 0.625."""
    job = tmp_path / "smoke" / "oracle"
    for task, attempt, reward in (("a", 1, 1.0), ("a", 2, 0.5), ("b", 1, 1.0), ("b", 2, None)):
        write(job / f"{task}__{attempt}" / "result.json", trial(task, attempt, reward))
        write(job / f"{task}__{attempt}" / "lock.json", {})
    exceptions = {"VerifierTimeoutError": 1}
    figures = {"n_planned": 4, "n_trials": 4, "n_with_reward": 3, "mean": 0.625, "exceptions": exceptions}
    write(job / "result.json", figures)
    seal(job)
    return job


def check(job: Path, *, mean: float = 0.625, expected: str = "oracle=0.625") -> subprocess.CompletedProcess[str]:
    report = {"path": str(job), "harness": "oracle", "model": None, "trials": 4, "with_reward": 3, "mean": mean}
    run = job.parent.parent / "run.json"
    write(run, {"batch": str(job.parent), "jobs": [report], "exit_code": 0})
    return subprocess.run(
        [sys.executable, SCRIPT, run, expected], check=False, capture_output=True, text=True, timeout=60
    )


def change(path: Path, edit: Callable[[dict[str, Any]], Any]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    edit(content)
    write(path, content)


def test_a_job_as_it_should_be_passes(job: Path) -> None:
    """Partial credit, and a trial without a reward that counts 0."""
    checked = check(job)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("name", ["a__1/result.json", "b__2/lock.json", "result.json"])
def test_a_changed_file_is_named(job: Path, name: str) -> None:
    """One byte more is enough."""
    with (job / name).open("a") as file:
        file.write(" ")
    checked = check(job)
    assert checked.returncode == 1
    assert f"{name}: differs from the seal" in checked.stderr


def test_a_file_that_nobody_sealed_is_named(job: Path) -> None:
    """Whatever lies in the folder is part of it."""
    (job / "a__1" / "note.txt").write_text("hello")
    assert "a__1/note.txt: is in only one of folder and seal" in check(job).stderr


def test_a_root_that_does_not_follow_is_found(job: Path) -> None:
    """The root digest is worked out anew."""
    change(job / "manifest.json", lambda manifest: manifest.update(root="0" * 64))
    assert "root does not follow" in check(job).stderr


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        ("task_checksum", None, "task_checksum is None"),
        ("exception_info", "none", "exception_info is 'none'"),
        ("agent_result", {"n_input_tokens": "12"}, "agent_result.n_input_tokens is no count"),
        ("verifier_result", {"rewards": {"style": 1.0, "reward": 1.0}}, "verifier_result.rewards is"),
        ("verifier_result", {"rewards": {"reward": 1.5}}, "verifier_result.rewards is"),
        ("finished_at", "2026-01-05T09:00:00+00:00", "ended before it began"),
    ],
)
def test_a_result_that_harbors_readers_would_stumble_over_is_found(
    job: Path, key: str, value: object, fault: str
) -> None:
    """Even where the seal is right."""
    change(job / "a__1" / "result.json", lambda result: result.update({key: value}))
    seal(job)
    assert f"a__1: {fault}" in check(job).stderr


@pytest.mark.parametrize("key", ["n_planned", "n_trials", "n_with_reward", "mean", "exceptions"])
def test_a_total_that_does_not_follow_from_the_trials_is_found(job: Path, key: str) -> None:
    """Even where the seal is right."""
    change(job / "result.json", lambda result: result.update({key: 0}))
    seal(job)
    assert f"result.json says {key} 0" in check(job).stderr


def test_a_mean_that_was_not_expected_is_found(job: Path) -> None:
    """The report of the run, and what the caller knows of the harness."""
    assert "expected {'oracle': 1.0}" in check(job, expected="oracle=1.0").stderr
    assert "the run reports mean 0.5" in check(job, mean=0.5).stderr
