"""Every row of docs/endings.md on real containers."""

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import docker
import pytest

from hbench.container.docker_engine import DockerEngine
from hbench.container.engine import ImageFacts
from hbench.job.images import ImageMaker
from hbench.results.buckets import bucket, never_got_to_the_agent
from hbench.task.load import load_task
from hbench.trial.bench import Prepared
from tests.docker.lab import GRADES, PASSES, Lab, Ran, together, write_task
from tests.job.world import Watcher

pytestmark = pytest.mark.docker

SOLVES = "echo hello > /greeting.txt\n"
WRITES_EARLY = "setsid sh -c 'while :; do echo 1 > /logs/verifier/reward.txt; done' > /dev/null 2>&1 &"
WRITES_LATE = WRITES_EARLY.replace("while", "until [ -e /begun ]; do sleep 0.1; done; while").replace(
    "; done'", "; sleep 0.1; done'"
)

TRIALS: Mapping[str, Mapping[str, Any]] = {
    "passes": {"agent": SOLVES, "tests": GRADES},
    "late": {"agent": f"{SOLVES}sleep 60", "tests": GRADES, "limit_s": 2},
    "late for nothing": {"agent": "sleep 60", "tests": GRADES, "limit_s": 1},
    "fails but solves": {"agent": f"{SOLVES}echo 'no key' >&2; exit 7", "tests": GRADES},
    "fails": {"agent": "exit 7", "tests": GRADES},
    "kills itself": {"agent": f"{SOLVES}kill -9 $$", "tests": GRADES},
    "has no program": {"agent": "", "tests": GRADES, "adapter": 'command = ["nosuchharness", "run"]\n'},
    "runs out of memory": {
        "agent": f"{SOLVES}perl -e '$x .= \"x\" x 1e7 while 1'",
        "tests": GRADES,
        "memory_mb": 48,
    },
    "takes the container with it": {"agent": f"{SOLVES}kill -TERM 1; sleep 60", "tests": GRADES},
    "removes where it worked": {
        "agent": "cd /; rm -rf /app",
        "tests": 'echo "0.$(pwd | tr -cd a | wc -c)" > /logs/verifier/reward.txt',
        "config": "workdir = '/app'\n",
    },
    "is nobody": {"config": "[agent]\nuser = 'nosuchuser'\n"},
    "lacks a variable": {"config": "[agent]\nenv = { KEY = '${NO_SUCH_VARIABLE}' }\n"},
    "tests hang": {"tests": f"{PASSES}echo waiting; sleep 60", "tests_limit_s": 1.5},
    "tests hang after a timeout": {"agent": "sleep 60", "tests": "sleep 60", "limit_s": 1, "tests_limit_s": 1.5},
    "tests are killed": {"tests": "echo begun; kill -9 $$"},
    "tests crash": {"tests": f"set -e\necho begun; ls /nowhere\n{PASSES}"},
    "tests lack a tool": {"tests": "uvx pytest /tests && echo 1 > /logs/verifier/reward.txt"},
    "tests write nothing": {"tests": "echo all good"},
    "tests write a blank": {"tests": ": > /logs/verifier/reward.txt"},
    "tests write a word": {"tests": "echo passed > /logs/verifier/reward.txt"},
    "tests leave a process": {"tests": f"{PASSES}sleep 60 &"},
    "tests are nobody": {"config": "[verifier]\nuser = 'nosuchuser'\n"},
    "wrote the reward": {"agent": "mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt", "tests": "true"},
    "writes it again and again": {"agent": WRITES_EARLY, "tests": "sleep 1; exit 1"},
    "writes it now and then": {"agent": WRITES_LATE, "tests": f"touch /begun; sleep 1; {PASSES}"},
    "cannot be cleaned up after": {
        "agent": "mkdir -p /tests; echo cheat > /tests/helper.sh; cp /bin/true /bin/rm",
        "tests": f". /tests/helper.sh; {PASSES}",
    },
    "is slow to set up": {"setup_limit_s": 0.0001},
    "does not get healthy": {
        "config": "[environment.healthcheck]\ncommand = 'echo not yet; exit 3'\ninterval_sec = 0.1\nretries = 2\n"
    },
    "hangs in its healthcheck": {
        "config": "[environment.healthcheck]\ncommand = 'sleep 60'\ntimeout_sec = 1.0\nretries = 1\n"
    },
    "gets healthy in time": {
        "config": "[environment.healthcheck]\ncommand = 'echo >> /tries; [ $(wc -l < /tries) -ge 3 ]'\n"
        "interval_sec = 0.1\nretries = 3\n"
    },
    "gets healthy while starting": {
        "config": "[environment.healthcheck]\ncommand = 'echo >> /tries; [ $(wc -l < /tries) -ge 4 ]'\n"
        "start_period_sec = 30.0\nstart_interval_sec = 0.1\nretries = 1\n"
    },
    "asks for too much": {"memory_mb": 1},
}


