"""Trials that are not the planned ones are named, though the seal was made anew as a forger would."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.results.verify import verify

Edit = Callable[[Path, Callable[[Any], object]], None]
OnJob = Callable[[Path], None]


def told(job: Path) -> list[str]:
    return [str(fault) for fault in verify(job)]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("trial_id", "alpha/oracle/2"),
        ("trial_name", "alpha__2"),
        ("task_name", "beta"),
        ("task_checksum", "f" * 64),
        ("attempt", 2),
        ("agent_info", {"name": "codex", "version": "1", "model_info": None}),
        ("agent_info", {"name": "oracle", "version": "2", "model_info": None}),
        ("agent_info", {"name": "oracle", "version": "1", "model_info": {"name": "m", "provider": None}}),
        ("exception_info", {"exception_type": "AgentTimeoutError", "exception_message": ""}),
        ("starts", 2),
        ("verifier_result", None),
        ("verifier_result", {"rewards": {}}),
        ("verifier_result", {"rewards": {"speed": 1.0, "reward": 1.0}}),
        ("verifier_result", {"rewards": {"reward": True}}),
        ("verifier_result", {"rewards": {"reward": "1"}}),
        ("verifier_result", {"rewards": {"reward": 7.0}}),
        ("started_at", "yesterday"),
        ("starts", 0),
        ("format", "hbench/trial-result@2"),
        ("id", None),
        ("colour", "red"),
    ],
)
def test_a_trials_result_that_is_not_the_planned_trials_or_not_valid_is_named(
    sealed_job: Path, edit: Edit, seal_anew: OnJob, key: str, value: Any
) -> None:
    """Each key that lock, journal or verifier know too, and each that a reader relies on."""
    edit(sealed_job / "alpha__1" / "result.json", lambda record: record.update({key: value}))
    seal_anew(sealed_job)
    assert [f for f in verify(sealed_job) if f.path in {"alpha__1/result.json", "journal.jsonl", "result.json"}]


@pytest.mark.parametrize("key", ["format", "id", "trial_id", "verifier_result", "exception_info", "started_at"])
def test_a_trials_result_without_one_of_its_keys_is_named(
    sealed_job: Path, edit: Edit, seal_anew: OnJob, key: str
) -> None:
    edit(sealed_job / "alpha__1" / "result.json", lambda record: record.pop(key))
    seal_anew(sealed_job)
    assert any(line.startswith(f"alpha__1/result.json: {key}") for line in told(sealed_job))


def test_a_key_that_stands_twice_is_named(sealed_job: Path, seal_anew: OnJob) -> None:
    """One reader would take the first, another the last."""
    path = sealed_job / "beta__2" / "result.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"reward": 0.0', '"reward": 1.0,\n"reward": 0.0'), encoding="utf-8")
    seal_anew(sealed_job)
    assert any(
        "beta__2/result.json: is not valid JSON: the key 'reward' stands twice" in line for line in told(sealed_job)
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("job_id", "another"),
        ("trial_id", "alpha/oracle/2"),
        ("folder", "alpha__2"),
        ("task", "beta"),
        ("attempt", 2),
        ("task_digest", "0" * 64),
        ("image_id", "sha256:other"),
        ("image_id", None),
    ],
)
def test_a_trials_lock_that_differs_from_the_jobs_is_named(
    sealed_job: Path, edit: Edit, seal_anew: OnJob, key: str, value: Any
) -> None:
    edit(sealed_job / "alpha__1" / "lock.json", lambda lock: lock.update({key: value}))
    seal_anew(sealed_job)
    assert [line for line in told(sealed_job) if line.startswith(f"alpha__1/lock.json: {key}: says ")]


def test_a_limit_of_one_trial_that_differs_from_its_tasks_is_named(
    sealed_job: Path, edit: Edit, seal_anew: OnJob
) -> None:
    edit(sealed_job / "alpha__1" / "lock.json", lambda lock: lock["limits"].update(agent_timeout_s=9999.0))
    seal_anew(sealed_job)
    assert told(sealed_job) == ["alpha__1/lock.json: limits.agent_timeout_s: says 9999.0, the job's lock gives 120.0"]


def test_a_trial_that_was_taken_out_is_named(sealed_job: Path, seal_anew: OnJob) -> None:
    """A failed attempt may not just vanish."""
    shutil.rmtree(sealed_job / "gamma__2")
    seal_anew(sealed_job)
    assert "gamma__2/result.json: is missing" in told(sealed_job)


def test_a_trial_taken_out_of_the_lock_too_is_named(sealed_job: Path, edit: Edit, seal_anew: OnJob) -> None:
    """Trials are tasks times attempts."""
    shutil.rmtree(sealed_job / "gamma__2")
    edit(sealed_job / "lock.json", lambda lock: lock["trials"].pop())
    seal_anew(sealed_job)
    assert "lock.json: the whole: the trials of 'gamma' are not its 2 attempts, each once" in told(sealed_job)


def test_a_name_in_a_file_cannot_play_with_the_terminal(sealed_job: Path, edit: Edit, seal_anew: OnJob) -> None:
    """An unknown key is quoted, escaped."""
    edit(sealed_job / "alpha__1" / "result.json", lambda record: record.update({"a\x1b[2J\nOK": 1}))
    seal_anew(sealed_job)
    assert all(line.isprintable() for line in told(sealed_job))
    assert any(line.startswith("alpha__1/result.json: a\\x1b[2J\\nOK: ") for line in told(sealed_job))


def test_a_trial_that_was_brought_in_is_named(sealed_job: Path, seal_anew: OnJob) -> None:
    shutil.copytree(sealed_job / "alpha__1", sealed_job / "delta__1")
    seal_anew(sealed_job)
    assert told(sealed_job) == ["delta__1: is not the folder of a planned trial"]


def test_a_trial_put_in_anothers_place_is_named(sealed_job: Path, seal_anew: OnJob) -> None:
    """A pass copied over a failure."""
    shutil.rmtree(sealed_job / "beta__2")
    shutil.copytree(sealed_job / "alpha__1", sealed_job / "beta__2")
    seal_anew(sealed_job)
    found = told(sealed_job)
    assert "beta__2/result.json: id: is the same as that of alpha__1" in found
    assert "beta__2/result.json: trial_id: says 'alpha/oracle/1', the job's lock gives 'beta/oracle/2'" in found


def test_a_lock_that_is_not_valid_is_named_by_its_key(sealed_job: Path, edit: Edit, seal_anew: OnJob) -> None:
    edit(sealed_job / "lock.json", lambda lock: lock["suite"].update(attempts="2"))
    seal_anew(sealed_job)
    assert any(line.startswith("lock.json: suite.attempts: ") for line in told(sealed_job))


def test_a_seal_of_another_job_is_named(sealed_job: Path, edit: Edit, seal_anew: OnJob, refit: OnJob) -> None:
    """Also where every trial's lock was changed with it."""
    for name in ("lock.json", *(f"{p.parent.name}/lock.json" for p in sealed_job.glob("*/lock.json"))):
        edit(sealed_job / name, lambda lock: lock.update(job_id="another"))
    refit(sealed_job)
    seal_anew(sealed_job)
    assert told(sealed_job) == [
        "manifest.json: job_id: says '8f14e45f-ceea-467f-a0f5-4b1f2d3c4e5a', lock.json says 'another'"
    ]


def test_a_forgery_in_which_everything_fits_is_not_found(
    sealed_job: Path, edit: Edit, seal_anew: OnJob, refit: OnJob
) -> None:
    """The limit of verifying, as docs/job-folder.md says: nobody runs the trials again."""
    trial = sealed_job / "beta__2"
    (trial / "verifier" / "reward.txt").write_text("1", encoding="utf-8")
    edit(trial / "result.json", lambda record: record["verifier_result"]["rewards"].update(reward=1.0))
    text = (sealed_job / "journal.jsonl").read_text(encoding="utf-8")
    (sealed_job / "journal.jsonl").write_text(text.replace('"reward": 0.0', '"reward": 1.0'), encoding="utf-8")
    refit(sealed_job)
    seal_anew(sealed_job)
    assert verify(sealed_job) == []
