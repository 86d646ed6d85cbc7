"""A small suite on the scripted engine, and somebody who watches it run."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from hbench.container.engine import Command
from hbench.container.fake import FakeEngine
from hbench.job.outcome import BatchOutcome
from hbench.job.run import Request, run_batch
from hbench.plan.build import build_plan
from hbench.plan.model import Plan, TrialPlan
from hbench.results.record import TrialRecord
from hbench.suite.load import load_suite

SUITE = """
[suite]
name = "small"
attempts = 2
concurrency = 2
[dataset]
path = "tasks"
[network]
mode = "open"
[[harness]]
name = "oracle"
[[harness]]
name = "nop"
"""


@dataclass
class Watcher:
    """A view that remembers."""

    stages: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    ids_started: list[str] = field(default_factory=list)
    on_ended: Callable[[TrialPlan, TrialRecord], None] = lambda *_: None

    def stage(self, text: str) -> None:
        self.stages.append(text)

    def warn(self, text: str) -> None:
        self.warnings.append(text)

    def started(self, trial: TrialPlan) -> None:
        self.ids_started.append(trial.id)

    def kept(self, trial: TrialPlan, record: TrialRecord) -> None:
        pass

    def ended(self, trial: TrialPlan, record: TrialRecord) -> None:
        self.on_ended(trial, record)


@dataclass
class World:
    """A suite file with its tasks, an engine to run it on, and somebody who watches."""

    folder: Path
    engine: FakeEngine
    watcher: Watcher
    cancel: Event

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def plan(self) -> Plan:
        return build_plan(load_suite(self.folder / "suite.toml"), skip_invalid=False)

    def request(self) -> Request:
        return Request(
            plan=self.plan(),
            base=self.folder,
            jobs_dir=self.folder / "jobs",
            skip_invalid=False,
            force_build=False,
            environ={},
        )

    def run(self) -> BatchOutcome:
        return run_batch(self.request(), self.engine, self.watcher, self.cancel)


def small_world(folder: Path) -> World:
    """Two tasks; oracle earns 1 and nop 0."""
    world = World(folder=folder, engine=FakeEngine(), watcher=Watcher(), cancel=Event())
    world.write("suite.toml", SUITE)
    for task in ("alpha", "beta"):
        world.write(f"tasks/{task}/instruction.md", f"Write `{task}` to `/app/out.txt`.\n")
        world.write(f"tasks/{task}/task.toml", 'version = "1.0"\n')
        world.write(f"tasks/{task}/environment/Dockerfile", f"FROM debian:bookworm-slim\n# {task}\n")
        world.write(f"tasks/{task}/solution/solve.sh", f"echo {task} > /app/out.txt\n")
        world.write(f"tasks/{task}/tests/test.sh", "cat /app/out.txt\n")
    world.engine.scripts = {"test.sh": _judges, "run.sh": _solves, "solve.sh": _solves}
    return world


def _solves(files: dict[str, bytes], _: Command) -> int:
    files["/app/out.txt"] = b"done"
    return 0


def _judges(files: dict[str, bytes], _: Command) -> int:
    files["/logs/verifier/reward.txt"] = b"1" if "/app/out.txt" in files else b"0"
    return 0
