"""A suite becomes every trial, in an order that treats all arms alike."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.adapter.model import Adapter, Configuration
from hbench.errors import NothingToRunError, SuiteError, TaskError
from hbench.plan.arms import arms
from hbench.plan.build import build_plan, expand
from hbench.plan.model import Plan
from hbench.suite.load import LoadedSuite, parse_suite
from hbench.task.dataset import Selection
from hbench.task.model import Task

Make = Callable[..., Any]


def plan_of(
    suite: LoadedSuite, tasks: Sequence[Task], harnesses: Sequence[Adapter], selected: Callable[..., Selection]
) -> Plan:
    asked = [Configuration(adapter=adapter) for adapter in harnesses]
    return expand(suite, arms(suite, asked), selected(*tasks))


NAMES = st.lists(st.text("abAB/_-.é", min_size=1, max_size=5), min_size=1, max_size=6, unique=True)


@settings(deadline=None)
@given(NAMES, st.integers(1, 3), st.integers(1, 5), st.integers(0, 2**63 - 1))
def test_every_task_meets_every_arm_in_every_attempt(
    make_task: Make,
    make_adapter: Make,
    make_suite: Make,
    selected: Make,
    names: list[str],
    n_arms: int,
    attempts: int,
    seed: int,
) -> None:
    """Rows equal tasks x attempts x arms (R22); each block of one attempt and task holds every arm once (R20)."""
    suite = make_suite(f"[suite]\nattempts = {attempts}\nseed = {seed}\n")
    harnesses = [make_adapter(f"h{n}") for n in range(n_arms)]
    plan = plan_of(suite, [make_task(name) for name in names], harnesses, selected)

    assert len(plan.trials) == len(names) * attempts * n_arms
    for start in range(0, len(plan.trials), n_arms):
        block = plan.trials[start : start + n_arms]
        assert len({(trial.attempt, trial.task.name) for trial in block}) == 1
        assert {trial.arm.label for trial in block} == {f"h{n}" for n in range(n_arms)}
    assert [trial.attempt for trial in plan.trials] == sorted(trial.attempt for trial in plan.trials)
    assert len({trial.id for trial in plan.trials}) == len(plan.trials)
    for job in plan.jobs:
        assert len({trial.folder.lower() for trial in job.trials}) == len(names) * attempts
        assert job.trials == tuple(trial for trial in plan.trials if trial.arm == job.arm)


@settings(deadline=None)
@given(NAMES, st.integers(0, 9))
def test_the_same_input_gives_the_same_plan(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make, names: list[str], seed: int
) -> None:
    suite = make_suite(f"[suite]\nattempts = 2\nseed = {seed}\n")
    first, second = (
        plan_of(suite, [make_task(name) for name in names], [make_adapter("a"), make_adapter("b")], selected)
        for _ in range(2)
    )
    assert first == second


def test_the_order_is_the_seeds(make_task: Make, make_adapter: Make, make_suite: Make, selected: Make) -> None:
    """Neither tasks nor arms always come in the suite's order, and another seed is another order."""

    def order(seed: int) -> list[str]:
        suite = make_suite(f"[suite]\nattempts = 2\nseed = {seed}\n")
        tasks = [make_task(name) for name in "abcdef"]
        return [t.id for t in plan_of(suite, tasks, [make_adapter("x"), make_adapter("y")], selected).trials]

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(10)}) == 10
    assert {trial.split("/")[1] for trial in order(1)[::2]} == {"x", "y"}


def test_the_plan_of_a_seed_is_the_same_on_every_machine_and_python(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make
) -> None:
    """Written down once; a change here breaks every earlier plan."""
    suite = make_suite("[suite]\nattempts = 2\nseed = 7\n")
    tasks = [make_task(name) for name in ("org/fix", "csv")]
    plan = plan_of(suite, tasks, [make_adapter("nop"), make_adapter("oracle")], selected)
    assert [f"{trial.id} {trial.folder}" for trial in plan.trials] == [
        "org/fix/nop/1 fix__1",
        "org/fix/oracle/1 fix__1",
        "csv/oracle/1 csv__1",
        "csv/nop/1 csv__1",
        "csv/oracle/2 csv__2",
        "csv/nop/2 csv__2",
        "org/fix/nop/2 fix__2",
        "org/fix/oracle/2 fix__2",
    ]


