"""A trial from its container to its record, on the scripted engine."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.container.engine import Command
from hbench.container.fake import HANGS, FakeEngine
from hbench.results.record import TrialRecord
from hbench.trial.bench import Bench, Prepared
from hbench.trial.run import run_trial
from tests.trial.scripts import writes_reward

Run = Callable[..., TrialRecord]


def test_a_trial_whose_tests_pass_has_reward_1_and_no_exception(run: Run) -> None:
    """The plain good course."""
    record = run()
    assert (record.reward, record.exception_type, record.stop_reason) == (1.0, None, "agent_done")
    assert record.agent_begun


def test_an_agent_that_runs_out_of_time_is_still_verified(engine: FakeEngine, run: Run) -> None:
    """What the agent left may pass, so the tests run after a timeout (R03)."""
    engine.scripts["agent"] = lambda *_: HANGS
    record = run()
    assert (record.exception_type, record.reward, record.stop_reason) == ("AgentTimeoutError", 1.0, "timeout")


def test_an_agent_that_fails_is_still_verified(engine: FakeEngine, run: Run) -> None:
    """A non-zero exit is recorded and judged by the tests alone."""
    engine.scripts["agent"] = lambda *_: 3
    record = run()
    assert (record.exception_type, record.reward) == ("NonZeroAgentExitCodeError", 1.0)
    assert record.agent_result is not None
    assert record.agent_result.exit_code == 3


def test_a_missing_reward_hides_the_agents_timeout_and_leaves_a_flag(engine: FakeEngine, run: Run) -> None:
    """Without a reward the exception says what denied it; the timeout stands as a flag."""
    engine.scripts = {"test.sh": lambda *_: 0, "agent": lambda *_: HANGS}
    record = run()
    assert (record.exception_type, record.reward) == ("RewardFileNotFoundError", None)
    assert "agent_timed_out" in record.flags


def test_tests_that_hang_are_a_verifier_timeout_even_with_a_reward_written(engine: FakeEngine, run: Run) -> None:
    """A verifier that did not end has not judged."""

    def hangs(files: dict[str, bytes], _: Command) -> int:
        files["/logs/verifier/reward.txt"] = b"1"
        return HANGS

    engine.scripts["test.sh"] = hangs
    record = run()
    assert (record.exception_type, record.reward) == ("VerifierTimeoutError", None)


def test_a_reward_that_the_agent_wrote_is_removed_before_the_tests(engine: FakeEngine, run: Run) -> None:
    """Only what the tests write counts; the attempt is flagged."""

    def cheats(files: dict[str, bytes], _: Command) -> int:
        files["/logs/verifier/reward.txt"] = b"1"
        return 0

    engine.scripts = {"test.sh": lambda *_: 1, "agent": cheats}
    record = run()
    assert (record.exception_type, record.reward) == ("RewardFileNotFoundError", None)
    assert "reward_before_tests" in record.flags


def test_tests_that_the_agent_left_are_replaced(engine: FakeEngine, run: Run) -> None:
    """/tests is hbench's; what lies there is removed and flagged."""

    def occupies(files: dict[str, bytes], _: Command) -> int:
        files["/tests/conftest.py"] = b"import os"
        return 0

    seen: list[bool] = []

    def looks(files: dict[str, bytes], command: Command) -> int:
        seen.append("/tests/conftest.py" in files)
        return writes_reward("1")(files, command)

    engine.scripts = {"test.sh": looks, "agent": occupies}
    record = run()
    assert seen == [False]
    assert "tests_path_occupied" in record.flags


def test_the_agent_sees_neither_tests_nor_solution(engine: FakeEngine, run: Run) -> None:
    """The grader is held out (T09), also where the image had it."""
    engine.image_files |= {"/tests/test.sh": b"old", "/solution/solve.sh": b"old"}
    seen: list[str] = []

    def looks(files: dict[str, bytes], _: Command) -> int:
        seen.extend(name for name in files if name.startswith(("/tests", "/solution")))
        return 0

    engine.scripts["agent"] = looks
    record = run()
    assert seen == []
    assert "hidden_paths_removed" in record.flags


@pytest.mark.parametrize(
    ("operation", "ending"),
    [("create", "EnvironmentStartError"), ("start", "EnvironmentStartError"), ("put", "EnvironmentStartError")],
)
def test_an_engine_that_refuses_the_container_is_an_environment_error(
    engine: FakeEngine, run: Run, operation: str, ending: str
) -> None:
    """The trial ends before the agent had begun, so it may be run again."""
    engine.refuse[operation] = "no space left"
    record = run()
    assert (record.exception_type, record.reward, record.agent_begun) == (ending, None, False)
    assert "no space left" in str(record.exception_info)


