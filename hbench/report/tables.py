"""What `hbench run` shows when it ends: the result of each job, its exceptions, its buckets, and what to type next."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.console import Console
from rich.text import Text

from hbench.report.grid import NONE, Column, Grid, has_tables, show, show_list, stacked, width, without_repeats
from hbench.report.summary import JobSummary
from hbench.results.buckets import NOT_RUN
from hbench.stats import Proportion, harbor_ks
from hbench.text import safe

NAME_WIDTH = 60
NOTE_WIDTH = 300
Cell = Callable[[JobSummary], str]

READING = (
    "Trials: with a reward / planned. Mean: over every planned trial, no reward is 0. "
    "Resolved: planned trials with a reward of exactly 1, with their 95% Wilson interval."
)
READING_ATTEMPTS = (
    "Pass@k: chance that one of k attempts is resolved. Pass^k: tasks with a reward of 0.5 or more in all attempts. "
    "Every time: tasks resolved in all attempts."
)


@dataclass(frozen=True, kw_only=True)
class JobLine:
    """A job as the tables name it.

    Attributes:
        harness: The configuration's label.
        model: None for a harness that calls none.
        path: The job folder, as a person would type it.
        asymmetries: Limits that did not hold in this job, from its lock.
    """

    harness: str
    model: str | None
    path: str
    sealed: bool
    summary: JobSummary
    asymmetries: tuple[str, ...] = ()


def print_end(console: Console, jobs: Sequence[JobLine], *, batch: str) -> None:
    """Print the end of a run.

    Args:
        console: A terminal gets tables that fit its width; anything else one line a row, however long.
        jobs: In the order of their rows.
        batch: The batch folder, as a person would type it.
    """
    plain = not has_tables(console)
    for grid in end_grids(jobs, width_cells=None if plain else console.width):
        show(console, grid)
        console.print()
    for note in notes(jobs):
        console.print(Text(note, style="dim"), soft_wrap=plain)
    show_list(console, "Sealed:", [job.path for job in jobs if job.sealed])
    show_list(console, "Next:", next_commands(jobs, batch=batch))


def end_grids(jobs: Sequence[JobLine], *, width_cells: int | None) -> list[Grid]:
    """The tables in order: results, exceptions by type, buckets; one without rows is left out.

    Args:
        jobs: In the order of their rows.
        width_cells: What the terminal has; None for no limit. In a narrow one the columns about attempts become a table
            of their own, and harness and model share a column.
    """
    attempts = _attempt_columns(jobs)
    grids = [_grid("Results", jobs, RESULT_COLUMNS | attempts)]
    if width_cells is not None and attempts and width(grids[0]) > width_cells:
        grids = [_grid("Results", jobs, RESULT_COLUMNS), _grid("Attempts", jobs, attempts)]
    counts = [
        _count_grid("Exceptions", "Exception", jobs, lambda summary: summary.exceptions_by_type),
        _count_grid("Trials by outcome", "Outcome", jobs, lambda summary: summary.buckets),
    ]
    if width_cells is not None:
        counts = [without_repeats(grid) for grid in counts]
    grids += [grid for grid in counts if grid.rows]
    return [grid if width_cells is None or width(grid) <= width_cells else stacked(grid) for grid in grids]


def notes(jobs: Sequence[JobLine]) -> Iterator[str]:
    """How to read the tables, and what a mean does not say."""
    yield READING
    if _attempt_columns(jobs):
        yield READING_ATTEMPTS
    for job in jobs:
        summary, clean = job.summary, job.summary.clean_rate
        if summary.infrastructure:
            without = "" if clean.rate is None else f" Clean rate, without them: {_share(clean)} resolved."
            yield f"{_title(job)}: infrastructure failures, counted as 0: {summary.infrastructure}.{without}"
        if summary.continuous_tasks:
            yield f"{_title(job)}: tasks that gave partial credit: {summary.continuous_tasks} of {summary.tasks}."
    for asymmetry in dict.fromkeys(asymmetry for job in jobs for asymmetry in job.asymmetries):
        named = ", ".join(_title(job) for job in jobs if asymmetry in job.asymmetries)
        yield f"Not held for {named}: {safe(asymmetry, NOTE_WIDTH)}."


def next_commands(jobs: Sequence[JobLine], *, batch: str) -> list[str]:
    """What can be typed next: resume what did not run, else check the seals."""
    command = "run --resume" if any(map(_is_unfinished, jobs)) else "verify"
    return [f"hbench {command} {shlex.quote(batch)}"]


def _is_unfinished(job: JobLine) -> bool:
    return NOT_RUN in job.summary.buckets


def _attempt_columns(jobs: Sequence[JobLine]) -> dict[str, Cell]:
    """Columns that only several attempts at a task can fill; none when no job has them."""
    several = [job.summary for job in jobs if job.summary.attempts > 1]
    if not several:
        return {}
    ks = sorted({k for summary in several for k in harbor_ks(summary.attempts)})
    columns: dict[str, Cell] = {f"Pass@{k}": partial(_pass_at, k) for k in ks}
    return columns | {"Pass^k": _pass_hat, "Every\ntime": _every_time}


def _grid(title: str, jobs: Sequence[JobLine], columns: Mapping[str, Cell]) -> Grid:
    return Grid(
        title=title,
        columns=(*NAME_COLUMNS, *(Column(header=header, numeric=True) for header in columns)),
        rows=tuple((*_names(job), *(cell(job.summary) for cell in columns.values())) for job in jobs),
    )


def _count_grid(
    title: str, what: str, jobs: Sequence[JobLine], counts: Callable[[JobSummary], Mapping[str, int]]
) -> Grid:
    return Grid(
        title=title,
        columns=(*NAME_COLUMNS, Column(header=what), Column(header="Trials", numeric=True)),
        rows=tuple(
            (*_names(job), safe(name, NAME_WIDTH), str(count))
            for job in jobs
            for name, count in counts(job.summary).items()
        ),
    )


def _names(job: JobLine) -> tuple[str, str]:
    return safe(job.harness, NAME_WIDTH), NONE if job.model is None else safe(job.model, NAME_WIDTH)


def _title(job: JobLine) -> str:
    harness, model = _names(job)
    return harness if job.model is None else f"{harness} with {model}"


def _headline(summary: JobSummary) -> str:
    if summary.all_errored:
        return "all errored"
    return "not run" if summary.mean is None else f"{summary.mean:.3f}"


def _resolved(summary: JobSummary) -> str:
    interval = summary.trial_rate.interval
    if summary.mean is None or summary.trial_rate.rate is None or interval is None:
        return NONE
    return f"{100 * summary.trial_rate.rate:.1f}% ({100 * interval.low:.1f}-{100 * interval.high:.1f})"


def _pass_at(k: int, summary: JobSummary) -> str:
    return f"{summary.pass_at_k[k]:.3f}" if k in summary.pass_at_k else NONE


def _pass_hat(summary: JobSummary) -> str:
    return NONE if summary.pass_hat_k is None else f"{summary.pass_hat_k:.3f}"


def _every_time(summary: JobSummary) -> str:
    if summary.mean is None or summary.attempts < 2:  # noqa: PLR2004 - with one attempt it is the trial rate again
        return NONE
    return f"{summary.every_time.successes}/{summary.every_time.trials}"


def _share(proportion: Proportion) -> str:
    return f"{proportion.successes}/{proportion.trials} ({100 * (proportion.rate or 0):.1f}%)"


NAME_COLUMNS = (Column(header="Harness"), Column(header="Model"))
RESULT_COLUMNS: dict[str, Cell] = {
    "Trials": lambda summary: f"{summary.with_reward}/{summary.planned}",
    "Exceptions": lambda summary: str(summary.exceptions),
    "Mean": _headline,
    "Resolved\n(95% CI)": _resolved,
}
