"""A task, a trial of it, and a bench on the scripted engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from hbench.adapter.model import Adapter, AdapterFile, Configuration
from hbench.container.fake import FakeEngine, image_facts
from hbench.plan.model import Arm, Limits, TrialPlan
from hbench.results.record import TrialRecord
from hbench.task.load import load_task
from hbench.trial.bench import Bench, Prepared
from hbench.trial.run import run_trial
from tests.trial.scripts import writes_reward

LIMITS = Limits(
    agent_timeout_s=10,
    verifier_timeout_s=10,
    build_timeout_s=10,
    setup_timeout_s=10,
    cpus=1.0,
    memory_mb=256,
    pids=64,
)


@pytest.fixture
def task_folder(tmp_path: Path) -> Path:
    """A valid Harbor task."""
    folder = tmp_path / "tasks" / "greet"
    for name, text in {
        "instruction.md": "Write `hello` to `/app/greeting.txt`.\n",
        "task.toml": 'version = "1.0"\n',
        "environment/Dockerfile": "FROM debian:bookworm-slim\nWORKDIR /app\n",
        "solution/solve.sh": "echo hello > /app/greeting.txt\n",
        "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def adapter(tmp_path: Path) -> Adapter:
    """A harness that runs `agent`."""
    folder = tmp_path / "harness"
    folder.mkdir()
    (folder / "adapter.toml").write_text("")
    spec = AdapterFile(format=1, name="scripted", version="1", command=["agent"])
    return Adapter(name="scripted", spec=spec, folder=folder, digest="d" * 64, built_in=False)


@pytest.fixture
def trial(task_folder: Path, adapter: Adapter) -> TrialPlan:
    """One attempt of it at the task."""
    arm = Arm(
        label="scripted",
        folder="scripted--none--00000000",
        digest="0" * 64,
        configuration=Configuration(adapter=adapter),
        model=None,
    )
    return TrialPlan(
        id="greet/scripted/1", folder="greet__1", arm=arm, task=load_task(task_folder), attempt=1, limits=LIMITS
    )


@pytest.fixture
def engine() -> FakeEngine:
    """Its tests write reward 1 unless a test says otherwise."""
    fake = FakeEngine()
    fake.scripts["test.sh"] = writes_reward("1")
    return fake


@pytest.fixture
def bench(engine: FakeEngine) -> Bench:
    return Bench(
        engine=engine,
        batch_id="b" * 36,
        ca=None,
        passed_env={},
        cancel=Event(),
        bury=engine.remove,
        labels={"hbench.batch": "b"},
    )


@pytest.fixture
def run(trial: TrialPlan, bench: Bench, tmp_path: Path) -> Callable[..., TrialRecord]:
    """Run the trial, with other fields than the fixture's where given."""

    def run_it(*, task: Any = None, folder: Path = tmp_path / "trial") -> TrialRecord:
        folder.mkdir(exist_ok=True)
        plan = trial if task is None else replace(trial, task=task)
        return run_trial(plan, Prepared(image=image_facts("task"), source="build"), bench, folder)

    return run_it