def test_a_task_that_cannot_be_told_apart_is_an_error(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two names with one tag, which takes someone who means it."""
    monkeypatch.setattr("hbench.plan.names.tagged", lambda name: "same-00000000")
    with pytest.raises(TaskError, match="task names collide"):
        plan_of(make_suite(), [make_task("A"), make_task("B")], [make_adapter("nop")], selected)


def test_a_person_is_told_what_has_no_effect_and_what_was_left_out(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make
) -> None:
    suite = make_suite("limits.max_turns = 5\n[[model]]\nname = 'm'\n")
    asked = [Configuration(adapter=make_adapter("nop"))]
    selection = selected(make_task("a", warnings=("task.toml:3: odd",)), skipped={"bad": "task.toml: no"})
    assert expand(suite, arms(suite, asked), selection).notes == (
        "the model m is not used: no harness of the suite calls one",
        "max_turns has nothing to limit: no harness of the suite calls a model",
        "left out bad: task.toml: no",
        "a: task.toml:3: odd",
    )


def test_a_model_that_a_harness_calls_needs_no_note(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make
) -> None:
    suite = make_suite("[[model]]\nname = 'm'\n")
    harnesses = [make_adapter("pi", model=True), make_adapter("nop")]
    assert plan_of(suite, [make_task("a")], harnesses, selected).notes == ()


def test_no_task_is_nothing_to_run(make_adapter: Make, make_suite: Make, selected: Make) -> None:
    with pytest.raises(NothingToRunError):
        plan_of(make_suite(), [], [make_adapter("nop")], selected)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A folder with three tasks, one of them invalid, and an adapter."""
    for name in ("alpha", "beta", "broken"):
        task = tmp_path / "tasks" / name
        (task / "environment").mkdir(parents=True)
        (task / "tests").mkdir()
        (task / "instruction.md").write_text("Write it.")
        (task / "environment" / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
        (task / "tests" / "test.sh").write_text("true\n")
        (task / "task.toml").write_text("version = '1.0'\n[agent]\ntimeout_sec = 120.0\n")
    (tmp_path / "tasks" / "broken" / "instruction.md").unlink()
    (tmp_path / "mine").mkdir()
    said = 'format = 1\nname = "mine"\nversion = "3"\ncommand = ["true"]\n'
    (tmp_path / "mine" / "adapter.toml").write_text(said)
    (tmp_path / "caller").mkdir()
    (tmp_path / "caller" / "adapter.toml").write_text(said + "model = true\n")
    return tmp_path


SUITE = "[dataset]\npath = 'tasks'\n[network]\nmode = 'open'\n[[harness]]\npath = 'mine'\n"


def suite_in(base: Path, text: str = SUITE) -> LoadedSuite:
    return parse_suite(text, base=base, name="s.toml").checked()


def test_a_suite_over_folders_becomes_a_plan(dataset: Path) -> None:
    """Task and adapter folders are read, nothing else is needed."""
    plan = build_plan(suite_in(dataset), skip_invalid=True)
    assert {trial.task.name for trial in plan.trials} == {"alpha", "beta"}
    assert list(plan.skipped) == ["broken"]
    assert plan.trials[0].limits.agent_timeout_s == 120.0
    assert (plan.dataset_name, plan.suite_text) == ("tasks", SUITE)


def test_an_invalid_task_is_an_error_unless_it_may_be_left_out(dataset: Path) -> None:
    with pytest.raises(TaskError, match=r"instruction\.md"):
        build_plan(suite_in(dataset), skip_invalid=False)


def test_only_the_first_tasks_by_name_are_planned_where_the_suite_says_so(dataset: Path) -> None:
    """Harbor's -l."""
    plan = build_plan(suite_in(dataset, SUITE.replace("'tasks'", "'tasks'\nfirst = 1")), skip_invalid=True)
    assert {trial.task.name for trial in plan.trials} == {"alpha"}


def test_what_hbench_cannot_do_yet_is_refused_before_any_task_is_read(dataset: Path) -> None:
    """The first message is about the suite, not about a task."""
    with pytest.raises(SuiteError, match="egress gate"):
        build_plan(suite_in(dataset, SUITE.replace("open", "none")), skip_invalid=False)
    with pytest.raises(SuiteError, match="calls a model"):
        build_plan(suite_in(dataset, SUITE.replace("mine", "caller")), skip_invalid=False)


def test_a_plan_holds_no_secret(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It knows names of variables, never their values."""
    monkeypatch.setenv("SOME_KEY", "sk-test-1234567890")
    text = SUITE + "[[model]]\nname = 'm'\napi_key_env = 'SOME_KEY'\n"
    plan = build_plan(suite_in(dataset, text), skip_invalid=True)
    assert "sk-test-1234567890" not in json.dumps(repr(plan))


def test_a_host_variable_that_the_suite_does_not_pass_is_refused_before_anything_runs(dataset: Path) -> None:
    """With the task's file and what to add; a default makes it unnecessary (`[env] pass`)."""
    file = next(dataset.rglob("task.toml"))
    file.write_text(file.read_text() + '\n[solution.env]\nTOKEN = "${SOME_TOKEN}"\nOTHER = "${OTHER:-none}"\n')
    harness = dataset / "mine" / "adapter.toml"
    harness.write_text(f"sees_solution = true\n{harness.read_text()}")
    with pytest.raises(TaskError) as refused:
        build_plan(suite_in(dataset), skip_invalid=True)
    assert refused.value.where == str(file)
    assert "SOME_TOKEN" in str(refused.value)
    passing = SUITE + '\n[env]\npass = ["SOME_TOKEN"]\n'
    assert build_plan(suite_in(dataset, passing), skip_invalid=True).trials


def test_a_variable_of_the_solution_matters_only_to_a_harness_that_sees_the_solution(dataset: Path) -> None:
    """Whoever measures agents has no need of what the reference answer needs."""
    file = next(dataset.rglob("task.toml"))
    file.write_text(file.read_text() + '\n[solution.env]\nTOKEN = "${SOME_TOKEN}"\n')
    assert build_plan(suite_in(dataset), skip_invalid=True).trials
