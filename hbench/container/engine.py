"""The door to Docker, as the rest of hbench sees it. `docker_engine` opens it; `fake` stands in for tests."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import IO, Protocol

from hbench.container.ca import CaBundle


@dataclass(frozen=True, kw_only=True)
class EngineFacts:
    """What the lock says of the engine; `builder` is "classic" or "buildx <version>"."""

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
    """A container to create; it idles until something is run in it."""

    image: str
    name: str
    labels: Mapping[str, str]
    env: Mapping[str, str]
    workdir: str | None
    cpus: float
    memory_mb: int
    pids: int
    network: str = "bridge"


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to run in a container, without a shell.

    Attributes:
        env: Handed over by the API, so on no command line.
        user: None is the image's own.
        workdir: None is the container's own.
        timeout_s: At this limit the process, its group and what descends from it are stopped; None waits for ever.
        stop_signal: Sent first at the limit (without "SIG"), KILL after `stop_grace_s`.
        output: Called with each chunk of stdout and stderr as it comes, in order.
        stdin: Written to the process, then closed; None gives it no input.
    """

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    workdir: str | None = None
    timeout_s: float | None = None
    stop_signal: str = "TERM"
    stop_grace_s: float = 2.0
    output: Callable[[bytes], None] | None = None
    stdin: bytes | None = None


@dataclass(frozen=True, kw_only=True)
class Finished:
    """How a command ended.

    Attributes:
        exit_code: None when it was cancelled or the engine no longer knows.
        timed_out: The limit was reached, and everything of it was stopped then.
        duration_s: From its start to its end or the limit, monotonic.
    """

    exit_code: int | None
    timed_out: bool
    duration_s: float


@dataclass(frozen=True, kw_only=True)
class BuildSpec:
    """An image to build from the folder of a Dockerfile.

    Attributes:
        ca: The certificates that every stage must trust; they are part of what the image is named after.
        output: Called with what the builder says, as it comes.
    """

    context: Path
    tag: str
    ca: CaBundle | None = None
    timeout_s: float
    output: Callable[[bytes], None]


class Engine(Protocol):
    """What hbench asks of a Docker engine.

    Raises:
        RefusedError: The engine said no to this one operation.
        EngineError: The engine cannot be reached.
        Cancelled: `cancel` was set while waiting.
    """

    def facts(self) -> EngineFacts:
        """What the engine is."""

    def image(self, reference: str) -> ImageFacts | None:
        """The image if the engine has it."""

    def pull(self, reference: str, *, timeout_s: float, cancel: Event) -> ImageFacts:
        """Fetch the image from its registry."""

    def build(self, spec: BuildSpec, cancel: Event) -> ImageFacts:
        """Build the image; its output streams to `spec.output`."""

    def create(self, spec: ContainerSpec) -> str:
        """Create a container, not yet started; returns its id."""

    def start(self, container: str) -> None:
        """Start it."""

    def run(self, container: str, command: Command, cancel: Event) -> Finished:
        """Run a command in it to its end or its limit."""

    def put(self, container: str, archive: IO[bytes]) -> None:
        """Unpack a tar archive at `/`."""

    def get(self, container: str, path: str) -> Generator[bytes, None, None] | None:
        """The path as a tar stream to be closed, None if it is not there; nothing in it can be trusted."""

    def exists(self, container: str, path: str) -> bool:
        """Whether the path is there; works before the container is started."""

    def processes(self, container: str) -> frozenset[int]:
        """The processes that run in it, as the engine's host numbers them; the image's own tools are not asked."""

    def why_stopped(self, container: str) -> str | None:
        """None while it runs, else what ended it, in words."""

    def remove(self, container: str) -> None:
        """Kill and remove it; no error if it is gone already."""

    def labelled(self, label: str) -> dict[str, Mapping[str, str]]:
        """The containers with that label (`key` or `key=value`): id -> labels."""
