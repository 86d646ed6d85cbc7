"""What a batch came to, as the commands show it."""

from dataclasses import replace
from pathlib import Path

import pytest

from hbench.cli.execute import document, job_lines, shown_path
from hbench.job.outcome import BatchOutcome
from tests.job.world import World


@pytest.fixture
def outcome(world: World) -> BatchOutcome:
    """A finished batch: oracle solves all, nop nothing."""
    return world.run()


def test_a_path_is_shown_as_a_person_would_type_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative if it is below, absolute if it is not."""
    monkeypatch.chdir(tmp_path)
    assert shown_path(tmp_path / "jobs" / "x") == "jobs/x"
    assert shown_path(Path("jobs/x")) == "jobs/x"
    assert shown_path(tmp_path.parent / "y") == str(tmp_path.parent / "y")


def test_the_document_says_of_each_job_what_its_trials_say(outcome: BatchOutcome) -> None:
    """Every planned trial counts."""
    said = document(outcome)
    jobs = {job["harness"]: job for job in said["jobs"]}
    assert (said["exit_code"], said["cancelled"], said["batch"]) == (0, False, str(outcome.path))
    assert (jobs["oracle"]["mean"], jobs["nop"]["mean"]) == (1.0, 0.0)
    assert all((job["trials"], job["with_reward"], job["exceptions"]) == (4, 4, 0) for job in jobs.values())


def test_a_job_with_trials_that_never_ran_counts_them_as_planned(outcome: BatchOutcome) -> None:
    """A stopped batch does not look better than it is."""
    oracle = next(job for job in outcome.jobs if job.plan.arm.label == "oracle")
    half = replace(oracle, records=oracle.records[:2], not_sealed="trials are missing")
    stopped = replace(outcome, jobs=(half,), cancelled=True)
    [job] = document(stopped)["jobs"]
    assert (job["trials"], job["with_reward"], job["mean"], job["sealed"]) == (4, 2, 0.5, False)
    assert document(stopped)["exit_code"] == 130


@pytest.mark.parametrize(
    ("records", "not_sealed", "cancelled", "code"),
    [(4, None, False, 0), (3, None, False, 1), (4, "a folder of this machine", False, 6), (4, "x", True, 130)],
)
def test_the_exit_code_follows_from_rewards_seals_and_the_person(
    outcome: BatchOutcome, records: int, not_sealed: str | None, cancelled: bool, code: int
) -> None:
    """In the order of what a script must not miss."""
    jobs = tuple(replace(job, records=job.records[:records], not_sealed=not_sealed) for job in outcome.jobs)
    assert replace(outcome, jobs=jobs, cancelled=cancelled).exit_code == code


def test_the_end_tables_have_a_line_a_job(outcome: BatchOutcome) -> None:
    """With its label, and where it is."""
    lines = job_lines(outcome)
    assert [line.harness for line in lines] == [job.plan.arm.label for job in outcome.jobs]
    assert all(
        line.sealed and line.model is None and line.path.endswith(job.path.name)
        for line, job in zip(lines, outcome.jobs, strict=True)
    )
