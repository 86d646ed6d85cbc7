"""What a person sees while a batch runs."""

import io
import os
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TextIO

import pytest
from rich.console import Console

from hbench.cli.live import LiveView, PlainView, QuietView, Screen, outcome, view_for
from hbench.plan.model import Plan, TrialPlan
from hbench.results.record import TRIAL_FORMAT, AgentInfo, ExceptionInfo, TrialRecord, VerifierResult
from tests.job.world import World

ESCAPE = "\x1b[2J"


@pytest.fixture
def plan(world: World) -> Plan:
    """Eight trials: two tasks, two arms, two attempts."""
    return world.plan()


def record_of(trial: TrialPlan, reward: float | None, exception_type: str | None = None) -> TrialRecord:
    return TrialRecord(
        format=TRIAL_FORMAT,
        id="x",
        trial_id=trial.id,
        task_name=trial.task.name,
        trial_name=trial.folder,
        task_checksum="0",
        attempt=1,
        agent_info=AgentInfo(name="x", version="1"),
        agent_result=None,
        verifier_result=None if reward is None else VerifierResult(rewards={"reward": reward}),
        exception_info=exception_type and ExceptionInfo(exception_type=exception_type, exception_message="no"),
        started_at="2026-01-01T00:00:00Z",
        finished_at="2026-01-01T00:00:00Z",
        environment_setup=None,
        agent_setup=None,
        agent_execution=None,
        verifier=None,
    )


def shown_by(make: Callable[[Console], QuietView], use: Callable[[QuietView], None], *, terminal: bool = False) -> str:
    """What a view prints while it is used."""
    file = io.StringIO()
    console = Screen(file=file, force_terminal=terminal, width=100, highlight=False, markup=False)
    use(make(console))
    return file.getvalue()


def test_without_a_terminal_every_trial_is_a_line_with_how_far_the_batch_is(plan: Plan) -> None:
    """So that a log can be read."""

    def use(view: QuietView) -> None:
        view.stage("images: 1 of 2, alpha")
        for trial, reward, ending in zip(plan.trials, (1.0, 0.5, None), (None, "AgentTimeoutError", "X"), strict=False):
            view.started(trial)
            view.ended(trial, record_of(trial, reward, ending))

    lines = shown_by(lambda console: PlainView(plan, console), use).splitlines()
    first, second, third = plan.trials[:3]
    assert lines[0] == "images: 1 of 2, alpha"
    assert lines[1].startswith(f"[1/8] {first.id}: reward 1")
    assert lines[2].startswith(f"[2/8] {second.id}: reward 0.5, AgentTimeoutError")
    assert lines[3].startswith(f"[3/8] {third.id}: no reward, X")
    assert re.search(r" \(about \d+ s left\)$", lines[1])


def test_the_last_line_says_nothing_of_time_left(plan: Plan) -> None:
    """There is none."""

    def use(view: QuietView) -> None:
        for trial in plan.trials:
            view.started(trial)
            view.ended(trial, record_of(trial, 1.0))

    assert shown_by(lambda console: PlainView(plan, console), use).endswith(": reward 1\n")


def test_a_resumed_batch_counts_what_is_kept_without_a_line(plan: Plan) -> None:
    """It was shown when it ran."""

    def use(view: QuietView) -> None:
        for trial in plan.trials[:7]:
            view.kept(trial, record_of(trial, 1.0))
        view.started(plan.trials[7])
        view.ended(plan.trials[7], record_of(plan.trials[7], 0.0))

    assert shown_by(lambda console: PlainView(plan, console), use) == f"[8/8] {plan.trials[7].id}: reward 0\n"


def test_quiet_shows_warnings_alone(plan: Plan) -> None:
    """With their lines kept apart."""

    def use(view: QuietView) -> None:
        view.stage("images")
        view.started(plan.trials[0])
        view.ended(plan.trials[0], record_of(plan.trials[0], 1.0))
        view.warn("alpha: no image\nstep 2 failed")

    assert shown_by(QuietView, use) == "warning: alpha: no image\n  step 2 failed\n"


