"""Small jobs made of real files: sealed once, copied for each test that damages one."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hbench.results.files import read_model, write_bytes, write_json
from hbench.results.job import JobResult, job_result
from hbench.results.journal import Journal
from hbench.results.lock import JobLock
from hbench.results.manifest import manifest_of
from hbench.results.record import TrialRecord
from hbench.results.seal import seal
from hbench.results.traces import Needles
from hbench.results.tree import scan

AT = "2026-01-02T03:04:05.000006Z"
JOB_ID = "8f14e45f-ceea-467f-a0f5-4b1f2d3c4e5a"


@dataclass(frozen=True, kw_only=True)
class Given:
    """How one trial went: the files its tests wrote, and what hbench made of them."""

    task: str
    attempt: int = 1
    files: dict[str, str] = field(default_factory=dict)
    rewards: dict[str, float] | None = None
    exception: str | None = None
    starts: int = 1
    flags: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return f"{self.task}__{self.attempt}"


TRIALS = (
    Given(task="alpha", attempt=1, files={"reward.txt": "1\n"}, rewards={"reward": 1.0}),
    Given(
        task="alpha",
        attempt=2,
        files={"reward.json": '{"speed": 0.5, "right": 0.25}'},
        rewards={"reward": 0.375, "speed": 0.5, "right": 0.25},
        flags=("reward_is_mean_of_keys",),
        starts=2,
    ),
    Given(task="beta", attempt=1, exception="RewardFileNotFoundError"),
    Given(task="beta", attempt=2, files={"reward.txt": "0"}, rewards={"reward": 0.0}, exception="AgentTimeoutError"),
    Given(task="gamma", attempt=1, exception="EnvironmentBuildError"),
    Given(task="gamma", attempt=2, files={"reward.txt": "maybe"}, exception="VerifierOutputParseError"),
)


def lock_of(trials: tuple[Given, ...]) -> dict[str, Any]:
    """The lock beside this file, with these tasks and trials."""
    lock: dict[str, Any] = json.loads(Path(__file__).with_name("lock.json").read_text(encoding="utf-8"))
    [task], [trial] = lock["tasks"], lock["trials"]
    attempts = Counter(given.task for given in trials)
    lock["tasks"] = [task | {"name": name, "attempts": count} for name, count in attempts.items()]
    lock["trials"] = [
        trial
        | {
            "trial_id": f"{given.task}/oracle/{given.attempt}",
            "folder": given.folder,
            "task": given.task,
            "attempt": given.attempt,
        }
        for given in trials
    ]
    return lock


def record_of(given: Given, number: int) -> dict[str, Any]:
    message = {"exception_type": given.exception, "exception_message": "it went wrong"}
    return {
        "format": "hbench/trial-result@1",
        "id": f"00000000-0000-4000-8000-{number:012d}",
        "trial_id": f"{given.task}/oracle/{given.attempt}",
        "task_name": given.task,
        "trial_name": given.folder,
        "task_checksum": "c" * 64,
        "attempt": given.attempt,
        "agent_info": {"name": "oracle", "version": "1", "model_info": None},
        "agent_result": None,
        "verifier_result": None if given.rewards is None else {"rewards": given.rewards},
        "exception_info": None if given.exception is None else message,
        "started_at": AT,
        "finished_at": "2026-01-02T03:04:09.000006Z",
        "environment_setup": None,
        "agent_setup": None,
        "agent_execution": None,
        "verifier": None,
        "starts": given.starts,
        "flags": list(given.flags),
    }


def write_job(folder: Path, trials: tuple[Given, ...] = TRIALS) -> Path:
    """A finished job, not sealed yet."""
    folder.mkdir(parents=True)
    lock = JobLock.model_validate(lock_of(trials))
    write_json(folder / "lock.json", lock.model_dump(mode="json"))
    records = []
    with Journal(folder / "journal.jsonl") as journal:
        for number, given in enumerate(trials, start=1):
            trial = folder / given.folder
            for name in ("agent", "verifier", "artifacts"):
                (trial / name).mkdir(parents=True)
            record = TrialRecord.model_validate(record_of(given, number))
            for start in range(1, given.starts):
                journal.start(given.folder, start, AT)
                journal.end(given.folder, start, "EnvironmentStartError", None, AT)
            journal.start(given.folder, given.starts, AT)
            write_json(trial / "lock.json", trial_lock_of(given, lock))
            write_bytes(trial / "trial.log", b"started\nended\n")
            write_bytes(trial / "agent" / "stdout.txt", f"hello from {given.folder}\n".encode())
            for name, text in given.files.items():
                write_bytes(trial / "verifier" / name, text.encode())
            write_json(trial / "result.json", record.model_dump(mode="json"))
            journal.end(given.folder, given.starts, record.exception_type, record.reward, AT)
            records.append(record)
    write_json(folder / "result.json", job_result(lock, records).model_dump(mode="json"))
    return folder


def trial_lock_of(given: Given, lock: JobLock) -> dict[str, Any]:
    task = next(task for task in lock.tasks if task.name == given.task)
    return {
        "format": "hbench/trial-lock@1",
        "job_id": lock.job_id,
        "trial_id": f"{given.task}/oracle/{given.attempt}",
        "folder": given.folder,
        "task": given.task,
        "attempt": given.attempt,
        "task_digest": task.digest,
        "image_id": None if task.image is None else task.image.id,
        "limits": task.limits.model_dump(),
    }


@pytest.fixture(scope="session")
def _sealed_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_job(tmp_path_factory.mktemp("sealed") / "oracle--none--00000000")
    seal(folder, needles=Needles())
    return folder


@pytest.fixture
def sealed_job(_sealed_once: Path, tmp_path: Path) -> Path:
    """A sealed job of three tasks and two attempts, with every kind of ending."""
    return Path(shutil.copytree(_sealed_once, tmp_path / "jobs" / _sealed_once.name))


@pytest.fixture
def finished_job(tmp_path: Path) -> Path:
    """The same job before it is sealed."""
    return write_job(tmp_path / "jobs" / "oracle--none--00000000")


@pytest.fixture
def make_job() -> Callable[..., Path]:
    """`make_job(folder, trials)`: a finished job that is not sealed."""
    return write_job


@pytest.fixture
def given() -> type[Given]:
    return Given


@pytest.fixture
def lock() -> dict[str, Any]:
    """The job's lock as plain values."""
    return lock_of(TRIALS)


