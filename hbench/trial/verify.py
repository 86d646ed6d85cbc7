"""Phase 5: the task's own tests, copied in after the agent stopped, and the reward they wrote."""

from pathlib import Path, PurePosixPath

from hbench.container import archive
from hbench.container.engine import Command, Finished
from hbench.container.errors import GoneError, RefusedError
from hbench.errors import TaskError
from hbench.plan.model import TrialPlan
from hbench.results.reward import RewardProblem, parse_reward
from hbench.task import template
from hbench.trial.ending import REWARD_ENDINGS, EngineFailure, RewardTamperedError, VerifierTimeoutError
from hbench.trial.environment import Environment, reading
from hbench.trial.output import OutputFile

TESTS = "/tests"
VERIFIER_LOGS = "/logs/verifier"
REWARD_FILES = (f"{VERIFIER_LOGS}/reward.txt", f"{VERIFIER_LOGS}/reward.json")
_COMES_BACK_WITHIN_S = 0.5


def verify(trial: TrialPlan, environment: Environment, folder: Path, flags: set[str]) -> dict[str, float]:
    """Run the tests on what the agent left and read the reward.

    Args:
        flags: Receives the names of what a reader should know; none changes the reward.

    Returns:
        The rewards, `reward` first.

    Raises:
        TrialEnding: One of the endings without a reward of docs/endings.md.
    """
    why = environment.bench.engine.why_stopped(environment.container)
    if why is not None:
        flags.add("container_stopped")
        raise EngineFailure(f"the tests could not run: {why}")
    try:
        _clear(environment, flags)
        _put_tests(trial, environment)
        _refuse_early_reward(environment)
        with OutputFile(folder / "verifier" / "test-stdout.txt") as output:
            ended = environment.run(_command(trial, environment, output))
            said = output.tail()
            if output.dropped_bytes:
                flags.add("verifier_output_truncated")
        if ended.timed_out:
            limit = trial.limits.verifier_timeout_s
            raise VerifierTimeoutError(f"the tests were stopped at their limit of {limit:g} s\n{said}".rstrip())
        left_out = _collect(environment, folder / "verifier", flags)
        if environment.new_processes():
            flags.add("processes_left")
            _refuse_returning_reward(environment)
    except GoneError as problem:
        why = environment.bench.engine.why_stopped(environment.container) or str(problem)
        raise EngineFailure(f"the container was lost while the tests ran: {why}") from problem
    except (RefusedError, TaskError) as problem:
        raise EngineFailure(f"the tests could not run: {problem.without_place}") from problem
    rewards = _parsed(folder / "verifier", ended, said, left_out, flags)
    if ended.exit_code != 0 and rewards["reward"] == 1.0:
        flags.add("verifier_exit_nonzero")
    return rewards


def _clear(environment: Environment, flags: set[str]) -> None:
    """Remove what the agent left where tests and rewards go."""
    occupied = [path for path in (TESTS, VERIFIER_LOGS) if environment.has(path)]
    if TESTS in occupied:
        flags.add("tests_path_occupied")
    if VERIFIER_LOGS in occupied and any(environment.has(path) for path in REWARD_FILES):
        flags.add("reward_before_tests")
    if occupied:
        environment.as_root("rm", "-rf", "--", *occupied)  # the image's own, which the agent may have replaced
    for path in occupied:
        if environment.has(path):
            raise RewardTamperedError(f"{path} could not be removed before the tests")


def _put_tests(trial: TrialPlan, environment: Environment) -> None:
    with reading():
        tests = archive.tree(trial.task.tests, TESTS, unix_scripts=True)
    folders = [archive.folder(VERIFIER_LOGS, mode=0o777)]
    if not environment.has(environment.workdir):
        folders.append(archive.folder(environment.workdir))
    environment.put([*folders, *tests])


def _refuse_early_reward(environment: Environment) -> None:
    for path in REWARD_FILES:
        if environment.has(path):
            raise RewardTamperedError(f"{path} was there again before the tests started")


def _refuse_returning_reward(environment: Environment) -> None:
    """Something of the agent still runs: see whether it writes the reward."""
    environment.as_root("rm", "-rf", "--", *REWARD_FILES)
    environment.bench.cancel.wait(_COMES_BACK_WITHIN_S)
    for path in REWARD_FILES:
        if environment.has(path):
            raise RewardTamperedError(f"{path} came back after it was read and removed")


def _command(trial: TrialPlan, environment: Environment, output: OutputFile) -> Command:
    verifier = trial.task.verifier
    resolved = template.resolve(verifier.env, passed=environment.bench.passed_env)
    return Command(
        argv=(*(environment.inside.shell or ()), f"{TESTS}/test.sh"),
        env={"BASH_ENV": "", "ENV": "", **resolved.literal, **resolved.secret},
        user=None if verifier.user is None else str(verifier.user),
        workdir=environment.workdir,
        timeout_s=trial.limits.verifier_timeout_s,
        output=output,
    )


def _parsed(folder: Path, ended: Finished, said: str, left_out: list[str], flags: set[str]) -> dict[str, float]:
    try:
        parsed = parse_reward(_bytes(folder / "reward.txt"), _bytes(folder / "reward.json"))
    except RewardProblem as problem:
        notes = [str(problem), f"The tests ended with exit status {ended.exit_code}.", *left_out[:3]]
        if said:
            notes.append(f"Their output ends:\n{said}")
        raise REWARD_ENDINGS[problem.exception_type]("\n".join(notes)) from problem
    flags.update(parsed.flags)
    return dict(parsed.rewards)


def _collect(environment: Environment, folder: Path, flags: set[str]) -> list[str]:
    """Copy the tests' files out; returns in words what could not be."""
    unpacked = environment.copy_out(VERIFIER_LOGS, folder)
    if unpacked is None:
        return []
    left_out = [str(one) for one in unpacked.skipped]
    if unpacked.capped is not None:
        left_out.append(f"{VERIFIER_LOGS} holds {unpacked.capped}, so not all of it was copied out")
        for path in REWARD_FILES:  # which may stand behind what is too large
            target = folder / PurePosixPath(path).name
            if not target.exists():
                environment.copy_out(path, target)
    if left_out:
        flags.add("verifier_files_not_collected")
    return left_out


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
