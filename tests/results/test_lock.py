"""A lock plans every attempt of every task once, in folders that stay inside the job."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from hbench.results.files import as_model, dump_json, load_json
from hbench.results.lock import JobLock


def test_a_lock_is_read_back_as_it_was_written(lock: dict[str, Any]) -> None:
    """Types taken strictly, as for everything that is read."""
    written = dump_json(JobLock.model_validate(lock).model_dump(mode="json"), where="lock.json")
    assert load_json(written, where="lock.json") == lock
    assert as_model(lock, JobLock, where="lock.json").model_dump(mode="json") == lock


def _twice(lock: dict[str, Any]) -> None:
    lock["trials"].append(lock["trials"][0])


def _one_less(lock: dict[str, Any]) -> None:
    lock["trials"].pop()


def _same_folder(lock: dict[str, Any]) -> None:
    lock["trials"][0]["folder"] = lock["trials"][1]["folder"]


def _other_task(lock: dict[str, Any]) -> None:
    lock["trials"][0]["task"] = "delta"


def _attempt_3(lock: dict[str, Any]) -> None:
    lock["trials"][0]["attempt"] = 3


def _task_twice(lock: dict[str, Any]) -> None:
    lock["tasks"].append(lock["tasks"][0])


def _one_task_less(lock: dict[str, Any]) -> None:
    lock["tasks"].pop(0)


def _more_attempts(lock: dict[str, Any]) -> None:
    lock["tasks"][0]["attempts"] = 10**9


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_twice, "the trial 'alpha/oracle/1' stands twice"),
        (_one_less, "'gamma' are not its 2 attempts"),
        (_same_folder, "the folder 'alpha__2' stands twice"),
        (_other_task, "'alpha' are not its 2 attempts"),
        (_attempt_3, "'alpha' are not its 2 attempts"),
        (_task_twice, "the task 'alpha' stands twice"),
        (_more_attempts, "'alpha' are not its 1000000000 attempts"),
        (_one_task_less, "the task 'alpha' of a trial is not among the tasks"),
    ],
)
def test_trials_are_tasks_times_attempts(
    lock: dict[str, Any], change: Callable[[dict[str, Any]], None], what: str
) -> None:
    """Neither one too few nor one too many (R22)."""
    change(lock)
    with pytest.raises(ValidationError, match=what):
        JobLock.model_validate(lock)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "a/b", "/a", "../x", "a\nb", "a\x7f", "a\udcff", "lock.json", "manifest.json", "result.json"],
)
def test_a_trial_folder_cannot_lie_elsewhere_or_be_a_file_of_the_job(lock: dict[str, Any], name: str) -> None:
    """A lock may come from anybody."""
    lock["trials"][0]["folder"] = name
    with pytest.raises(ValidationError, match="is not the name of a trial folder"):
        JobLock.model_validate(lock)


@pytest.mark.parametrize("key", ["format", "job_id", "tasks", "machine", "prices"])
def test_no_key_may_be_missing_or_unknown(lock: dict[str, Any], key: str) -> None:
    """Null is written where there is nothing."""
    with pytest.raises(ValidationError, match=key):
        JobLock.model_validate({name: value for name, value in lock.items() if name != key})
    with pytest.raises(ValidationError, match="colour"):
        JobLock.model_validate(lock | {"colour": "red"})
