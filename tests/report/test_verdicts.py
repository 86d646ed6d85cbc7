"""Verdicts as people and programs see them."""

import io
import json
from collections.abc import Callable

import pytest
from rich.console import Console

from hbench.report.admission import Subject, Tried, Verdict, judge
from hbench.report.verdicts import document, grid, next_commands, print_verdicts, totals
from hbench.results.record import TrialRecord


@pytest.fixture
def verdicts(record: Callable[..., TrialRecord]) -> list[Verdict]:
    """One of each kind; the name and the fault of the invalid one try to rewrite the terminal."""

    def tried(oracle: float, lazy: float, exception: str | None = None) -> list[Tried]:
        return [
            Tried(harness="oracle", role="oracle", record=record("t", 1, reward=oracle), folder="jobs/oracle/t__1"),
            Tried(
                harness="nop",
                role="nop",
                record=record("t", 1, reward=None if exception else 0.0, exception=exception),
                folder="jobs/nop/t__1",
            ),
            Tried(harness="lazy-copy", role="lazy", record=record("t", 1, reward=lazy), folder="jobs/copy/t__1"),
        ]

    return [
        judge(Subject(name="good", folder="tasks/good"), tried(1.0, 0.0)),
        judge(Subject(name="lenient", folder="my tasks/lenient", warnings=("instruction.md:2: x",)), tried(1.0, 0.5)),
        judge(Subject(name="bad\x1b[2J", folder="tasks/bad", fault="task.toml:1: \x1b]0;no\x07"), []),
        judge(Subject(name="later", folder="tasks/later"), tried(1.0, 0.0, "EngineError")),
    ]


def printed(verdicts: list[Verdict], *, terminal: bool = False, width: int = 100) -> str:
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=width, color_system=None)
    print_verdicts(console, verdicts, batch="jobs/validate-1")
    return file.getvalue()


def test_a_task_is_a_row_and_every_fault_a_paragraph(verdicts: list[Verdict]) -> None:
    """What is needed to mend a task stands below the table, with where to look."""
    lines = printed(verdicts).splitlines()
    assert lines[1].split() == ["Task", "oracle", "nop", "worst", "lazy", "Verdict"]
    assert lines[2].split() == ["good", "1", "0", "0", "admitted"]
    assert lines[3].split() == ["lenient", "1", "0", "0.5", "lazy-copy", "refused"]
    assert lines[5].split() == ["later", "1", "-", "0", "not", "judged"]
    below = lines.index("lenient: refused")
    assert lines[below + 1].startswith("  lazy-copy earns 0.5: ")
    assert lines[below + 2 : below + 4] == ["    see jobs/copy/t__1", "  warning: instruction.md:2: x"]
    assert "good: admitted" not in lines
    assert "4 tasks: 1 admitted, 1 refused, 1 invalid, 1 not judged" in lines


@pytest.mark.parametrize("terminal", [True, False])
def test_what_others_wrote_cannot_rewrite_the_terminal(verdicts: list[Verdict], terminal: bool) -> None:
    """Neither by a name nor by a message."""
    assert not {"\x1b", "\x07"} & set(printed(verdicts, terminal=terminal))


def test_a_narrow_terminal_loses_no_word(verdicts: list[Verdict]) -> None:
    """Lines fold, numbers and verdicts stay."""
    said = printed(verdicts, terminal=True, width=60)
    assert max(map(len, said.splitlines()[:-1])) <= 60
    assert "lazy-copyearns0.5" in "".join(said.split())


def test_the_next_command_tries_again_what_was_not_admitted(verdicts: list[Verdict]) -> None:
    """Ready to paste, also where a folder has a space; when all is well it checks the seals."""
    assert list(next_commands(verdicts, batch="b")) == ["hbench validate 'my tasks/lenient' tasks/bad tasks/later"]
    assert list(next_commands(verdicts[:1], batch="b")) == ["hbench verify b"]
    assert totals(verdicts[:1]) == "1 task: 1 admitted"


def test_the_document_says_what_the_table_says(verdicts: list[Verdict]) -> None:
    """And keeps what a program needs: codes, folders, each trial's reward."""
    found = json.loads(json.dumps(document(verdicts, batch="b", exit_code=1)))
    assert (found["format"], found["exit_code"], found["admitted"]) == ("hbench/validate@1", 1, 1)
    assert [task["verdict"] for task in found["tasks"]] == [row[-1] for row in grid(verdicts).rows]
    assert [reason["code"] for reason in found["tasks"][1]["reasons"]] == ["shortcut_works"]
    assert [trial["reward"] for trial in found["tasks"][1]["trials"]] == [1.0, 0.0, 0.5]
    assert found["tasks"][3]["trials"][1]["exception_type"] == "EngineError"
    assert found["tasks"][2]["trials"] == []
