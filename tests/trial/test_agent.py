"""The harness put in place and run, on the scripted engine."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hbench.adapter.model import Configuration
from hbench.container.engine import Command
from hbench.container.errors import GoneError, RefusedError
from hbench.container.fake import FakeEngine, image_facts
from hbench.errors import EngineError
from hbench.plan.model import TrialPlan
from hbench.results.record import TrialRecord
from hbench.task.load import load_task
from hbench.trial.bench import Bench, Prepared
from hbench.trial.run import run_trial

Run = Callable[..., TrialRecord]


@pytest.fixture
def run_with(trial: TrialPlan, bench: Bench, tmp_path: Path) -> Run:
    """Run the trial with other fields of its adapter, other options, another bench."""

    def run(*, options: dict[str, Any] | None = None, bench: Bench = bench, **fields: Any) -> TrialRecord:
        adapter = trial.arm.configuration.adapter
        changed = replace(adapter, spec=adapter.spec.model_copy(update=fields))
        arm = replace(trial.arm, configuration=Configuration(adapter=changed, options=options or {}))
        (tmp_path / "trial").mkdir()
        plan = replace(trial, arm=arm, task=load_task(trial.task.folder))
        return run_trial(plan, Prepared(image=image_facts("task"), source="build"), bench, tmp_path / "trial")

    return run


def test_a_harness_that_takes_too_long_to_put_in_place_has_not_begun(
    trial: TrialPlan, bench: Bench, engine: FakeEngine, tmp_path: Path
) -> None:
    """The limit is the suite's; the trial may be run again."""
    hurried = replace(trial, limits=replace(trial.limits, setup_timeout_s=1e-9))
    record = run_trial(hurried, Prepared(image=image_facts("task"), source="build"), bench, tmp_path)
    assert (record.exception_type, record.reward, record.agent_begun) == ("AgentSetupTimeoutError", None, False)
    assert not any("agent" in command.argv for command in engine.ran)


def agents(engine: FakeEngine) -> Command:
    """The command that was the agent."""
    return next(command for command in engine.ran if "agent" in command.argv)


def test_an_instruction_as_an_argument_is_one_element(engine: FakeEngine, run_with: Run) -> None:
    """Where the adapter says so and only as a whole element."""
    run_with(command=["agent", "-p", "{instruction}", "x{instruction}"], instruction="arg")
    assert agents(engine).argv == ["agent", "-p", "Write `hello` to `/app/greeting.txt`.\n", "x{instruction}"]
    assert agents(engine).stdin is None


def test_an_element_that_looks_like_the_instruction_stays_where_it_is_not_asked_for(
    engine: FakeEngine, run_with: Run
) -> None:
    """A harness that reads the file gets its own words."""
    run_with(command=["agent", "{instruction}"])
    assert agents(engine).argv == ["agent", "{instruction}"]


def test_an_instruction_on_stdin_is_its_bytes(engine: FakeEngine, run_with: Run, task_folder: Path) -> None:
    """UTF-8; the file is there all the same."""
    (task_folder / "instruction.md").write_text("Größe\n")
    run_with(instruction="stdin")
    assert agents(engine).stdin == "Größe\n".encode()


def test_options_reach_the_harness_as_variables(engine: FakeEngine, run_with: Run) -> None:
    """Beside what its adapter sets."""
    run_with(options={"reasoning_effort": "high", "turns": 3, "fast": True}, env={"CI": "1"})
    env = agents(engine).env
    assert env["HBENCH_OPTION_REASONING_EFFORT"] == "high"
    assert (env["HBENCH_OPTION_TURNS"], env["HBENCH_OPTION_FAST"], env["CI"]) == ("3", "True", "1")


def test_how_a_harness_is_stopped_is_its_adapters_affair(engine: FakeEngine, run_with: Run) -> None:
    """Signal and grace."""
    run_with(stop_signal="INT", stop_grace_s=12.0)
    assert (agents(engine).stop_signal, agents(engine).stop_grace_s) == ("INT", 12.0)


def test_variables_of_the_solution_are_for_who_sees_it(engine: FakeEngine, run_with: Run, task_folder: Path) -> None:
    """The oracle; nobody else is told."""
    toml = task_folder / "task.toml"
    toml.write_text(toml.read_text() + '[solution]\nenv = { ANSWER = "42" }\n')
    run_with(sees_solution=True)
    assert agents(engine).env["ANSWER"] == "42"


def test_variables_of_the_solution_are_kept_from_all_others(
    engine: FakeEngine, run_with: Run, task_folder: Path
) -> None:
    """They may give the answer away."""
    toml = task_folder / "task.toml"
    toml.write_text(toml.read_text() + '[solution]\nenv = { ANSWER = "42", KEY = "${UNSET}" }\n')
    record = run_with()
    assert record.exception_type is None
    assert "ANSWER" not in agents(engine).env


@pytest.mark.parametrize("phase", ["environment", "agent", "verifier"])
def test_a_variable_that_is_not_passed_is_missed_before_the_agent_works(
    engine: FakeEngine, run_with: Run, task_folder: Path, phase: str
) -> None:
    """Whichever phase needs it; nothing is created, and the hint says what to do."""
    toml = task_folder / "task.toml"
    toml.write_text(toml.read_text() + f'[{phase}]\nenv = {{ KEY = "${{UNSET}}" }}\n')
    record = run_with()
    assert (record.exception_type, record.agent_begun) == ("AgentSetupError", False)
    assert "[env] pass" in str(record.exception_info)
    assert engine.removed == []


def test_a_harness_that_does_nothing_needs_no_files(engine: FakeEngine, run_with: Run) -> None:
    """nop: nothing is copied in, nothing runs, and the tests judge."""
    seen: list[str] = []
    engine.scripts = {"test.sh": lambda files, _: seen.extend(files) or 0}  # type: ignore[func-returns-value]
    record = run_with(command=[])
    assert record.agent_begun
    assert not any(name.startswith("/hbench") for name in seen)


def test_a_harness_that_is_refused_had_not_begun(engine: FakeEngine, run_with: Run) -> None:
    """Such as for a user who does not exist: the trial may run again."""

    def refused(*_: object) -> int:
        raise RefusedError("unable to find user nobody-here")

    engine.scripts = {"agent": refused}
    record = run_with()
    assert (record.exception_type, record.agent_begun) == ("AgentSetupError", False)
    assert "nobody-here" in str(record.exception_info)


def test_a_harness_that_could_not_be_stopped_is_not_judged(engine: FakeEngine, run_with: Run) -> None:
    """It may work on while the tests run."""

    def runs_on(*_: object) -> int:
        raise EngineError("what reached its limit could not be stopped")

    engine.scripts["agent"] = runs_on
    record = run_with()
    assert (record.exception_type, record.reward, record.agent_begun) == ("EngineError", None, True)
    assert not any("test.sh" in part for command in engine.ran for part in command.argv)


def test_a_command_that_the_engine_lost_in_a_living_container_is_not_judged(engine: FakeEngine, run_with: Run) -> None:
    """Only a container that is gone took the agent with it."""

    def lost(*_: object) -> int:
        raise GoneError("No such exec instance")

    engine.scripts["agent"] = lost
    record = run_with()
    assert (record.exception_type, record.reward) == ("EngineError", None)
    assert not any("test.sh" in part for command in engine.ran for part in command.argv)