@pytest.fixture(scope="module")
def trial(lab: Lab) -> Iterator[Callable[[str], Ran]]:
    """Each of them, run once."""
    common = {"adapter": "stop_grace_s = 0.3\n"}
    yield from together(lab, {name: {**common, **fields} for name, fields in TRIALS.items()})


# With a reward


@pytest.mark.parametrize(
    ("name", "ending", "expected"),
    [
        ("passes", (None, 1.0), "passed"),
        ("late", ("AgentTimeoutError", 1.0), "timed out, passed"),
        ("late for nothing", ("AgentTimeoutError", 0.0), "timed out, failed"),
        ("fails but solves", ("NonZeroAgentExitCodeError", 1.0), "passed"),
        ("fails", ("NonZeroAgentExitCodeError", 0.0), "failed"),
        ("kills itself", ("NonZeroAgentExitCodeError", 1.0), "passed"),
        ("has no program", ("NonZeroAgentExitCodeError", 0.0), "failed"),
        ("runs out of memory", ("NonZeroAgentExitCodeError", 1.0), "passed"),
        ("removes where it worked", (None, 0.1), "failed"),  # the folder is made again, empty
        ("tests leave a process", (None, 1.0), "passed"),
        ("gets healthy in time", (None, 1.0), "passed"),
        ("gets healthy while starting", (None, 1.0), "passed"),
    ],
)
def test_however_the_agent_ends_the_tests_judge_what_it_left(
    trial: Callable[[str], Ran], name: str, ending: tuple[str | None, float], expected: str
) -> None:
    """And no such trial may run again."""
    ran = trial(name)
    assert ran.ending == ending, ran.message
    assert bucket(ran.record.reward, ran.record.exception_type) == expected
    assert ran.record.agent_begun
    assert not never_got_to_the_agent(ran.record.exception_type, agent_begun=ran.record.agent_begun)


def test_an_agent_that_fails_says_how_and_what_it_said_last(trial: Callable[[str], Ran]) -> None:
    """In the message; the exit status stands in the result too."""
    ran = trial("fails but solves")
    assert ran.message == "exit status 7\nno key"
    assert ran.record.agent_result is not None
    assert ran.record.agent_result.exit_code == 7
    assert "nosuchharness" in trial("has no program").message
    assert "exit status 137" in trial("kills itself").message


# Without one


