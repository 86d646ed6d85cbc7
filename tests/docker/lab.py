"""Small tasks and harnesses, and one trial of them on the real engine."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

from hbench.adapter import find
from hbench.adapter.model import Configuration
from hbench.container import owner
from hbench.container.docker_engine import DockerEngine
from hbench.container.engine import ImageFacts
from hbench.job.undertaker import Undertaker
from hbench.plan.model import Arm, Limits, TrialPlan
from hbench.results.record import TrialRecord
from hbench.task.load import load_task
from hbench.trial.bench import Bench, Prepared
from hbench.trial.run import run_trial

BASE = "debian:bookworm-slim"
PASSES = "echo 1 > /logs/verifier/reward.txt\n"
GRADES = "if grep -q hello /greeting.txt; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n"
"""Passes what has written `hello` to /greeting.txt."""

Texts = Mapping[str, str | bytes]


def write(folder: Path, files: Texts) -> Path:
    """Files in a folder that is made."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return folder


def write_task(folder: Path, *, tests: str | bytes = PASSES, config: str = "", files: Texts | None = None) -> Path:
    """A Harbor task on the base image; `config` are further lines of task.toml, first those of [environment]."""
    return write(
        folder,
        {
            "instruction.md": "Write `hello` to `/greeting.txt`.\n",
            "task.toml": f'version = "1.0"\n[environment]\ndocker_image = "{BASE}"\n{config}',
            "tests/test.sh": tests,
            **(files or {}),
        },
    )


def write_harness(folder: Path, *, agent: str | bytes, config: str = "", files: Texts | None = None) -> Path:
    """A harness that is a shell script; `config` are further lines of adapter.toml."""
    command = "" if "command =" in config else 'command = ["sh", "/hbench/harness/run.sh"]\n'
    about = f'format = 1\nname = "scripted"\nversion = "1"\n{command}{config}'
    return write(folder, {"adapter.toml": about, "run.sh": agent, **(files or {})})


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A trial that ran: its record and its folder."""

    record: TrialRecord
    folder: Path

    @property
    def ending(self) -> tuple[str | None, float | None]:
        """exception_type and reward."""
        return self.record.exception_type, self.record.reward

    @property
    def flags(self) -> set[str]:
        return set(self.record.flags)

    @property
    def message(self) -> str:
        return "" if self.record.exception_info is None else self.record.exception_info.exception_message

    def text(self, name: str) -> str:
        """A file of the trial's folder."""
        return (self.folder / name).read_text()

    def file(self, name: str) -> Path:
        return self.folder / name


@dataclass(kw_only=True)
class Lab:
    """Runs trials of tasks that it writes into a folder; each call of `run` is one trial in a container of its own."""

    engine: DockerEngine
    bury: Undertaker
    folder: Path
    batch_id: str
    base: ImageFacts
    _number: Any = field(default_factory=itertools.count)

    def run(
        self,
        agent: str | bytes = "",
        *,
        tests: str | bytes = PASSES,
        config: str = "",
        files: Texts | None = None,
        adapter: str = "",
        harness_files: Texts | None = None,
        image: Prepared | None = None,
        limit_s: float = 20,
        tests_limit_s: float = 20,
        setup_limit_s: float = 60,
        memory_mb: int = 256,
        pids: int = 64,
        passed_env: Mapping[str, str] | None = None,
        cancel: Event | None = None,
        meanwhile: Callable[[str], None] | None = None,
    ) -> Ran:
        """One trial.

        Args:
            agent: The harness, a shell script.
            tests: tests/test.sh.
            config: Further lines of task.toml, first those of [environment].
            adapter: Further lines of adapter.toml.
            meanwhile: Called with the container while the agent works, in a thread of its own.
        """
        home = self.folder / f"trial-{next(self._number)}"
        task = load_task(
            write_task(home / "task", tests=tests, config=config, files=files),
        )
        harness = find.load(write_harness(home / "harness", agent=agent, config=adapter, files=harness_files))
        limits = Limits(
            agent_timeout_s=limit_s,
            verifier_timeout_s=tests_limit_s,
            build_timeout_s=60,
            setup_timeout_s=setup_limit_s,
            cpus=1,
            memory_mb=memory_mb,
            pids=pids,
        )
        arm = Arm(
            label=harness.name,
            folder=home.name,
            digest="0" * 64,
            configuration=Configuration(adapter=harness),
            model=None,
        )
        trial = TrialPlan(id=f"{home.name}/x/1", folder=home.name, arm=arm, task=task, attempt=1, limits=limits)
        out = home / "out"
        out.mkdir()
        bench = Bench(
            engine=self.engine,
            batch_id=self.batch_id,
            ca=None,
            passed_env=passed_env or {},
            cancel=cancel or Event(),
            bury=self.bury,
            labels=owner.labels(self.batch_id),
        )
        prepared = image or Prepared(image=self.base, source="local")
        watcher = threading.Thread(target=lambda: meanwhile and meanwhile(self._working(trial.id)))
        record = run_trial(trial, prepared, bench, out, on_begun=watcher.start)
        if watcher.ident is not None:
            watcher.join()
        return Ran(record=record, folder=out)

    def _working(self, trial_id: str) -> str:
        """The trial's container, once the agent's own process is there."""
        (container,) = self.engine.labelled(f"hbench.trial={trial_id}")
        for _ in range(100):
            if len(self.engine.processes(container)) > 2:
                break
            time.sleep(0.05)
        time.sleep(0.3)
        return container


def together(lab: Lab, trials: Mapping[str, Mapping[str, Any]], *, at_once: int = 4) -> Iterator[Callable[[str], Ran]]:
    """For a module's fixture: all its trials at once, each of which is there when it is asked for by its name."""
    with ThreadPoolExecutor(at_once) as pool:
        futures = {name: pool.submit(lab.run, **fields) for name, fields in trials.items()}
        yield lambda name: futures[name].result()
