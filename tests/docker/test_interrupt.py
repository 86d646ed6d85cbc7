"""`hbench run` stopped by a person, by a closing terminal, by a kill; and what goes on from there."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import docker
import pytest

from hbench.container.owner import BATCH_LABEL
from hbench.results.verify import verify
from tests.docker.lab import GRADES, write, write_harness, write_task

pytestmark = pytest.mark.docker

SUITE = """
[suite]
name = "stopped"
attempts = 2
concurrency = 4
[dataset]
path = "tasks"
[network]
mode = "open"
[[harness]]
path = "slow"
[env]
pass = ["WAIT"]
"""
MAIN = "from hbench.cli.app import main; main()"
ROOT = Path(__file__).parent.parent.parent


@dataclass
class Terminal:
    """Runs hbench as a person does, with a cache folder of its own, so that nobody else's batches are touched.

    Attributes:
        docker: To see what is on the engine.
        running: Every process that was started.
    """

    folder: Path
    docker: docker.APIClient
    running: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self, *arguments: str, wait_s: int = 60) -> subprocess.Popen[str]:
        """hbench; the tasks take `wait_s` seconds, without which they end at once."""
        told = {"XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPATH": str(ROOT), "WAIT": str(wait_s)}
        self.running.append(
            subprocess.Popen(
                [sys.executable, "-c", MAIN, *arguments],
                cwd=self.folder,
                env={**os.environ, **told},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        )
        return self.running[-1]

    def run(self, *arguments: str) -> tuple[int, str]:
        """The exit code, and all that was printed."""
        process = self.start(*arguments, wait_s=0)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said

    def start_four(self) -> subprocess.Popen[str]:
        """`hbench run` with four agents at work."""
        process = self.start("run", "suite.toml")
        for _ in range(300):
            if process.poll() is not None:
                pytest.fail(f"ended early: {process.communicate()[0]}")
            if sum(len(self.docker.top(one)["Processes"]) > 2 for one in self.containers(status="running")) == 4:
                return process
            time.sleep(0.1)
        pytest.fail("four trials never ran at once")

    @property
    def batch(self) -> Path:
        """The one whose suite it is."""
        (batch,) = (self.folder / "jobs").glob("stopped-*")
        return batch

    @property
    def job(self) -> Path:
        (lock,) = self.batch.glob("*/lock.json")
        return lock.parent

    def containers(self, **filters: str) -> list[str]:
        """Those of the batch."""
        batch_id = json.loads((self.batch / "batch.json").read_text())["batch_id"] if self.batches() else "none"
        found = self.docker.containers(all=True, filters={"label": f"{BATCH_LABEL}={batch_id}", **filters})
        return [one["Id"] for one in found]

    def batches(self) -> list[Path]:
        return list((self.folder / "jobs").glob("stopped-*/batch.json"))

    def endings(self) -> dict[str, str | None]:
        """Trial folder -> how it ended."""
        results = {path.parent.name: json.loads(path.read_text()) for path in self.job.glob("*__?/result.json")}
        return {name: (one["exception_info"] or {}).get("exception_type") for name, one in results.items()}


@pytest.fixture
def terminal(tmp_path: Path, docker_api: docker.APIClient) -> Iterator[Terminal]:
    """Three tasks, two attempts each."""
    for name in ("alpha", "beta", "gamma"):
        waits = "[agent]\nenv = { WAIT = '${WAIT:-0}' }\n"
        write_task(tmp_path / "tasks" / name, tests=GRADES, config=waits, files={"instruction.md": f"Be {name}.\n"})
    write_harness(tmp_path / "slow", agent="echo hello > /greeting.txt; echo begun; sleep $WAIT\n")
    write(tmp_path, {"suite.toml": SUITE})
    terminal = Terminal(tmp_path, docker_api)
    yield terminal
    for process in terminal.running:
        process.kill()
        process.communicate()
    for one in terminal.containers():
        docker_api.remove_container(one, force=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stopped_run_records_its_trials_and_is_gone_in_three_seconds(
    terminal: Terminal, number: signal.Signals
) -> None:
    """Ctrl-C, a terminated process and a closed terminal are the same to it."""
    process = terminal.start_four()
    began = time.monotonic()
    process.send_signal(number)
    said, _ = process.communicate(timeout=30)
    took_s = time.monotonic() - began
    assert process.returncode == 130
    assert terminal.containers() == []
    assert "stopping: running trials are recorded as cancelled" in said
    assert f"hbench run --resume jobs/{terminal.batch.name}" in said
    assert list(terminal.endings().values()) == ["CancelledError"] * 4
    assert json.loads((terminal.batch / "batch.json").read_text())["state"] == "cancelled"
    assert not (terminal.job / "manifest.json").exists()
    assert all(path.read_text() == "begun\n" for path in terminal.job.glob("*/agent/stdout.txt"))
    assert took_s < 3


def test_a_stopped_run_can_be_resumed_to_its_seal(terminal: Terminal) -> None:
    """Every start is counted, and what the first one left is kept."""
    process = terminal.start_four()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    code, said = terminal.run("run", "--resume", str(terminal.batch))
    assert code == 0, said
    assert verify(terminal.job) == []
    assert list(terminal.endings().values()) == [None] * 6
    result = json.loads((terminal.job / "result.json").read_text())
    assert result["starts_total"] == 10
    assert len(list(terminal.job.glob("*/attempts/1/result.json"))) == 4


def test_a_second_signal_leaves_at_once_and_clean_removes_the_rest(terminal: Terminal) -> None:
    """For who cannot wait even three seconds."""
    process = terminal.start_four()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 1
    assert "left at once: `hbench clean` removes the containers that are still there" in said
    left = len(terminal.containers())
    code, said = terminal.run("clean", "--json")
    assert code == 0
    assert json.loads(said)["removed_containers"] <= left  # some were on their way out already
    assert terminal.containers() == []


def test_what_a_killed_run_left_is_swept_by_the_next_and_the_batch_can_be_resumed(terminal: Terminal) -> None:
    """Nothing was told to go; its containers still run."""
    process = terminal.start_four()
    process.kill()
    process.communicate(timeout=30)
    assert len(terminal.containers(status="running")) == 4
    code, said = terminal.run("run", "-p", "tasks/alpha", "-a", "nop", "--network", "open")
    assert code == 0, said
    assert "removed 4 containers that an earlier run had left" in said
    assert terminal.containers() == []
    code, said = terminal.run("run", "--resume", str(terminal.batch))
    assert code == 0, said
    assert verify(terminal.job) == []
    assert json.loads((terminal.job / "result.json").read_text())["starts_total"] == 10


def test_a_running_batch_is_touched_by_nobody_else(terminal: Terminal) -> None:
    """Neither by `hbench clean`, nor by another run, nor by a resume of the same batch."""
    process = terminal.start_four()
    before = set(terminal.containers())
    assert terminal.run("clean") == (0, "removed 0 containers\n")
    code, said = terminal.run("run", "-p", "tasks/alpha", "-a", "nop", "--network", "open")
    assert (code, "removed" in said) == (0, False), said
    code, said = terminal.run("run", "--resume", str(terminal.batch))
    assert code == 8
    assert "another hbench is running this batch" in said
    assert set(terminal.containers(status="running")) == before
    assert process.poll() is None


def test_a_run_that_is_stopped_while_it_builds_ends_as_stopped(terminal: Terminal) -> None:
    """There is nothing to record yet."""
    folder = terminal.folder / "tasks" / "alpha"
    write(folder, {"task.toml": "", "environment/Dockerfile": "FROM debian:bookworm-slim\nRUN sleep 31.7\n"})
    process = terminal.start("run", "suite.toml")
    for _ in range(200):
        if any("sleep 31.7" in one["Command"] for one in terminal.docker.containers()):
            break
        time.sleep(0.1)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 3
    for _ in range(50):
        if not any("sleep 31.7" in one["Command"] for one in terminal.docker.containers()):
            break
        time.sleep(0.1)
    assert not any("sleep 31.7" in one["Command"] for one in terminal.docker.containers(all=True))
