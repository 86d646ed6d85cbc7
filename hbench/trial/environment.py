"""Phase 1: the task's container, started, healthy, and without anything that gives the answer away."""

import contextlib
import time
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from hbench.container import archive, ca
from hbench.container.engine import Command, ContainerSpec, Finished, ImageFacts
from hbench.container.errors import GoneError, RefusedError
from hbench.container.tail import Tail
from hbench.errors import TaskError
from hbench.plan.model import TrialPlan
from hbench.task import template
from hbench.task.model import Healthcheck
from hbench.trial.bench import Bench, ImageInside
from hbench.trial.ending import EnvironmentStartError, HealthcheckError

HIDDEN_PATHS = ("/tests", "/solution")
_SHELLS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("/bin/bash", ("/bin/bash", "--noprofile", "--norc")),
    ("/usr/bin/bash", ("/usr/bin/bash", "--noprofile", "--norc")),
    ("/bin/sh", ("/bin/sh",)),
)
_INIT_AND_CHILD = 2
_SAID_BYTES = 4096
_CA_STORE = "/etc/ssl/certs/ca-certificates.crt"


@dataclass(frozen=True, kw_only=True)
class Environment:
    """A running container of a task.

    Attributes:
        workdir: Where commands run.
        env: What every command of the trial gets: the task's own variables and where the CA bundle lies.
        baseline: The processes that were there before the agent, as the engine's host numbers them.
    """

    bench: Bench
    container: str
    inside: ImageInside
    workdir: str
    env: Mapping[str, str]
    baseline: frozenset[int]

    def run(self, command: Command) -> Finished:
        """Run `command` here, with the environment's variables below its own."""
        with_env = replace(command, env={**self.env, **command.env})
        return self.bench.engine.run(self.container, with_env, self.bench.cancel)

    def as_root(self, *argv: str) -> Finished:
        """A housekeeping command of hbench's own."""
        command = Command(argv=argv, user="0", workdir="/", timeout_s=60)
        return self.bench.engine.run(self.container, command, self.bench.cancel)

    def put(self, entries: list[archive.Entry]) -> None:
        """Copy files in, at absolute paths, owned by root."""
        with reading():
            packed = archive.pack(entries)
        with packed:
            self.bench.engine.put(self.container, packed)

    def copy_out(self, source: str, destination: Path, *, exclude: tuple[str, ...] = ()) -> archive.Unpacked | None:
        """What lies at `source` to the host, under caps; None if nothing is there."""
        chunks = self.bench.engine.get(self.container, source)
        if chunks is None:
            return None
        with contextlib.closing(chunks):
            return archive.unpack(chunks, destination, exclude=exclude)

    def has(self, path: str) -> bool:
        return self.bench.engine.exists(self.container, path)

    def new_processes(self) -> frozenset[int]:
        """Processes that were not there when the agent began."""
        return self.bench.engine.processes(self.container) - self.baseline


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Files of a task or harness that somebody changes during the run are an ending of the trial.

    Raises:
        TaskError: They are not as they were, or not there any more.
    """
    try:
        yield
    except OSError as problem:
        raise TaskError(f"a file cannot be read any more: {problem.strerror or 'it is shorter'}") from problem


@contextlib.contextmanager
def started(trial: TrialPlan, image: ImageFacts, bench: Bench) -> Iterator[Environment]:
    """A container of the trial's own, gone (soon) after the block.

    Raises:
        EnvironmentStartError: It could not be created or started, or has no shell.
        HealthcheckError: The task's healthcheck never passed.
    """
    resolved = template.resolve(trial.task.environment.env, passed=bench.passed_env)
    ca_env = ca.container_env(bench.ca)
    container = _create(trial, image, bench, {**ca_env, **resolved.literal})
    try:
        inside = bench.inside.of(image.id, lambda: _look_inside(container, bench))
        if inside.shell is None:
            raise EnvironmentStartError("the image has neither bash nor sh, so no test script can run in it")
        with _start_problems(bench, container):
            with archive.pack(_base_files(bench, inside)) as packed:
                bench.engine.put(container, packed)
            bench.engine.start(container)
            environment = Environment(
                bench=bench,
                container=container,
                inside=inside,
                workdir=trial.task.environment.workdir or image.workdir,
                env=resolved.secret,
                baseline=frozenset(),
            )
            _remove_hidden(environment)
        if trial.task.environment.healthcheck is not None:
            _wait_until_healthy(environment, trial.task.environment.healthcheck)
        with _start_problems(bench, container):
            baseline = _idle_processes(bench, container)
        yield replace(environment, baseline=baseline)
    finally:
        bench.bury(container)


def _remove_hidden(environment: Environment) -> None:
    hidden = environment.inside.hidden
    if hidden:
        environment.as_root("rm", "-rf", "--", *hidden)
    for path in hidden:
        if environment.has(path):
            raise EnvironmentStartError(f"the image has {path}, and it could not be removed")


def _idle_processes(bench: Bench, container: str) -> frozenset[int]:
    """Once the container's first process has its child: the engine says "started" a moment before that."""
    for _ in range(20):
        found = bench.engine.processes(container)
        if len(found) >= _INIT_AND_CHILD:
            break
        bench.cancel.wait(0.01)
    return found


