"""What the agent left, copied out, on the scripted engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hbench.container.fake import FakeEngine
from hbench.plan.model import TrialPlan
from hbench.results.record import TrialRecord
from hbench.task.model import Artifact, Task

Run = Callable[..., TrialRecord]


@pytest.fixture
def task(trial: TrialPlan) -> Task:
    return trial.task


def leaves(engine: FakeEngine, **files: str) -> None:
    """The agent leaves these files; `__` in a name stands for a slash."""

    def work(container: dict[str, bytes], _: object) -> int:
        container |= {f"/{name.replace('__', '/')}": text.encode() for name, text in files.items()}
        return 0

    engine.scripts["agent"] = work


def test_an_artifact_goes_where_it_is_declared_to_or_under_its_own_path(
    engine: FakeEngine, run: Run, task: Task, tmp_path: Path
) -> None:
    """A file or a folder."""
    leaves(engine, app__out__a="1", app__out__b="2", app__log="3")
    artifacts = (
        Artifact(source="/app/out"),
        Artifact(source="/app/log", destination="logs/run.log"),
    )
    record = run(task=replace(task, artifacts=artifacts))
    kept = {
        path.relative_to(tmp_path / "trial" / "artifacts").as_posix(): path.read_text()
        for path in (tmp_path / "trial" / "artifacts").rglob("*")
        if path.is_file()
    }
    assert kept == {"app/out/a": "1", "app/out/b": "2", "logs/run.log": "3"}
    assert record.flags == []


def test_what_an_artifact_excludes_stays_behind_unflagged(
    engine: FakeEngine, run: Run, task: Task, tmp_path: Path
) -> None:
    """It was not wanted."""
    leaves(engine, app__out__a="1", app__out__cache__b="2")
    record = run(task=replace(task, artifacts=(Artifact(source="/app/out", exclude=("cache",)),)))
    assert not (tmp_path / "trial" / "artifacts" / "app" / "out" / "cache").exists()
    assert record.flags == []


def test_an_artifact_that_is_not_there_is_a_flag_and_no_more(engine: FakeEngine, run: Run, task: Task) -> None:
    """The tests judge the work, not the collection."""
    record = run(task=replace(task, artifacts=(Artifact(source="/nowhere"),)))
    assert (record.reward, record.flags) == (1.0, ["artifact_missing"])


def test_a_log_of_the_agents_does_not_replace_what_hbench_recorded(
    engine: FakeEngine, run: Run, tmp_path: Path
) -> None:
    """Its stdout.txt is not the true one."""
    leaves(engine, logs__agent__stdout="x", **{"logs__agent__stdout.txt": "fake"})
    record = run()
    assert (tmp_path / "trial" / "agent" / "stdout.txt").read_text() == ""
    assert record.flags == ["files_not_collected"]


def test_the_tests_cannot_change_what_is_kept(engine: FakeEngine, run: Run, tmp_path: Path) -> None:
    """It is copied out before they run."""
    leaves(engine, logs__artifacts__plot="agent's")

    def tests(files: dict[str, bytes], _: object) -> int:
        files["/logs/artifacts/plot"] = b"tests'"
        files["/logs/verifier/reward.txt"] = b"1"
        return 0

    engine.scripts["test.sh"] = tests
    run()
    assert (tmp_path / "trial" / "artifacts" / "plot").read_text() == "agent's"
