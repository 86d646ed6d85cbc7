"""Verdicts on tasks for people and for programs; what others wrote is made safe to print."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from hbench.report.admission import Role, Tried, Verdict, number
from hbench.report.grid import NONE, Column, Grid, show, show_list
from hbench.text import safe

VALIDATE_FORMAT = "hbench/validate@1"
_NAME_WIDTH = 60
_TEXT_WIDTH = 1000
_STYLES = {"admitted": "green", "not judged": "yellow"}


def print_verdicts(console: Console, verdicts: Sequence[Verdict], *, batch: str | None) -> None:
    """Print the table, the reasons against each task that is not admitted, all warnings, and what to type next.

    Args:
        console: A terminal gets a table that fits its width; anything else one line a row, however long.
        batch: The batch folder, as a person would type it; None where no task could run.
    """
    show(console, grid(verdicts))
    for line, style in details(verdicts):
        console.print(Text(line, style=style), soft_wrap=not console.is_terminal)
    console.print(Text(f"\n{totals(verdicts)}", style="bold"))
    show_list(console, "Next:", next_commands(verdicts, batch=batch))


def grid(verdicts: Sequence[Verdict]) -> Grid:
    """A row a task: what oracle, nop and the worst lazy baseline earned, and the verdict."""
    headers = {"Task": False, "oracle": True, "nop": True, "worst lazy": False, "Verdict": False}
    return Grid(
        title="Tasks",
        columns=tuple(Column(header=header, numeric=numeric) for header, numeric in headers.items()),
        rows=tuple(
            (safe(one.subject.name, _NAME_WIDTH), _role(one, "oracle"), _role(one, "nop"), _worst(one), one.word)
            for one in verdicts
        ),
    )


def details(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, str]]:
    """Lines with their styles: a paragraph for each task about which there is something to say."""
    for one in verdicts:
        if one.reasons or one.warnings:
            yield f"\n{safe(one.subject.name, _NAME_WIDTH)}: {one.word}", _STYLES.get(one.word, "red")
        for reason in one.reasons:
            yield f"  {safe(reason.what, _TEXT_WIDTH)}", ""
            yield f"    see {safe(reason.look, _TEXT_WIDTH)}", "dim"
        for warning in one.warnings:
            yield f"  warning: {safe(warning, _TEXT_WIDTH)}", ""


def totals(verdicts: Sequence[Verdict]) -> str:
    """`6 tasks: 5 admitted, 1 refused`."""
    counts = Counter(one.word for one in verdicts)
    said = [f"{counts[word]} {word}" for word in ("admitted", "refused", "invalid", "not judged") if counts[word]]
    return f"{len(verdicts)} task{'' if len(verdicts) == 1 else 's'}: {', '.join(said)}"


def next_commands(verdicts: Sequence[Verdict], *, batch: str | None) -> Iterator[str]:
    """Judge again what was not admitted, once it is corrected; else check the seals of the evidence."""
    again = [one.subject.folder for one in verdicts if one.word != "admitted"]
    if again:
        yield f"hbench validate {shlex.join(again)}"
    elif batch is not None:
        yield f"hbench verify {shlex.quote(batch)}"


def document(verdicts: Sequence[Verdict], *, batch: str | None, exit_code: int) -> dict[str, Any]:
    """The same for `--json`."""
    return {
        "format": VALIDATE_FORMAT,
        "batch": batch,
        "exit_code": exit_code,
        "admitted": sum(one.word == "admitted" for one in verdicts),
        "tasks": [_task(one) for one in verdicts],
    }


def _task(verdict: Verdict) -> dict[str, Any]:
    subject = verdict.subject
    return {
        "name": subject.name,
        "folder": subject.folder,
        "verdict": verdict.word,
        "baseline_reward": subject.baseline_reward,
        "reasons": [{"code": one.code, "what": one.what, "look": one.look} for one in verdict.reasons],
        "warnings": list(verdict.warnings),
        "trials": [_trial(one) for one in verdict.tried],
    }


def _trial(tried: Tried) -> dict[str, Any]:
    return {
        "harness": tried.harness,
        "role": tried.role,
        "reward": tried.reward,
        "exception_type": tried.exception_type,
        "folder": tried.folder,
    }


def _role(verdict: Verdict, role: Role) -> str:
    tried = verdict.of(role)
    return NONE if tried is None or tried.reward is None else number(tried.reward)


def _worst(verdict: Verdict) -> str:
    worst = verdict.worst_lazy
    if worst is None or worst.reward is None:
        return NONE
    return f"{number(worst.reward)} {safe(worst.harness, _NAME_WIDTH)}" if worst.reward else "0"
