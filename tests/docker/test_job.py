"""A batch in which everything goes wrong that can: its jobs are sealed, and the seals hold."""

import json
import platform
from collections.abc import Mapping
from threading import Event
from typing import Any

import pytest

from hbench.container.docker_engine import DockerEngine
from hbench.container.owner import BATCH_LABEL
from hbench.job.outcome import BatchOutcome
from hbench.job.run import Request, run_batch
from hbench.plan.build import build_plan
from hbench.results.verify import verify
from hbench.suite.load import load_suite
from tests.docker.lab import GRADES, PASSES, write, write_harness, write_task
from tests.job.world import Watcher

pytestmark = pytest.mark.docker

SUITE = """
[suite]
name = "trouble"
concurrency = 4
[dataset]
path = "tasks"
[network]
mode = "open"
[limits]
agent_timeout_sec = 2
verifier_timeout_sec = 3
memory_mb = 128
pids = 64
[[harness]]
path = "harness"
[[harness]]
name = "nop"
"""

AGENT = """
echo hello > /greeting.txt
echo "$(hostname) works in $PWD"
[ ! -e /agent.sh ] || . /agent.sh
case $(cat $HBENCH_INSTRUCTION) in
*late*) sleep 60 ;;
*exit*) exit 3 ;;
*rewards*) setsid sh -c 'while :; do echo 1 > /logs/verifier/reward.txt; sleep 0.05; done' > /dev/null 2>&1 & ;;
*leaves*)
    cd /logs/artifacts
    ln -s /etc/passwd link; mkfifo pipe; mknod device c 1 3
    touch "$(printf 'new\\nline')" "$(printf '\\377')" 'a:b?*' .hidden CON 'ends in a dot.'
    touch "$(printf 'x%.0s' $(seq 250))"
    mkdir -p deep/$(seq -s / 60); echo 1 > A; echo 2 > a ;;
*dies*) kill -TERM 1; sleep 5 ;;
esac
"""

TASKS: Mapping[str, Mapping[str, Any]] = {
    "fine": {"tests": GRADES},
    "größe 日本.v1.2": {"tests": GRADES},
    "late": {"tests": GRADES},
    "exit": {"tests": GRADES},
    "rewards": {"tests": "sleep 0.5; exit 1"},
    "leaves": {"tests": f"ln -s /etc/shadow /logs/verifier/leak; {PASSES}"},
    "dies": {},
    "hangs": {"tests": f"{PASSES}sleep 60"},
    "a link": {"tests": "echo 1 > /x; ln -s /x /logs/verifier/reward.txt"},
    "a terabyte": {"tests": "truncate -s 1T /logs/verifier/reward.txt"},
    "many keys": {"tests": """echo '{"a": 0.25, "b": 0.75}' > /logs/verifier/reward.json"""},
    "nobody": {"config": "[agent]\nuser = 'nosuchuser'\n"},
    "sick": {"config": "[environment.healthcheck]\ncommand = 'false'\nretries = 1\n"},
    "tells": {"tests": "echo HOST; echo HERE; exit 1"},
    "unbuildable": {"files": {"task.toml": "", "environment/Dockerfile": "FROM debian:bookworm-slim\nRUN false\n"}},
}
ENDINGS = {
    "fine": (None, 1.0),
    "größe 日本.v1.2": (None, 1.0),
    "late": ("AgentTimeoutError", 1.0),
    "exit": ("NonZeroAgentExitCodeError", 1.0),
    "rewards": ("RewardTamperedError", None),
    "leaves": (None, 1.0),
    "dies": ("EngineError", None),
    "hangs": ("VerifierTimeoutError", None),
    "a link": ("RewardFileNotFoundError", None),
    "a terabyte": ("RewardFileNotFoundError", None),
    "many keys": (None, 0.5),
    "nobody": ("AgentSetupError", None),
    "sick": ("HealthcheckError", None),
    "tells": ("RewardFileNotFoundError", None),
    "unbuildable": ("EnvironmentBuildError", None),
}


@pytest.fixture(scope="module")
def outcome(engine: DockerEngine, tmp_path_factory: pytest.TempPathFactory) -> BatchOutcome:
    """Fifteen tasks, on a harness that does what each asks for, and on one that does nothing."""
    folder = tmp_path_factory.mktemp("a batch")
    for name, fields in TASKS.items():
        tests = fields.get("tests", PASSES).replace("HOST", platform.node()).replace("HERE", str(folder / "jobs"))
        files = {"instruction.md": f"{name}\n", **fields.get("files", {})}
        write_task(folder / "tasks" / name, **{**fields, "tests": tests, "files": files})
    write_harness(folder / "harness", agent=AGENT, config="stop_grace_s = 0.3\n")
    write(folder, {"suite.toml": SUITE})
    request = Request(
        plan=build_plan(load_suite(folder / "suite.toml"), skip_invalid=False),
        base=folder,
        jobs_dir=folder / "jobs",
        skip_invalid=False,
        force_build=False,
        environ={},
    )
    return run_batch(request, engine, Watcher(), Event())


def test_every_trial_has_the_ending_that_is_its_own(outcome: BatchOutcome) -> None:
    """None of them is the others' trouble."""
    [job] = [job for job in outcome.jobs if job.plan.arm.label != "nop"]
    assert {one.task_name: (one.exception_type, one.reward) for one in job.records} == ENDINGS
    assert outcome.exit_code == 1


def test_every_job_is_sealed_and_its_seal_holds(outcome: BatchOutcome) -> None:
    """Totals and means follow from the trials."""
    assert [job.not_sealed for job in outcome.jobs] == [None, None]
    assert [verify(job.path) for job in outcome.jobs] == [[], []]
    [job] = [job for job in outcome.jobs if job.plan.arm.label != "nop"]
    result = json.loads((job.path / "result.json").read_text())
    rewards = [reward or 0.0 for _, reward in ENDINGS.values()]
    assert result["mean"] == pytest.approx(sum(rewards) / len(rewards))


def test_no_file_that_hbench_wrote_names_a_folder_of_this_machine(outcome: BatchOutcome) -> None:
    """Although the tests printed it, and a message quotes them."""
    for job in outcome.jobs:
        for path in [*job.path.glob("*/result.json"), *job.path.glob("*/trial.log")]:
            assert str(outcome.path.parent) not in path.read_text(), path
    [told] = outcome.path.glob("scripted*/tells__1/verifier/test-stdout.txt")
    assert str(outcome.path.parent) in told.read_text()


def test_nothing_in_a_job_but_files_and_folders(outcome: BatchOutcome) -> None:
    """Whatever an agent left; odd names stay behind."""
    for path in outcome.path.rglob("*"):
        assert path.is_dir() or (path.is_file() and not path.is_symlink()), path
        assert path.name.isprintable(), path


def test_no_container_is_left(outcome: BatchOutcome, engine: DockerEngine) -> None:
    """Of any ending."""
    batch = json.loads((outcome.path / "batch.json").read_text())["batch_id"]
    assert engine.labelled(f"{BATCH_LABEL}={batch}") == {}