def _create(trial: TrialPlan, image: ImageFacts, bench: Bench, env: Mapping[str, str]) -> str:
    limits = trial.limits
    spec = ContainerSpec(
        image=image.id,
        name=f"hbench-{trial.folder[:40]}-{uuid.uuid4().hex[:12]}",  # an earlier start's may still be on its way out
        labels={**bench.labels, "hbench.trial": trial.id},
        env=env,
        workdir=trial.task.environment.workdir,
        cpus=limits.cpus,
        memory_mb=limits.memory_mb,
        pids=limits.pids,
    )
    try:
        return bench.engine.create(spec)
    except RefusedError as problem:
        raise EnvironmentStartError(f"the container could not be created: {problem}") from problem


@contextlib.contextmanager
def _start_problems(bench: Bench, container: str) -> Iterator[None]:
    """What the engine refuses while the container comes up, as the trial's ending."""
    try:
        yield
    except GoneError as problem:
        why = bench.engine.why_stopped(container) or str(problem)
        raise EnvironmentStartError(f"the container did not stay up: {why}") from problem
    except RefusedError as problem:
        raise EnvironmentStartError(f"the container could not be started: {problem}") from problem


def _look_inside(container: str, bench: Bench) -> ImageInside:
    """Asked of a container that has not run yet, so it is the image that answers."""
    engine = bench.engine
    shell = next((argv for path, argv in _SHELLS if engine.exists(container, path)), None)
    hidden = tuple(path for path in HIDDEN_PATHS if engine.exists(container, path))
    store = None
    if bench.ca is not None:
        own = engine.get(container, _CA_STORE)
        if own is not None:
            with contextlib.closing(own):
                store = ca.merged(archive.only_file(own), bench.ca)
    return ImageInside(shell=shell, hidden=hidden, ca_store=store)


def _base_files(bench: Bench, inside: ImageInside) -> list[archive.Entry]:
    entries = [archive.folder("/logs", mode=0o777), archive.folder("/logs/agent", mode=0o777)]
    entries.append(archive.folder("/logs/artifacts", mode=0o777))
    if bench.ca is not None:
        entries += ca.container_files(bench.ca)
    if inside.ca_store is not None:
        entries.append(archive.file(_CA_STORE, inside.ca_store))
    return entries


def _wait_until_healthy(environment: Environment, check: Healthcheck) -> None:
    began = time.monotonic()
    failures = 0
    while True:
        said = Tail(keep_bytes=_SAID_BYTES)
        command = Command(argv=("/bin/sh", "-c", check.command), timeout_s=check.timeout_s, output=said)
        in_start_period = time.monotonic() - began < check.start_period_s
        try:
            ended = environment.run(command)
        except RefusedError as problem:
            why = environment.bench.engine.why_stopped(environment.container) or str(problem)
            raise HealthcheckError(f"the container did not stay up: {why}") from problem
        if ended.exit_code == 0 and not ended.timed_out:
            return
        failures += 0 if in_start_period else 1
        if failures >= check.retries:
            tail = said.text().strip()[-500:]
            how = "timed out" if ended.timed_out else f"exit status {ended.exit_code}"
            raise HealthcheckError(f"failed {failures} times, last: {how}\n{tail}".rstrip())
        environment.bench.cancel.wait(check.start_interval_s if in_start_period else check.interval_s)
