"""Scripts that others wrote for Harbor's job folders run on ours, and agree with our own figures."""

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from hbench.report.row import TrialRow
from hbench.report.summary import JobSummary, summarise
from hbench.results.record import TrialRecord

SCRIPTS = Path(__file__).parents[1] / "data" / "harbor_post"
Record = Callable[..., TrialRecord]

# How a trial can end that both sides name alike: (reward, exception).
ENDINGS = [
    (1.0, None),
    (0.0, None),
    (0.5, None),
    (1.0, "AgentTimeoutError"),
    (0.0, "AgentTimeoutError"),
    (0.0, "NonZeroAgentExitCodeError"),
    (None, "RewardFileNotFoundError"),
    (None, "RewardFileEmptyError"),
    (None, "VerifierOutputParseError"),
    (None, "VerifierTimeoutError"),
    (None, "EnvironmentBuildError"),
    (None, "AgentSetupTimeoutError"),
]


def write_job(folder: Path, records: Iterable[TrialRecord]) -> None:
    for record in records:
        (folder / record.trial_name).mkdir(parents=True)
        (folder / record.trial_name / "result.json").write_text(record.model_dump_json(), encoding="utf-8")
    (folder / "result.json").write_text('{"format": "the job\'s own"}', encoding="utf-8")


def run(script: str, job: Path) -> list[str]:
    command = [sys.executable, str(SCRIPTS / f"{script}.py.txt"), str(job)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


def buckets(lines: list[str]) -> dict[str, int]:
    return {name: int(count) for count, name in (line.strip().split("  ", 1) for line in lines)}


def summary_of(records: Iterable[TrialRecord]) -> JobSummary:
    rows = [TrialRow.of(record) for record in records]
    return summarise(rows, planned=[(row.task, row.attempt) for row in rows], has_model=True)


@pytest.fixture
def mixed(record: Record) -> list[TrialRecord]:
    """30 tasks at 3 attempts: five always pass, the others end in every way; a third of the costs is unknown."""
    records = []
    for number in range(90):
        task, attempt = divmod(number, 3)
        reward, exception = (1.0, None) if task < 5 else ENDINGS[number * 7 % len(ENDINGS)]
        made = record(
            f"task-{task}", attempt + 1, reward=reward, exception=exception, cost_usd=(None, 0.0125, 0.5)[number % 3]
        )
        no_agent = exception == "EnvironmentBuildError"
        records.append(made.model_copy(update={"agent_result": None}) if no_agent else made)
    return records


def test_triage_finds_our_buckets(tmp_path: Path, mixed: list[TrialRecord]) -> None:
    """E04: the same names, the same counts."""
    write_job(tmp_path, mixed)
    found = buckets(run("triage", tmp_path))
    assert found == summary_of(mixed).buckets
    assert len(found) == 7


def test_triage_calls_infra_what_we_call_not_run_or_broken(tmp_path: Path, record: Record) -> None:
    """Two endings that Harbor does not have: a cancelled trial, and a reward file that the tests did not write."""
    endings = ["CancelledError", "RewardTamperedError"]
    records = [record(name, 1, reward=None, exception=name) for name in endings]
    write_job(tmp_path, records)
    assert buckets(run("triage", tmp_path)) == {f"infra: {name}": 1 for name in endings}
    assert summary_of(records).buckets == {"not run": 1, "verifier broken": 1}


def test_always_finds_our_tasks_solved_every_time(tmp_path: Path, mixed: list[TrialRecord]) -> None:
    """P24: 1 exactly, in all attempts, n/N."""
    write_job(tmp_path, mixed)
    every = summary_of(mixed).every_time
    assert run("always", tmp_path) == [f"solved every time: {every.successes}/{every.trials}"]
    assert (every.successes, every.trials) == (5, 30)


def test_cost_finds_our_trials_solved_and_our_total(tmp_path: Path, mixed: list[TrialRecord]) -> None:
    """The script takes an unknown cost as 0; our total leaves it out and says so, which is the same sum."""
    write_job(tmp_path, mixed)
    found = summary_of(mixed)
    solved, total = found.trial_rate.successes, found.cost_usd.total
    assert total is not None
    assert run("cost", tmp_path) == [
        f"{found.planned} trials, {solved} solved, ${total:.2f} total",
        f"${total / solved:.2f} per solved trial",
    ]
    assert 0 < found.cost_usd.trials < found.planned
