"""What a person sees while a batch runs: a live table on a terminal, plain lines elsewhere."""

import contextlib
import time
from collections.abc import Iterator
from threading import Lock
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hbench.job.progress import Progress, View
from hbench.plan.model import Arm, Plan, TrialPlan
from hbench.results.record import TrialRecord
from hbench.text import safe


@contextlib.contextmanager
def view_for(plan: Plan, *, quiet: bool) -> Iterator[View]:
    """The view that fits where stderr goes; stdout stays free for results."""
    console = Screen(stderr=True, highlight=False, markup=False)
    if quiet:
        yield QuietView(console)
    elif console.is_terminal:
        with LiveView(plan, console) as view:
            yield view
    else:
        yield PlainView(plan, console)


class Screen(Console):
    """A console that a run outlives: whoever watched may have closed the terminal, or the other end of the pipe."""

    def print(self, *objects: Any, **options: Any) -> None:
        try:
            super().print(*objects, **options)
        except OSError:
            self.quiet = True

    def on_broken_pipe(self) -> None:
        self.quiet = True


class QuietView:
    """Warnings only."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def stage(self, text: str) -> None:
        pass

    def warn(self, text: str) -> None:
        shown = "\n  ".join(safe(line, 500) for line in text.splitlines())
        self._console.print(f"warning: {shown}", soft_wrap=True)

    def started(self, trial: TrialPlan) -> None:
        pass

    def ended(self, trial: TrialPlan, record: TrialRecord) -> None:
        pass

    def kept(self, trial: TrialPlan, record: TrialRecord) -> None:
        pass


class PlainView(QuietView):
    """A line a trial, each with how far the batch is."""

    def __init__(self, plan: Plan, console: Console) -> None:
        super().__init__(console)
        self._progress = Progress.of(plan)
        self._lock = Lock()

    def stage(self, text: str) -> None:
        self._console.print(safe(text), soft_wrap=True)

    def started(self, trial: TrialPlan) -> None:
        self._progress.started(trial)

    def kept(self, trial: TrialPlan, record: TrialRecord) -> None:
        self._progress.kept(trial, record)

    def ended(self, trial: TrialPlan, record: TrialRecord) -> None:
        self._progress.ended(trial, record)
        with self._lock:
            counts = f"[{self._progress.done}/{self._progress.planned}]"
            self._console.print(f"{counts} {safe(trial.id)}: {outcome(record)}{_eta(self._progress)}", soft_wrap=True)


class LiveView(QuietView):
    """A table with a row an arm, redrawn twice a second."""

    def __init__(self, plan: Plan, console: Console) -> None:
        super().__init__(console)
        self._progress = Progress.of(plan)
        self._labels = {job.arm.folder: _arm_label(job.arm) for job in plan.jobs}
        self._stage = "starting"
        self._running: dict[str, float] = {}
        self._lock = Lock()
        self._live = Live(get_renderable=self._draw, console=console, refresh_per_second=2, transient=True)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        with contextlib.suppress(OSError):
            self._live.stop()

    def stage(self, text: str) -> None:
        self._stage = safe(text)

    def started(self, trial: TrialPlan) -> None:
        self._progress.started(trial)
        with self._lock:
            self._running[trial.id] = time.monotonic()

    def kept(self, trial: TrialPlan, record: TrialRecord) -> None:
        self._progress.kept(trial, record)

    def ended(self, trial: TrialPlan, record: TrialRecord) -> None:
        self._progress.ended(trial, record)
        with self._lock:
            self._running.pop(trial.id, None)

    def _draw(self) -> Group:
        table = Table(box=None, pad_edge=False, header_style="bold")
        for heading in ("", "", "Done", "Running", "Failed", "Mean so far"):
            table.add_column(heading, justify="left" if not heading else "right")
        for folder, arm in self._progress.arms.items():
            mean = "-" if arm.mean is None else f"{arm.mean:.3f}"
            bar = ProgressBar(total=arm.planned, completed=arm.done, width=20)
            done = f"{arm.done}/{arm.planned}"
            table.add_row(self._labels[folder], bar, done, str(arm.running), str(arm.failed), mean)
        return Group(table, Text(self._footer()))

    def _footer(self) -> str:
        with self._lock:
            oldest = sorted(self._running.items(), key=lambda item: item[1])[:3]
        if not oldest:
            return self._stage
        now = time.monotonic()
        running = ", ".join(f"{safe(name, 60)} ({now - since:.0f} s)" for name, since in oldest)
        return f"running: {running}{_eta(self._progress)}"


def outcome(record: TrialRecord) -> str:
    """How a trial ended, in a few words."""
    reward = "no reward" if record.reward is None else f"reward {record.reward:g}"
    return reward if record.exception_type is None else f"{reward}, {safe(record.exception_type, 60)}"


def _eta(progress: Progress) -> str:
    left = progress.eta_s()
    if left is None or progress.done == progress.planned:
        return ""
    minutes, seconds = divmod(round(left), 60)
    return f" (about {minutes} min {seconds:02d} s left)" if minutes else f" (about {seconds} s left)"


def _arm_label(arm: Arm) -> str:
    label = safe(arm.label, 40)
    return label if arm.model is None else f"{label} {safe(arm.model.name, 40)}"
