"""`hbench validate` from the command line to the exit code, on the scripted engine."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbench.cli.app import app, main
from hbench.container.engine import Command
from hbench.container.fake import FakeEngine
from hbench.results.verify import verify
from tests.trial.scripts import writes_reward

Files = dict[str, bytes]


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """Its solutions write what the tests ask for; nothing else does."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    engine = FakeEngine()
    engine.scripts = {"test.sh": judges, "run.sh": solves}
    monkeypatch.setattr("hbench.cli.execute.connect", lambda **_: engine)
    return engine


@pytest.fixture
def task(tmp_path: Path) -> Callable[..., Path]:
    """Writes a task below tasks/."""

    def write(name: str, **files: str) -> Path:
        folder = tmp_path / "tasks" / name
        for path, text in {
            "instruction.md": "Write it to `/app/out.txt`.\n",
            "task.toml": '[environment]\ndocker_image = "debian:bookworm-slim"\n',
            "solution/solve.sh": "echo it > /app/out.txt\n",
            "tests/test.sh": "check /app/out.txt\n",
            **files,
        }.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder

    return write


def solves(files: Files, _: Command) -> int:
    """The scripts of all built-in harnesses are called so; only oracle has the solution."""
    if "/solution/solve.sh" in files:
        files["/app/out.txt"] = b"it"
    return 0


def judges(files: Files, _: Command) -> int:
    files["/logs/verifier/reward.txt"] = b"1" if "/app/out.txt" in files else b"0"
    return 0


def run(*arguments: str) -> tuple[int, str]:
    """Exit status and what is printed."""
    done = CliRunner().invoke(app, ["validate", "-q", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_sound_tasks_are_admitted_and_their_evidence_is_sealed(
    engine: FakeEngine, task: Callable[..., Path], tmp_path: Path
) -> None:
    """Exit status 0; one batch, whose every job verifies; no container stays."""
    task("alpha")
    task("beta")
    code, said = run("tasks")
    assert code == 0
    assert "2 tasks: 2 admitted" in said
    [batch] = (tmp_path / "jobs").iterdir()
    assert batch.name.startswith("validate-")
    assert verify(batch) == []
    assert engine.containers == {}


def test_one_task_that_is_not_admitted_is_exit_status_1(engine: FakeEngine, task: Callable[..., Path]) -> None:
    """A reward for nothing."""
    task("alpha")
    engine.scripts["test.sh"] = writes_reward("1")
    code, said = run("tasks/alpha")
    assert code == 1
    assert "nop earns 1: the task is solved before anyone began" in said
    assert "hbench validate tasks/alpha" in said


def test_an_invalid_task_fails_the_validation_and_the_others_run(engine: FakeEngine, task: Callable[..., Path]) -> None:
    """Each is told what is wrong with it."""
    task("alpha")
    task("broken", **{"task.toml": "nonsense = \n"})
    code, said = run("--json", "tasks")
    found = json.loads(said)
    assert [(one["name"], one["verdict"]) for one in found["tasks"]] == [("alpha", "admitted"), ("broken", "invalid")]
    assert found["tasks"][1]["reasons"][0]["what"].startswith("task.toml:1: ")
    assert found["exit_code"] == code == 1


def test_where_no_task_can_run_the_engine_is_not_asked(
    engine: FakeEngine, task: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And there is no batch."""
    monkeypatch.setattr("hbench.cli.execute.connect", None)
    task("broken", **{"task.toml": "nonsense = \n"})
    code, said = run("tasks", "--json")
    assert (code, json.loads(said)["batch"]) == (1, None)
    assert not (tmp_path / "jobs").exists()


def test_the_json_names_every_trial_and_where_its_files_are(
    engine: FakeEngine, task: Callable[..., Path], tmp_path: Path
) -> None:
    """The task's own baselines are called by their file."""
    task("alpha", **{"baselines/guess.sh": "echo guess\n"})
    found = json.loads(run("tasks", "--json")[1])
    trials = {trial["harness"]: trial for trial in found["tasks"][0]["trials"]}
    assert {"oracle", "nop", "lazy-copy", "baselines/guess.sh"} <= set(trials)
    assert {name: trial["role"] for name, trial in trials.items() if trial["role"] != "lazy"} == {
        "oracle": "oracle",
        "nop": "nop",
    }
    assert all((tmp_path / trial["folder"] / "result.json").is_file() for trial in trials.values())


def test_a_person_can_stop_it(engine: FakeEngine, task: Callable[..., Path]) -> None:
    """Exit status 130; what did not run is not judged, and what ran is told."""
    task("alpha")

    def interrupts_once(files: Files, command: Command) -> int:
        engine.scripts["test.sh"] = judges
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.5)  # the signal is the main thread's to handle
        return judges(files, command)

    engine.scripts["test.sh"] = interrupts_once
    code, said = run("tasks", "-n", "1")
    assert code == 130
    assert "alpha: not judged" in said
    assert "stopped before it began" in said


def test_an_agents_limit_can_be_scaled(engine: FakeEngine, task: Callable[..., Path]) -> None:
    """0.05 times 120 s (R04)."""
    task("alpha", **{"task.toml": 'environment.docker_image = "debian:bookworm-slim"\nagent.timeout_sec = 120.0\n'})
    run("tasks", "--agent-timeout-multiplier", "0.05", "-n", "1")
    assert {command.timeout_s for command in engine.ran if "/hbench/harness/run.sh" in command.argv} == {6.0}


def test_errors_have_codes_of_their_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder that is not there is a wrong command line."""
    monkeypatch.setattr(sys, "argv", ["hbench", "validate", "absent"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: no such folder: absent")