def test_on_a_terminal_a_table_has_each_arms_counts_and_mean(plan: Plan) -> None:
    """A trial without a reward counts 0 in the mean so far, and is a failure."""
    oracle = [trial for trial in plan.trials if trial.arm.label == "oracle"]
    nop = [trial for trial in plan.trials if trial.arm.label == "nop"]

    def use(view: QuietView) -> None:
        assert isinstance(view, LiveView)
        for trial in (*oracle[:3], nop[0]):
            view.started(trial)
        view.ended(oracle[0], record_of(oracle[0], 1.0))
        view.ended(oracle[1], record_of(oracle[1], None, "X"))
        view._console.print(view._draw())

    lines = shown_by(lambda console: LiveView(plan, console), use, terminal=True)
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", lines)
    assert re.search(r"oracle\s+\S+\s+2/4\s+1\s+1\s+0\.500", plain)
    assert re.search(r"nop\s+\S+\s+0/4\s+1\s+0\s+-", plain)
    assert f"running: {oracle[2].id} (0 s), {nop[0].id} (0 s)" in plain


def test_names_of_others_cannot_write_on_the_screen(plan: Plan) -> None:
    """Neither a task's, nor what a warning quotes, nor an exception's."""
    hostile = replace(plan.trials[0], id=f"a{ESCAPE}[red]b/x/1")

    def use(view: QuietView) -> None:
        view.stage(f"images: {ESCAPE}")
        view.warn(f"no {ESCAPE}\r image")
        view.started(hostile)
        view.ended(hostile, record_of(hostile, None, f"X{ESCAPE}"))

    said = shown_by(lambda console: PlainView(plan, console), use)
    assert "\x1b" not in said
    assert "\r" not in said
    assert "[red]b" in said


def make_writable(file: TextIO) -> None:
    """So that closing it is no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, file.fileno())
    os.close(nowhere)


def test_a_reader_that_went_away_does_not_end_the_run(plan: Plan) -> None:
    """`hbench run 2>&1 | head -1` goes on to its seal."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", buffering=1) as file:
        view = PlainView(plan, Screen(file=file))
        for trial in plan.trials:
            view.stage("x" * 100)
            view.started(trial)
            view.ended(trial, record_of(trial, 1.0))
        file_is_broken = view._console.quiet
        make_writable(file)
    assert file_is_broken


def test_a_terminal_that_went_away_does_not_either(plan: Plan) -> None:
    """Writing to it is an error of its own kind."""
    master, terminal = os.openpty()
    with os.fdopen(terminal, "w", buffering=1) as file:
        with LiveView(plan, Screen(file=file, force_terminal=True)) as view:
            os.close(master)
            for trial in plan.trials:
                view.started(trial)
                view.warn("hello")
                view.ended(trial, record_of(trial, 1.0))
        make_writable(file)


@pytest.mark.parametrize(("quiet", "kind"), [(True, QuietView), (False, PlainView)])
def test_where_stderr_is_no_terminal_the_view_is_plain_or_quiet(
    plan: Plan, quiet: bool, kind: type, capsys: pytest.CaptureFixture[str]
) -> None:
    """Results go to stdout, and nothing of the view does."""
    with view_for(plan, quiet=quiet) as view:
        assert type(view) is kind
        view.warn("look")
    assert capsys.readouterr() == ("", "warning: look\n")


@pytest.mark.parametrize(
    ("reward", "exception_type", "said"),
    [
        (1.0, None, "reward 1"),
        (1 / 3, None, "reward 0.333333"),
        (0.0, "AgentTimeoutError", "reward 0, AgentTimeoutError"),
        (None, "HealthcheckError", "no reward, HealthcheckError"),
    ],
)
def test_an_outcome_is_a_few_words(plan: Plan, reward: float | None, exception_type: str | None, said: str) -> None:
    """Reward first."""
    assert outcome(record_of(plan.trials[0], reward, exception_type)) == said