@pytest.mark.parametrize(
    ("name", "ending", "said"),
    [
        ("tests hang", "VerifierTimeoutError", "limit of 1.5 s\nwaiting"),
        ("tests hang after a timeout", "VerifierTimeoutError", "limit of 1.5 s"),
        ("tests are killed", "RewardFileNotFoundError", "exit status 137"),
        ("tests crash", "RewardFileNotFoundError", "/nowhere"),
        ("tests lack a tool", "RewardFileNotFoundError", "uvx: command not found"),
        ("tests write nothing", "RewardFileNotFoundError", "all good"),
        ("tests write a blank", "RewardFileEmptyError", "reward.txt is empty"),
        ("tests write a word", "VerifierOutputParseError", "'passed"),
        ("wrote the reward", "RewardFileNotFoundError", "neither"),
        ("writes it again and again", "RewardTamperedError", "/logs/verifier/reward.txt"),
        ("writes it now and then", "RewardTamperedError", "came back"),
        ("cannot be cleaned up after", "RewardTamperedError", "/tests"),
    ],
)
def test_a_verifier_that_does_not_judge_is_broken_and_the_message_says_how(
    trial: Callable[[str], Ran], name: str, ending: str, said: str
) -> None:
    """Never the same as an agent that failed, and never run again."""
    ran = trial(name)
    assert ran.ending == (ending, None)
    assert said in ran.message
    assert bucket(None, ending) == "verifier broken"
    assert not never_got_to_the_agent(ending, agent_begun=ran.record.agent_begun)


@pytest.mark.parametrize(
    ("name", "ending", "said"),
    [
        ("is nobody", "AgentSetupError", "nosuchuser"),
        ("lacks a variable", "AgentSetupError", "NO_SUCH_VARIABLE"),
        ("is slow to set up", "AgentSetupTimeoutError", "its limit is 0.0001 s"),
        ("does not get healthy", "HealthcheckError", "failed 2 times, last: exit status 3\nnot yet"),
        ("hangs in its healthcheck", "HealthcheckError", "timed out"),
        ("asks for too much", "EnvironmentStartError", "memory"),
    ],
)
def test_a_trial_that_never_got_to_its_agent_never_got_to_the_agent(
    trial: Callable[[str], Ran], name: str, ending: str, said: str
) -> None:
    """It says nothing about the agent."""
    ran = trial(name)
    assert ran.ending == (ending, None)
    assert said in ran.message
    assert bucket(None, ending) == f"infra: {ending}"
    assert not ran.record.agent_begun
    assert never_got_to_the_agent(ending, agent_begun=ran.record.agent_begun)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("takes the container with it", "the container stopped with exit status 143"),
        ("tests are nobody", "nosuchuser"),
    ],
)
def test_a_container_that_is_lost_after_the_agent_had_begun_may_not_run_again(
    trial: Callable[[str], Ran], name: str, said: str
) -> None:
    """An agent could end its container at will, to get another try."""
    ran = trial(name)
    assert ran.ending == ("EngineError", None)
    assert said in ran.message
    assert ran.record.agent_begun
    assert not never_got_to_the_agent("EngineError", agent_begun=ran.record.agent_begun)


def test_what_the_exception_has_no_room_for_is_a_flag(trial: Callable[[str], Ran]) -> None:
    """The agent's own ending, beside what denied the reward."""
    assert "agent_timed_out" in trial("tests hang after a timeout").flags
    assert "agent_exit_nonzero" in trial("takes the container with it").flags
    assert "reward_before_tests" in trial("wrote the reward").flags
    assert "processes_left" in trial("tests leave a process").flags


def test_every_ending_stands_in_the_trials_log(trial: Callable[[str], Ran]) -> None:
    """With the phases it got through, for people."""
    for name in TRIALS:
        ran = trial(name)
        log = ran.text("trial.log")
        assert str(ran.record.exception_type) in log or ran.record.exception_type is None
        assert f"ended, reward {ran.record.reward}" in log


# Images that cannot be run in


def test_an_image_without_a_shell_cannot_be_graded_in(
    lab: Lab, engine: DockerEngine, docker_api: docker.APIClient
) -> None:
    """It is not even started."""
    from tests.docker.conftest import tar

    tag = "hbench-test-no-shell"
    docker_api.import_image_from_data(tar({"bin/true": "nothing"}).read(), repository=tag, tag="1")
    try:
        ran = lab.run(image=Prepared(image=engine.image(f"{tag}:1"), source="local"))
    finally:
        docker_api.remove_image(f"{tag}:1", force=True)
    assert ran.ending == ("EnvironmentStartError", None)
    assert "neither bash nor sh" in ran.message


