"""A task as the later stages see it, whatever format its folder has."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

User = str | int


@dataclass(frozen=True, kw_only=True)
class Healthcheck:
    """Run in the container after it started; exit status 0 means ready. Semantics of Docker's HEALTHCHECK."""

    command: str
    interval_s: float = 5.0
    timeout_s: float = 30.0
    start_period_s: float = 0.0
    start_interval_s: float = 5.0
    retries: int = 3


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """Something in the container to keep: `source` is absolute, `destination` relative to the trial's artifacts/."""

    source: str
    destination: str | None = None
    exclude: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Environment:
    """What the task's container is made from and what it may use; None leaves it to the suite's limits."""

    docker_image: str | None
    dockerfile: Path | None
    build_timeout_s: float
    cpus: float | None
    memory_mb: int | None
    storage_mb: int | None
    workdir: str | None
    env: Mapping[str, str]
    healthcheck: Healthcheck | None
    network_mode: Literal["public", "no-network", "allowlist"]
    allowed_hosts: tuple[str, ...]

    @property
    def context(self) -> Path | None:
        """The build context: the folder that the Dockerfile lies in."""
        return None if self.dockerfile is None else self.dockerfile.parent


@dataclass(frozen=True, kw_only=True)
class Phase:
    """The agent's or the verifier's turn: its limit in seconds, its user and its environment (templates unresolved)."""

    timeout_s: float
    user: User | None = None
    env: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Digests:
    """Three names for the same content, hex without prefix.

    Attributes:
        hbench: Over every byte and mode of every file of the folder.
        harbor: Harbor's package digest (`hbench.task.digest`).
        dirhash: The `dirhash` sha256 of the folder, Harbor's `task_checksum`.
    """

    hbench: str
    harbor: str
    dirhash: str


@dataclass(frozen=True, kw_only=True)
class Task:
    """One problem, read and checked.

    Attributes:
        name: `[task] name` where the file gives one, else the folder's name.
        tests: The host folder copied to /tests after the agent stopped.
        solution: The host folder copied to /solution for harnesses that may see it; None if the task ships none.
        baselines: The task's own lazy baselines, `baselines/*.sh`.
        warnings: What a person should know, such as unknown keys; each names file and line.
    """

    name: str
    folder: Path
    instruction: str
    environment: Environment
    agent: Phase
    verifier: Phase
    solution_env: Mapping[str, str]
    artifacts: tuple[Artifact, ...]
    metadata: Mapping[str, Any]
    tests: Path
    solution: Path | None
    baselines: tuple[Path, ...]
    digests: Digests
    warnings: tuple[str, ...]

    def variables(self, *, sees_solution: bool) -> tuple[Mapping[str, str], ...]:
        """The environments of a trial's phases, templates unresolved; the solution's if the harness may see it."""
        solution = (self.solution_env,) if sees_solution else ()
        return (self.environment.env, self.agent.env, self.verifier.env, *solution)
