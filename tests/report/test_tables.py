"""What a person sees when a run ends."""

import io
from collections.abc import Callable, Sequence

import pytest
from rich.console import Console

from hbench.report.grid import Grid
from hbench.report.summary import JobSummary
from hbench.report.tables import JobLine, end_grids, next_commands, notes, print_end

Job = Callable[..., JobSummary]
BATCH = "jobs/nightly-20260101T000000Z"
CODEX = "Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8"


def line(summary: JobSummary, harness: str = "nop@1", model: str | None = None) -> JobLine:
    sealed = "not run" not in summary.buckets
    return JobLine(harness=harness, model=model, path=f"{BATCH}/{harness}", sealed=sealed, summary=summary)


def printed(jobs: Sequence[JobLine], *, cells: int | None) -> str:
    console = Console(file=io.StringIO(), width=cells, force_terminal=cells is not None, color_system=None)
    print_end(console, jobs, batch=BATCH)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def rows_of(grid: Grid) -> list[dict[str, str]]:
    headers = [column.header for column in grid.columns]
    return [dict(zip(headers, row, strict=True)) for row in grid.rows]


@pytest.fixture
def six(job: Job) -> list[JobLine]:
    """A batch as it comes: two harnesses without a model, three that work, one whose key was refused; 5 attempts."""
    tasks = range(20)
    late, crash, broken = (1.0, "AgentTimeoutError"), "EnvironmentBuildError", "RewardFileNotFoundError"
    return [
        line(job({f"t{i}": [1.0] * 5 for i in tasks}), "oracle@1"),
        line(job({f"t{i}": [0.0] * 5 for i in tasks}), "nop@1"),
        line(
            job({f"t{i}": [1.0, 0.0, late, crash, broken] for i in tasks}, has_model=True),
            "claude-code@2.1.332",
            "deepseek-v4-flash",
        ),
        line(job({f"t{i}": [1.0, 1.0, 0.0, 1.0, float(i < 3)] for i in tasks}, has_model=True), "codex@0.130.0", CODEX),
        line(job({f"t{i}": [0.4, 1.0, 0.0, 0.0, 1.0] for i in tasks}, has_model=True), "opencode@1.2.3", "gpt-5.5"),
        line(
            job({f"t{i}": ["AgentAuthenticationError"] * 5 for i in tasks}, has_model=True),
            "my-harness@0123456789ab",
            "deepseek-v4-flash",
        ),
    ]


def test_the_results_table_has_a_row_a_job(six: list[JobLine]) -> None:
    """R27: trials with a reward, exceptions, mean, pass@k, and how often always."""
    results = rows_of(end_grids(six, width_cells=None)[0])
    assert results[2] == {
        "Harness": "claude-code@2.1.332",
        "Model": "deepseek-v4-flash",
        "Trials": "60/100",
        "Exceptions": "60",
        "Mean": "0.400",
        "Resolved\n(95% CI)": "40.0% (30.9-49.8)",
        "Pass@2": "0.700",
        "Pass@4": "1.000",
        "Pass@5": "1.000",
        "Pass^k": "0.000",
        "Every\ntime": "0/20",
    }
    assert [row["Every\ntime"] for row in results] == ["20/20", "0/20", "0/20", "0/20", "0/20", "-"]


def test_a_job_that_has_no_score_shows_why_and_no_figure(six: list[JobLine], job: Job) -> None:
    """R30: `all errored` in place of the mean; and a job that a person stopped at once is `not run`."""
    rows = rows_of(end_grids([six[-1], line(job({"t": [None, None]}))], width_cells=None)[0])
    assert [row["Mean"] for row in rows] == ["all errored", "not run"]
    figures = {value for row in rows for name, value in row.items() if name.startswith(("Pass", "Every", "Resolved"))}
    assert figures == {"-"}


def test_one_attempt_has_no_columns_about_attempts(job: Job) -> None:
    """P21, P24: they would repeat the mean."""
    grid = end_grids([line(job({"t": [1.0]}))], width_cells=None)[0]
    assert [column.header for column in grid.columns[2:]] == ["Trials", "Exceptions", "Mean", "Resolved\n(95% CI)"]


def test_a_job_of_one_attempt_beside_one_of_five_leaves_those_columns_empty(job: Job) -> None:
    """A missing figure is a dash, not a zero."""
    rows = rows_of(end_grids([line(job({"t": [1.0]})), line(job({"t": [1.0] * 5}))], width_cells=None)[0])
    assert [row["Pass@5"] for row in rows] == ["-", "1.000"]
    assert [row["Every\ntime"] for row in rows] == ["-", "1/1"]


def test_the_second_table_counts_exceptions_by_type_and_the_third_sorts_every_trial(six: list[JobLine]) -> None:
    """R27, E04: late passes, broken verifiers and dead containers are told apart."""
    _, exceptions, outcomes = end_grids(six, width_cells=None)
    assert [row["Exception"] for row in rows_of(exceptions)] == [
        "AgentTimeoutError",
        "EnvironmentBuildError",
        "RewardFileNotFoundError",
        "AgentAuthenticationError",
    ]
    claude = {row["Outcome"]: row["Trials"] for row in rows_of(outcomes) if row["Harness"].startswith("claude")}
    assert claude == {
        "failed": "20",
        "infra: EnvironmentBuildError": "20",
        "passed": "20",
        "timed out, passed": "20",
        "verifier broken": "20",
    }
    assert sum(int(row["Trials"]) for row in rows_of(outcomes)) == 600


