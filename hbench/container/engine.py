"""The door to Docker, as the rest of hbench sees it. `docker_engine` opens it; `fake` stands in for tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from hbench.errors import HbenchError


class RefusedError(HbenchError):
    """The engine refused one operation; the message is the engine's own. In a trial it becomes a recorded ending."""

    exit_code = 4


class GoneError(RefusedError):
    """The container the operation was about is not running any more."""


@dataclass(frozen=True, kw_only=True)
class EngineFacts:
    """What the lock says of the engine."""

    version: str
    api_version: str
    os: str
    arch: str
    builder: str


@dataclass(frozen=True, kw_only=True)
class ImageFacts:
    """An image on the engine.

    Attributes:
        id: `sha256:...` of its configuration.
        repo_digests: The digests under which a registry knows it, sorted; empty for a local build.
        workdir: WORKDIR, "/" when the image sets none.
        user: USER, "" when the image sets none.
    """

    id: str
    repo_digests: tuple[str, ...]
    workdir: str
    user: str


@dataclass(frozen=True, kw_only=True)
class ContainerSpec:
    """A container to create; it idles until something is executed in it."""

    image: str
    name: str
    labels: Mapping[str, str]
    env: Mapping[str, str]
    workdir: str | None
    cpus: float
    memory_mb: int
    pids: int
    network: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to run in a container.

    Attributes:
        env: Handed over by the API, so on no command line.
        user: None is the image's own.
        workdir: None is the container's own.
        timeout_s: None waits for ever.
        output: Called with each chunk of stdout and stderr as it comes, in order.
        stdin: Written, then closed; None closes it at once.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    workdir: str | None = None
    timeout_s: float | None = None
    output: Callable[[bytes], None] | None = None
    stdin: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a command ended: its exit status, or None with the reason why it has none."""

    exit_code: int | None
    timed_out: bool
    cancelled: bool
    duration_s: float
    exec_id: str


@dataclass(frozen=True, kw_only=True)
class BuildSpec:
    """An image to build from the folder of a Dockerfile."""

    context: Path
    tag: str
    labels: Mapping[str, str]
    ca_bundle: bytes | None
    timeout_s: float
    output: Callable[[bytes], None]


class Engine(Protocol):
    """What hbench asks of a Docker engine. Everything refused is a RefusedError; an engine out of reach EngineError."""

    def facts(self) -> EngineFacts: ...
    def image(self, reference: str) -> ImageFacts | None: ...
    def pull(self, reference: str, *, timeout_s: float, output: Callable[[bytes], None]) -> ImageFacts: ...
    def build(self, spec: BuildSpec) -> ImageFacts: ...
    def create(self, spec: ContainerSpec) -> str: ...
    def start(self, container: str) -> None: ...
    def run(self, container: str, command: Command, cancel: Event) -> Finished: ...
    def stop_command(self, container: str, exec_id: str, *, signal: str, grace_s: float) -> None: ...
    def put(self, container: str, archive: bytes) -> None: ...
    def get(self, container: str, path: str) -> "Archive": ...
    def exists(self, container: str, path: str) -> bool: ...
    def remove(self, container: str) -> None: ...
    def containers(self, label: str) -> dict[str, Mapping[str, str]]: ...


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A tar stream out of a container, in chunks; nothing in it is trusted (`hbench.container.archive`)."""

    chunks: Callable[[], bytes]