def test_a_task_without_an_image_is_a_build_error(trial: object, bench: Bench, tmp_path: Path) -> None:
    """The reason of the failed build is the message."""
    record = run_trial(trial, Prepared(image=None, source="build", problem="step 3 failed"), bench, tmp_path)  # type: ignore[arg-type]
    assert record.exception_type == "EnvironmentBuildError"
    assert "step 3 failed" in str(record.exception_info)
    assert record.environment_setup is None


def test_a_cancelled_trial_is_recorded_as_cancelled(run: Run, bench: Bench) -> None:
    """Nothing is lost: the record says that a person stopped it."""
    bench.cancel.set()
    record = run()
    assert (record.exception_type, record.reward) == ("CancelledError", None)


def test_a_container_that_dies_under_the_agent_ends_as_an_engine_error(engine: FakeEngine, run: Run) -> None:
    """The tests cannot run; the message says what ended the container."""

    def exhausts(*_: object) -> int:
        engine.stop("c0", "the container ran out of memory")
        return 137

    engine.scripts["agent"] = exhausts
    record = run()
    assert (record.exception_type, record.reward) == ("EngineError", None)
    assert "out of memory" in str(record.exception_info)
    assert "container_stopped" in record.flags


def test_the_container_is_gone_after_any_ending(engine: FakeEngine, run: Run) -> None:
    """Teardown does not depend on how the trial went."""
    engine.refuse["run"] = "broken"
    run()
    assert engine.containers == {}
    assert engine.removed == ["c0"]


def test_every_phase_is_timed_on_its_own(run: Run) -> None:
    """Agent time excludes setup and tests (R25)."""
    record = run()
    phases = [record.environment_setup, record.agent_setup, record.agent_execution, record.collect, record.verifier]
    assert all(phase is not None and phase.duration_s >= 0 for phase in phases)


def test_what_the_agent_printed_and_left_is_kept(engine: FakeEngine, run: Run, tmp_path: Path) -> None:
    """stdout streams to disk; /logs/agent and /logs/artifacts are copied out."""

    def works(files: dict[str, bytes], command: Command) -> int:
        assert command.output is not None
        command.output(b"working\n")
        files["/logs/agent/session.json"] = b"{}"
        files["/logs/artifacts/plot.svg"] = b"<svg/>"
        return 0

    engine.scripts["agent"] = works
    run()
    folder = tmp_path / "trial"
    assert (folder / "agent" / "stdout.txt").read_text() == "working\n"
    assert json.loads((folder / "agent" / "session.json").read_text()) == {}
    assert (folder / "artifacts" / "plot.svg").read_text() == "<svg/>"


def test_the_agent_is_told_its_deadline_and_where_the_instruction_is(engine: FakeEngine, run: Run) -> None:
    """By environment variables, handed over by the API."""
    run()
    agent = next(command for command in engine.ran if "agent" in command.argv)
    assert agent.env["HBENCH_TIMEOUT_SEC"] == "10"
    assert agent.env["HBENCH_INSTRUCTION"] == "/hbench/instruction.md"
    assert float(agent.env["HBENCH_DEADLINE"]) > 1e9


def test_the_log_can_be_shown_on_a_terminal(engine: FakeEngine, run: Run, tmp_path: Path) -> None:
    """What an agent printed stands in the message; it must not clear the screen of whoever reads why it failed."""

    def prints(_: object, command: Command) -> int:
        assert command.output is not None
        command.output(b"bad\x1b[2J\nworse\n")
        return 3

    engine.scripts["agent"] = prints
    record = run()
    assert "\x1b[2J" in str(record.exception_info and record.exception_info.exception_message)
    log = (tmp_path / "trial" / "trial.log").read_text()
    assert "  NonZeroAgentExitCodeError: exit status 3\n  bad\N{REPLACEMENT CHARACTER}[2J\n  worse\n" in log


def test_a_non_zero_exit_of_the_tests_with_reward_1_is_a_flag(engine: FakeEngine, run: Run) -> None:
    """The file judges; the exit status is shown."""
    engine.scripts["test.sh"] = writes_reward("1", exit_code=1)
    record = run()
    assert record.reward == 1.0
    assert "verifier_exit_nonzero" in record.flags


def test_the_message_of_a_missing_reward_has_exit_status_and_output(engine: FakeEngine, run: Run) -> None:
    """So that a person can see why without opening files."""

    def crashes(_: dict[str, bytes], command: Command) -> int:
        assert command.output is not None
        command.output(b"test.sh: line 3: pytest: command not found\n")
        return 127

    engine.scripts["test.sh"] = crashes
    message = str(run().exception_info)
    assert "127" in message
    assert "command not found" in message
