"""Going on with a batch that did not end, on the scripted engine."""

import shutil
from pathlib import Path

import pytest

from hbench.container.errors import Cancelled
from hbench.errors import ResumeError, SealError
from hbench.job.folder import reopen
from hbench.job.outcome import BatchOutcome
from hbench.job.run import resume_batch
from hbench.plan.model import TrialPlan
from hbench.results.batch import BatchFile
from hbench.results.files import read_model
from hbench.results.record import TrialRecord
from hbench.results.verify import verify
from tests.job.world import World


@pytest.fixture
def stopped(world: World) -> BatchOutcome:
    """A batch that a person stopped after three of its eight trials."""
    ended: list[str] = []

    def count(trial: TrialPlan, _: TrialRecord) -> None:
        ended.append(trial.id)
        if len(ended) == 3:
            world.cancel.set()

    world.watcher.on_ended = count
    outcome = world.run()
    world.cancel.clear()
    world.watcher.on_ended = lambda *_: None
    world.watcher.ids_started.clear()
    return outcome


def test_a_resumed_batch_runs_what_is_missing_and_seals(world: World, stopped: BatchOutcome) -> None:
    """Finished trials are kept as they are."""
    kept = {record.id for job in stopped.jobs for record in job.records if record.exception_type != "CancelledError"}
    outcome = _resume(world, stopped.path)
    assert all(job.not_sealed is None and verify(job.path) == [] for job in outcome.jobs)
    assert kept <= {record.id for job in outcome.jobs for record in job.records}
    assert len(world.watcher.ids_started) == 8 - len(kept)


def test_a_finished_batch_can_be_resumed_and_nothing_runs(world: World) -> None:
    """Doing it twice changes nothing."""
    first = world.run()
    before = {path: path.read_bytes() for path in first.path.rglob("*") if path.name in ("manifest.json", "lock.json")}
    world.watcher.ids_started.clear()
    again = _resume(world, first.path)
    assert world.watcher.ids_started == []
    assert again.exit_code == 0
    assert {path: path.read_bytes() for path in before} == before


def test_a_batch_that_goes_on_is_running(world: World, stopped: BatchOutcome) -> None:
    """Should hbench be killed now, batch.json does not say that a person stopped it."""
    states = [read_model(stopped.path / "batch.json", BatchFile).state]
    world.watcher.on_ended = lambda *_: states.append(read_model(stopped.path / "batch.json", BatchFile).state)
    _resume(world, stopped.path)
    assert set(states[1:]) == {"running"}
    assert (states[0], read_model(stopped.path / "batch.json", BatchFile).state) == ("cancelled", "done")


def test_a_job_that_the_batch_lacks_is_a_changed_harness(world: World, stopped: BatchOutcome) -> None:
    """A job's name holds the digest of its harness."""
    shutil.rmtree(stopped.jobs[0].path)
    with pytest.raises(ResumeError, match="have changed"):
        _resume(world, stopped.path)


def test_a_batch_that_never_came_to_a_trial_begins_at_the_beginning(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped while images are made, or killed before its first journal."""

    def cancelled(*_: object) -> None:
        raise Cancelled

    with monkeypatch.context() as patched:
        patched.setattr(world.engine, "build", cancelled)
        first = world.run()
    assert (first.cancelled, read_model(first.path / "batch.json", BatchFile).state) == (True, "cancelled")
    again = _resume(world, first.path)
    assert all(job.not_sealed is None and verify(job.path) == [] for job in again.jobs)


def test_a_kill_between_result_and_journal_is_made_up_for(world: World) -> None:
    """The trial's record stands, so its end is journaled when the batch goes on."""
    first = world.run()
    job = first.jobs[0]
    (job.path / "manifest.json").unlink()
    lines = (job.path / "journal.jsonl").read_bytes().splitlines(keepends=True)
    (job.path / "journal.jsonl").write_bytes(b"".join(lines[:-1]))
    again = _resume(world, first.path)
    assert again.jobs[0].not_sealed is None
    assert verify(job.path) == []


def test_a_sealed_job_with_trials_that_never_began_runs_them_and_is_sealed_anew(world: World) -> None:
    """Every start stays counted."""
    world.engine.refuse["start"] = "no space left on device"
    first = world.run()
    world.engine.refuse.clear()
    again = _resume(world, first.path)
    assert {record.starts for job in again.jobs for record in job.records} == {2}
    assert all(job.not_sealed is None and verify(job.path) == [] for job in again.jobs)


def test_a_seal_that_does_not_hold_is_not_taken_off(world: World) -> None:
    """A resume must not cover up what was changed since."""
    world.engine.refuse["start"] = "no space left on device"
    first = world.run()
    world.engine.refuse.clear()
    (first.jobs[0].path / "journal.jsonl").write_bytes(b"")
    with pytest.raises(SealError, match="does not hold"):
        _resume(world, first.path)
    assert (first.jobs[0].path / "manifest.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("tasks/alpha/tests/test.sh", "true\n", "alpha"),
        ("tasks/gamma/task.toml", None, "gamma"),
        ("suite.toml", "attempts = 3", "attempts"),
    ],
)
def test_a_change_since_the_batch_began_is_named_and_nothing_touched(
    world: World, stopped: BatchOutcome, name: str, text: str | None, said: str
) -> None:
    """The job name is a resume key: results of two versions of a task never mix (R07)."""
    if name == "suite.toml":
        file = stopped.path / "suite.toml"
        file.write_text(file.read_text().replace("attempts = 2", str(text)))
    elif text is None:
        for part in ("instruction.md", "task.toml", "environment/Dockerfile", "tests/test.sh"):
            world.write(f"tasks/gamma/{part}", (world.folder / "tasks/alpha" / part).read_text())
    else:
        world.write(name, text)
    before = _everything(stopped.path)
    with pytest.raises(ResumeError) as refused:
        _resume(world, stopped.path)
    assert said in str(refused.value)
    assert _everything(stopped.path) == before


def test_a_job_that_the_suite_does_not_ask_for_is_named(world: World, stopped: BatchOutcome) -> None:
    """It would stay unfinished while the batch says that it is done."""
    shutil.copytree(stopped.jobs[0].path, stopped.path / "guess--none--00000000")
    with pytest.raises(ResumeError, match="guess--none--00000000: the batch has a job"):
        _resume(world, stopped.path)


def test_a_folder_that_is_no_batch_is_refused(tmp_path: Path) -> None:
    """With the file that should be there."""
    with pytest.raises(ResumeError, match=r"batch\.json"):
        reopen(tmp_path)


def _resume(world: World, path: Path) -> BatchOutcome:
    from dataclasses import replace

    from hbench.plan.build import build_plan
    from hbench.suite.load import load_suite

    batch = reopen(path)
    plan = build_plan(load_suite(path / "suite.toml", base=batch.base), skip_invalid=False)
    return resume_batch(replace(world.request(), plan=plan), batch, world.engine, world.watcher, world.cancel)


def _everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