@pytest.mark.parametrize(
    ("dockerfile", "said"),
    [
        ('FROM debian:bookworm-slim\nENTRYPOINT ["sh", "-c", "echo no config; exit 9"]\n', "exit status 9\nno config"),
        ('FROM debian:bookworm-slim\nENTRYPOINT ["/no/such/entrypoint"]\n', "/no/such/entrypoint"),
        ("FROM debian:bookworm-slim\nUSER nosuchuser\n", "nosuchuser"),
    ],
)
def test_an_image_whose_container_does_not_stay_up_is_an_environment_error(
    lab: Lab, image: Callable[..., ImageFacts], dockerfile: str, said: str
) -> None:
    """With what ended it."""
    ran = lab.run(image=Prepared(image=image(dockerfile), source="build"))
    assert ran.ending == ("EnvironmentStartError", None)
    engines_own_race = "ttrpc: closed"  # containerd may lose a container that ends at once before it can say why
    assert said in ran.message or engines_own_race in ran.message
    assert not ran.record.agent_begun


def test_a_container_that_runs_out_of_memory_says_so(lab: Lab, image: Callable[..., ImageFacts]) -> None:
    """Its first process was the one that the kernel ended, and all others went with it."""
    hog = "sleep 2; exec perl -e '$x .= q(x) x 1e7 while 1'"
    made = image(f'FROM debian:bookworm-slim\nENTRYPOINT ["sh", "-c", "{hog}"]\n')
    ran = lab.run(agent="sleep 30", memory_mb=48, image=Prepared(image=made, source="build"))
    assert ran.ending == ("EngineError", None)
    assert "the container ran out of memory" in ran.message


def test_an_image_that_cannot_be_built_is_a_build_error(lab: Lab, engine: DockerEngine, tmp_path: Path) -> None:
    """With the end of what the builder said, and nothing of the host's folders."""
    folder = write_task(
        tmp_path / "task",
        files={
            "task.toml": 'version = "1.0"\n',
            "environment/Dockerfile": "FROM debian:bookworm-slim\nRUN echo compiling; exit 42\n",
        },
    )
    task = load_task(folder)
    maker = ImageMaker(
        engine=engine, ca=None, fallback=False, force_build=False, logs=tmp_path / "builds", cancel=Event()
    )
    prepared = maker.prepare([task], {task.name: 60.0}, Watcher())[task.name]
    ran = lab.run(image=prepared)
    assert ran.ending == ("EnvironmentBuildError", None)
    assert "compiling" in ran.message
    assert "42" in ran.message
    assert str(tmp_path) not in ran.message
    assert not ran.record.agent_begun
    assert ran.record.environment_setup is None


# From outside


def test_a_container_that_somebody_removes_ends_its_trial_as_an_engine_error(
    lab: Lab, docker_api: docker.APIClient
) -> None:
    """The trial does not wait for its limit."""
    began = time.monotonic()
    ran = lab.run(
        agent="echo working; sleep 50",
        limit_s=60,
        meanwhile=lambda container: docker_api.remove_container(container, force=True),
    )
    assert ran.ending == ("EngineError", None)
    assert "the container" in ran.message
    assert time.monotonic() - began < 15
    assert ran.text("agent/stdout.txt") == "working\n"


def test_a_trial_that_is_cancelled_ends_at_once_and_is_recorded(lab: Lab) -> None:
    """Its container goes; what the agent had printed stays."""
    cancel = Event()
    began = time.monotonic()
    ran = lab.run(agent="echo working; sleep 50", cancel=cancel, meanwhile=lambda _: cancel.set())
    assert ran.ending == ("CancelledError", None)
    assert bucket(None, "CancelledError") == "not run"
    assert ran.record.agent_begun
    assert time.monotonic() - began < 15
    assert ran.text("agent/stdout.txt") == "working\n"