def test_without_exceptions_there_is_no_table_of_them(job: Job) -> None:
    """An empty table is noise."""
    assert [grid.title for grid in end_grids([line(job({"t": [1.0]}))], width_cells=None)] == [
        "Results",
        "Trials by outcome",
    ]


@pytest.mark.parametrize(
    ("cells", "titles"),
    [
        (80, ["Results", "Attempts", "Exceptions", "Trials by outcome"]),
        (100, ["Results", "Attempts", "Exceptions", "Trials by outcome"]),
        (160, ["Results", "Exceptions", "Trials by outcome"]),
    ],
)
def test_a_narrow_terminal_gets_the_attempts_in_a_table_of_their_own(
    six: list[JobLine], cells: int, titles: list[str]
) -> None:
    """Rather than columns that are squeezed until nobody can read them."""
    assert [grid.title for grid in end_grids(six, width_cells=cells)] == titles


@pytest.mark.parametrize("cells", [80, 100, 140])
def test_every_figure_is_whole_at_every_common_width(six: list[JobLine], cells: int) -> None:
    """No line is longer than the terminal, nothing is cut, and no number is broken over two lines."""
    text = printed(six, cells=cells)
    tables, _, commands = text.partition("Sealed:")
    assert max(map(len, tables.splitlines())) <= cells
    assert "…" not in text
    words = set(tables.split())
    for grid in end_grids(six, width_cells=None)[:1]:
        for row in rows_of(grid):
            for name in list(row)[2:]:
                assert set(row[name].split()) <= words
    assert "AgentAuthenticationError" in words
    assert f"  {BATCH}/codex@0.130.0\n" in commands


def test_without_a_terminal_every_row_is_one_line_that_names_its_job(six: list[JobLine]) -> None:
    """For logs and grep: no box, no folding, no escape sequence, no row that leans on the one above."""
    text = printed(six, cells=None)
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    outcomes = text.split("Trials by outcome\n")[1].split("\n\n")[0].splitlines()
    assert len(outcomes) == 1 + sum(len(job.summary.buckets) for job in six)
    assert all(row.split()[0].partition("@")[1] for row in outcomes[1:])
    assert f"codex@0.130.0            {CODEX}  100/100 " in text


@pytest.mark.parametrize("cells", [None, 80, 140])
def test_names_that_others_chose_cannot_write_to_the_terminal(job: Job, cells: int | None) -> None:
    """Escape sequences, newlines, right-to-left marks and markup are shown, not obeyed; endless names are cut."""
    hostile = "x\x1b]0;owned\x07\n\r\u202e\u2028[red]"
    summary = job({hostile: [f"{hostile}Error"], "t": [(0.0, "y" * 5000)]}, has_model=True)
    text = printed([line(summary, hostile, hostile), line(summary, "z" * 5000, hostile)], cells=cells)
    assert not set(text) & set("\x1b\x07\r\u202e\u2028")
    assert "[red]" in text
    tables = text.split("Sealed:")[0]
    assert "y" * 20 in tables
    assert "z" * 20 in tables
    assert "y" * 61 not in tables
    assert "z" * 61 not in tables


def test_the_notes_say_what_a_mean_does_not(six: list[JobLine]) -> None:
    """E06, T07: infrastructure failures with the clean rate and its count, and partial credit."""
    assert list(notes(six))[2:] == [
        (
            "claude-code@2.1.332 with deepseek-v4-flash: infrastructure failures, counted as 0: 20. "
            "Clean rate, without them: 40/80 (50.0%) resolved."
        ),
        "opencode@1.2.3 with gpt-5.5: tasks that gave partial credit: 20 of 20.",
        "my-harness@0123456789ab with deepseek-v4-flash: infrastructure failures, counted as 0: 100.",
    ]


def test_the_next_command_resumes_a_batch_with_unfinished_jobs_and_verifies_any_other(job: Job) -> None:
    """Paths are quoted where a shell would read them otherwise."""
    done, stopped = job({"t": [1.0]}), job({"t": [1.0, "CancelledError"]})
    jobs = [line(done, "oracle@1"), line(stopped, "nop@1")]
    assert next_commands(jobs, batch="my jobs/b") == ["hbench run --resume 'my jobs/b'"]
    assert next_commands(jobs[:1], batch="it's mine") == ["hbench verify 'it'\"'\"'s mine'"]


def test_only_finished_jobs_are_listed_as_sealed(job: Job) -> None:
    """An unfinished job has no seal."""
    done, stopped = job({"t": [1.0]}), job({"t": [1.0, "CancelledError"]})
    text = printed([line(done, "oracle@1"), line(stopped, "nop@1")], cells=None)
    assert text.split("Sealed:")[1].split("Next:")[0].split() == [f"{BATCH}/oracle@1"]


def test_a_terminal_names_a_job_once_and_marks_a_job_without_a_score(six: list[JobLine]) -> None:
    """The eye groups what is below; the mark is a colour, the words say it too."""
    console = Console(file=io.StringIO(), width=160, force_terminal=True, color_system="standard")
    print_end(console, six, batch=BATCH)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "\x1b[1;31mall errored" in text
    assert text.split("Trials by outcome")[1].split("Trials:")[0].count("claude-code") == 1


@pytest.mark.parametrize("cells", [20, 59])
def test_a_terminal_too_narrow_for_a_table_gets_a_line_a_row(six: list[JobLine], cells: int) -> None:
    """Figures that are cut in silence would be wrong figures."""
    assert printed(six, cells=cells) == printed(six, cells=None)
