"""A batch from plan to seals, on the scripted engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from hbench.container.engine import Command
from hbench.errors import EngineError, SealError
from hbench.job.outcome import JobOutcome
from hbench.plan.model import TrialPlan
from hbench.results import journal
from hbench.results.record import TrialRecord
from hbench.results.seal import seal
from hbench.results.verify import verify
from tests.job.world import World


def test_every_job_of_a_finished_batch_is_sealed_and_verifies(world: World) -> None:
    """One folder an arm, each with all its trials."""
    outcome = world.run()
    assert [len(job.records) for job in outcome.jobs] == [4, 4]
    assert [_result(job)["mean"] for job in outcome.jobs] == [1.0, 0.0]
    assert all(verify(job.path) == [] for job in outcome.jobs)
    assert outcome.exit_code == 0


def test_no_container_is_left_when_the_batch_ends(world: World) -> None:
    """Teardown is off the critical path, but not left to chance."""
    world.run()
    assert world.engine.containers == {}
    assert len(world.engine.removed) == 8


def test_the_locks_are_on_disk_before_the_first_trial(world: World) -> None:
    """What a job was about to do can be read however it ends."""
    seen: list[int] = []

    def looks(files: dict[str, bytes], _: Command) -> int:
        seen.append(len(list((world.folder / "jobs").glob("*/*/lock.json"))))
        files["/logs/verifier/reward.txt"] = b"0"
        return 0

    world.engine.scripts["test.sh"] = looks
    world.run()
    assert set(seen) == {2}


def test_trials_of_the_arms_take_turns(world: World) -> None:
    """No arm runs at another time of day than the others (R20)."""
    world.write("suite.toml", (world.folder / "suite.toml").read_text().replace("concurrency = 2", "concurrency = 1"))
    world.run()
    arms = [name.split("/")[1] for name in world.watcher.ids_started]
    assert all({a, b} == {"oracle", "nop"} for a, b in zip(arms[::2], arms[1::2], strict=True))


def test_a_build_that_fails_is_recorded_for_each_of_its_trials(world: World) -> None:
    """The job is complete and sealed; the exit code says that some trials have no reward."""
    world.engine.refuse["build"] = "step 2 failed"
    outcome = world.run()
    assert {record.exception_type for job in outcome.jobs for record in job.records} == {"EnvironmentBuildError"}
    assert all(job.not_sealed is None and verify(job.path) == [] for job in outcome.jobs)
    assert outcome.exit_code == 1
    assert any("step 2 failed" in warning for warning in world.watcher.warnings)


def test_a_trial_that_never_got_to_the_agent_is_retried_and_every_start_counted(world: World) -> None:
    """Earlier starts stay under attempts/ (R05)."""
    world.write("suite.toml", (world.folder / "suite.toml").read_text() + "[retry]\nmax_retries = 1\n")
    world.engine.refuse["start"] = "no space left on device"
    outcome = world.run()
    record = outcome.jobs[0].records[0]
    assert (record.exception_type, record.starts) == ("EnvironmentStartError", 2)
    assert _result(outcome.jobs[0])["retries"] == 4
    first = outcome.jobs[0].path / record.trial_name / "attempts" / "1" / "result.json"
    assert json.loads(first.read_text())["starts"] == 1
    assert verify(outcome.jobs[0].path) == []


def test_an_agent_that_fails_is_never_retried(world: World) -> None:
    """A retry would be a second try at the task."""
    world.write("suite.toml", (world.folder / "suite.toml").read_text() + "[retry]\nmax_retries = 3\n")
    world.engine.scripts["run.sh"] = world.engine.scripts["solve.sh"] = lambda *_: 1
    outcome = world.run()
    assert {record.starts for job in outcome.jobs for record in job.records} == {1}


def test_a_cancelled_batch_is_not_sealed_and_says_130(world: World) -> None:
    """What had ended stays; what had not started has no record."""
    _cancel_after(world, 3)
    outcome = world.run()
    assert outcome.cancelled
    assert outcome.exit_code == 130
    for job in outcome.jobs:
        assert (job.not_sealed is None) == (len(job.records) == 4 and (job.path / "manifest.json").exists())
    assert any(job.not_sealed is not None for job in outcome.jobs)
    assert world.engine.containers == {}


def test_the_journal_has_every_start_and_every_end(world: World) -> None:
    """In that order for each trial."""
    outcome = world.run()
    events = journal.read(outcome.jobs[0].path / "journal.jsonl")
    for trial in outcome.jobs[0].plan.trials:
        assert [one.event for one in events if one.trial == trial.folder] == ["start", "begun", "end"]


def test_without_the_image_that_stops_agents_nothing_runs(world: World) -> None:
    """Better no run than one whose limits cannot be enforced."""
    world.engine.images.clear()
    world.engine.refuse["pull"] = "no such host"
    with pytest.raises(EngineError, match="no such host"):
        world.run()
    assert not (world.folder / "jobs").exists()


def test_the_batch_folder_has_the_suite_as_given(world: World) -> None:
    """So that the batch can be run again, and resumed."""
    outcome = world.run()
    assert (outcome.path / "suite.toml").read_text() == (world.folder / "suite.toml").read_text()
    assert json.loads((outcome.path / "batch.json").read_text())["state"] == "done"


def test_a_job_that_cannot_be_sealed_does_not_hold_up_the_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The person is told which and why, and the exit code is that of a seal."""
    really = seal

    def refuses_nop(path: Path) -> object:
        if path.name.startswith("nop"):
            raise SealError("would tell whose machine it was", where=path)
        return really(path)

    monkeypatch.setattr("hbench.job.run.seal", refuses_nop)
    outcome = world.run()
    assert [job.not_sealed is None for job in outcome.jobs] == [True, False]
    assert outcome.exit_code == 6
    assert any("whose machine" in warning for warning in world.watcher.warnings)


def test_two_batches_in_one_second_get_folders_of_their_own(world: World) -> None:
    """No result is ever written over another."""
    paths: set[Path] = {world.run().path, world.run().path, world.run().path}
    assert len(paths) == 3


def _result(job: JobOutcome) -> Any:
    return json.loads((job.path / "result.json").read_text())


def _cancel_after(world: World, trials: int) -> None:
    ended: list[str] = []

    def count(trial: TrialPlan, _: TrialRecord) -> None:
        ended.append(trial.id)
        if len(ended) == trials:
            world.cancel.set()

    world.watcher.on_ended = count
