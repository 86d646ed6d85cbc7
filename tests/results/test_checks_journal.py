"""A journal that does not fit the results is named, though the seal was made anew as a forger would."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.results.seal import seal
from hbench.results.traces import Needles
from hbench.results.verify import verify

Edit = Callable[[Path, Callable[[Any], object]], None]
OnJob = Callable[[Path], None]


def told(job: Path) -> list[str]:
    return [str(fault) for fault in verify(job)]


def test_any_line_taken_out_of_the_journal_is_missed(sealed_job: Path, seal_anew: OnJob) -> None:
    """But the end of a start that was run again: such an end may be lacking, because hbench was killed."""
    path = sealed_job / "journal.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    unmissed = []
    for number in range(len(lines)):
        path.write_text("".join(lines[:number] + lines[number + 1 :]), encoding="utf-8")
        seal_anew(sealed_job)
        if not any(fault.path == "journal.jsonl" for fault in verify(sealed_job)):
            unmissed.append(json.loads(lines[number]))
    assert [(e["event"], e["trial"], e["start"]) for e in unmissed] == [("end", "alpha__2", 1)]


def test_any_line_that_stands_twice_in_the_journal_is_named(sealed_job: Path, seal_anew: OnJob) -> None:
    path = sealed_job / "journal.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number in range(len(lines)):
        path.write_text("".join([*lines[:number], lines[number], *lines[number:]]), encoding="utf-8")
        seal_anew(sealed_job)
        assert any(fault.path == "journal.jsonl" for fault in verify(sealed_job)), number


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"trial": "beta__1"', '"trial": "zeta__1"', "trial zeta__1: is not planned"),
        ('"RewardFileNotFoundError"', '"EngineError"', "trial beta__1: ended with EngineError and reward None"),
        ('"reward": 0.375', '"reward": 1.0', "trial alpha__2: ended with None and reward 1.0"),
        ('"trial": "alpha__2", "start": 2', '"trial": "alpha__2", "start": 3', "trial alpha__2: has the starts [1, 3]"),
        ('{"format"', '{"farmat"', "line 1: "),
    ],
)
def test_a_journal_that_tells_another_story_is_named(
    sealed_job: Path, seal_anew: OnJob, old: str, new: str, what: str
) -> None:
    path = sealed_job / "journal.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    seal_anew(sealed_job)
    assert any(line.startswith(f"journal.jsonl: {what}") for line in told(sealed_job))


def test_events_in_an_order_that_cannot_be_are_named(sealed_job: Path, seal_anew: OnJob) -> None:
    """An agent that begins after the end, or in a start that was not."""
    for event in ({"event": "begun", "start": 1}, {"event": "begun", "start": 2}, {"event": "end", "start": 2}):
        path = sealed_job / "journal.jsonl"
        before = path.read_bytes()
        line = {"format": "hbench/journal@1", "trial": "alpha__1", "at": "2026-01-02T03:04:05Z"} | event
        path.write_bytes(before + json.dumps(line).encode() + b"\n")
        seal_anew(sealed_job)
        assert [line for line in told(sealed_job) if line.startswith("journal.jsonl: trial alpha__1: has a stray")]
        path.write_bytes(before)


def test_a_start_that_was_cut_off_leaves_a_good_job(finished_job: Path, edit: Edit, refit: OnJob) -> None:
    """hbench was killed after the agent had begun; the trial ran again, and both starts are counted."""
    path = finished_job / "journal.jsonl"
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    cut_off = [events[0], events[0] | {"event": "begun"}]
    again = [event | ({"start": 2} if event["trial"] == "alpha__1" else {}) for event in events]
    path.write_text("".join(json.dumps(event) + "\n" for event in [*cut_off, *again]), encoding="utf-8")
    edit(finished_job / "alpha__1" / "result.json", lambda record: record.update(starts=2))
    refit(finished_job)
    seal(finished_job, needles=Needles())
    assert verify(finished_job) == []
