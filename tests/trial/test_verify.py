"""The tests and their reward, on the scripted engine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.container.engine import Command
from hbench.container.errors import RefusedError
from hbench.container.fake import FakeEngine
from hbench.results.record import TrialRecord
from tests.trial.scripts import writes_reward

Run = Callable[..., TrialRecord]


def command_of_the_tests(engine: FakeEngine) -> Command:
    return next(command for command in engine.ran if "/tests/test.sh" in command.argv)


def test_the_tests_run_with_bash_that_reads_no_start_up_file(engine: FakeEngine, run: Run) -> None:
    """Nor one that a variable of the image names."""
    run()
    command = command_of_the_tests(engine)
    assert command.argv == ("/bin/bash", "--noprofile", "--norc", "/tests/test.sh")
    assert (command.env["BASH_ENV"], command.env["ENV"]) == ("", "")
    assert not any(name.startswith("HBENCH_") for name in command.env)


def test_without_bash_the_images_sh_runs_them(engine: FakeEngine, run: Run) -> None:
    """A small image has nothing else."""
    engine.image_files = {"/bin/sh": b""}
    assert run().reward == 1.0
    assert command_of_the_tests(engine).argv == ("/bin/sh", "/tests/test.sh")


def test_a_reward_with_more_keys_keeps_them_behind_the_headline(engine: FakeEngine, run: Run) -> None:
    """As the tests wrote them."""

    def script(files: dict[str, bytes], _: Command) -> int:
        files["/logs/verifier/reward.json"] = b'{"loss": 3.5, "reward": 0.5}'
        return 0

    engine.scripts["test.sh"] = script
    record = run()
    assert record.verifier_result is not None
    assert list(record.verifier_result.rewards.items()) == [("reward", 0.5), ("loss", 3.5)]


def test_what_the_tests_leave_beside_the_reward_is_kept(engine: FakeEngine, run: Run, tmp_path: Path) -> None:
    """Reports, for people."""

    def script(files: dict[str, bytes], command: Command) -> int:
        files["/logs/verifier/ctrf/report.json"] = b"{}"
        return writes_reward("1")(files, command)

    engine.scripts["test.sh"] = script
    run()
    assert (tmp_path / "trial" / "verifier" / "ctrf" / "report.json").read_text() == "{}"


def test_what_cannot_be_removed_before_the_tests_voids_the_trial(engine: FakeEngine, run: Run) -> None:
    """The image's rm belongs to the agent, who may have replaced it."""

    def occupies(files: dict[str, bytes], _: Command) -> int:
        files["/tests/conftest.py"] = b"import os"
        return 0

    engine.scripts = {"test.sh": writes_reward("1"), "agent": occupies}
    engine._script = lambda command: engine.scripts.get(command.argv[-1], lambda *_: 0)  # type: ignore[method-assign]
    engine.scripts["/tests/test.sh"] = writes_reward("1")
    record = run()
    assert (record.exception_type, record.reward) == ("RewardTamperedError", None)
    assert "/tests could not be removed" in str(record.exception_info)


@pytest.mark.parametrize("text", ["1", "nonsense"])
def test_a_reward_that_comes_back_voids_the_trial_whatever_it_says(engine: FakeEngine, run: Run, text: str) -> None:
    """It need not be one for what writes it to be at work."""
    engine.scripts["test.sh"] = writes_reward(text)
    engine.processes = lambda container: frozenset({1, 2, 100 + len(engine.ran)})  # type: ignore[method-assign]
    removed = engine._script

    def rewrites(command: Command) -> Callable[..., int]:
        script = removed(command)
        if command.argv[0] != "rm":
            return script

        def remove(files: dict[str, bytes], command: Command) -> int:
            script(files, command)
            return writes_reward(text)(files, command)

        return remove

    engine._script = rewrites  # type: ignore[method-assign]
    record = run()
    assert (record.exception_type, record.reward) == ("RewardTamperedError", None)
    assert "processes_left" in record.flags


def test_tests_that_the_engine_refuses_to_run_are_no_verdict_on_the_agent(engine: FakeEngine, run: Run) -> None:
    """With the engine's words."""

    def refused(*_: object) -> int:
        raise RefusedError("unable to find user tester")

    engine.scripts["test.sh"] = refused
    record = run()
    assert (record.exception_type, record.reward) == ("EngineError", None)
    assert "the tests could not run: unable to find user tester" in str(record.exception_info)


def test_tests_that_are_gone_from_the_host_end_the_trial_and_not_the_run(
    engine: FakeEngine, run: Run, task_folder: Path
) -> None:
    """Somebody edits the task meanwhile."""

    def deletes(*_: object) -> int:
        (task_folder / "tests" / "test.sh").unlink()
        (task_folder / "tests").rmdir()
        return 0

    engine.scripts["agent"] = deletes
    record = run()
    assert (record.exception_type, record.reward) == ("EngineError", None)
    assert str(task_folder) not in str(record.exception_info)