@pytest.fixture
def records() -> list[TrialRecord]:
    """The job's records, in the order of the lock."""
    return [TrialRecord.model_validate(record_of(given, n)) for n, given in enumerate(TRIALS, start=1)]


@pytest.fixture(scope="session")
def result_of() -> Callable[[list[list[float | None]]], JobResult]:
    """`result_of([[1.0, None], [0.5]])`: the figures of a job with these rewards, a list for each task."""

    def do(tasks: list[list[float | None]]) -> JobResult:
        trials = tuple(
            Given(
                task=f"task-{index}",
                attempt=attempt,
                rewards=None if reward is None else {"reward": reward},
                exception="RewardFileNotFoundError" if reward is None else None,
            )
            for index, rewards in enumerate(tasks)
            for attempt, reward in enumerate(rewards, start=1)
        )
        records = [TrialRecord.model_validate(record_of(given, n)) for n, given in enumerate(trials)]
        return job_result(JobLock.model_validate(lock_of(trials)), records)

    return do


@pytest.fixture
def edit() -> Callable[[Path, Callable[[Any], object]], None]:
    """`edit(path, change)`: change a JSON file in place, as somebody with an editor would."""

    def do(path: Path, change: Callable[[Any], object]) -> None:
        value = json.loads(path.read_text(encoding="utf-8"))
        change(value)
        path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    return do


@pytest.fixture
def refit() -> Callable[[Path], None]:
    """`refit(job)`: write the figures that follow from the trials as they are now."""

    def do(job: Path) -> None:
        lock = read_model(job / "lock.json", JobLock)
        records = [read_model(job / trial.folder / "result.json", TrialRecord) for trial in lock.trials]
        write_json(job / "result.json", job_result(lock, records).model_dump(mode="json"))

    return do


@pytest.fixture
def seal_anew() -> Callable[[Path], None]:
    """`seal_anew(job)`: write a manifest that fits the files, whatever they say, as a forger would."""

    def do(job: Path) -> None:
        sealed_at = json.loads((job / "manifest.json").read_text(encoding="utf-8"))["sealed_at"]
        files = scan(job, keep=lambda path: False).files
        (job / "manifest.json").write_bytes(manifest_of(files, job_id=JOB_ID, sealed_at=sealed_at).as_bytes())

    return do
