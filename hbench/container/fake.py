"""A scripted engine for tests: containers are dictionaries of files, commands are functions on them."""

import io
import tarfile
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import IO

from hbench.container.engine import BuildSpec, Command, ContainerSpec, EngineFacts, Finished, ImageFacts
from hbench.container.errors import Cancelled, GoneError, RefusedError

Files = dict[str, bytes]
"""Absolute path -> content; a folder that is there for its own sake ends in a slash."""

Script = Callable[[Files, Command], int]
"""What a command does: changes the files, may call `command.output`, returns the exit status; HANGS runs for ever."""

HANGS = -1


def image_facts(name: str) -> ImageFacts:
    """The facts of an image that the fake engine has."""
    return ImageFacts(id=f"sha256:{name}", repo_digests=(), workdir="/app", user="")


@dataclass
class _Container:
    spec: ContainerSpec
    files: Files
    running: bool = False
    stopped_why: str | None = None


@dataclass
class FakeEngine:
    """Stands in for Docker where a test is about hbench and not about containers.

    Attributes:
        image_files: What every container begins with.
        scripts: Part of an argv element -> what such a command does; the first that fits is used.
        refuse: Operation -> message with which it is refused.
    """

    image_files: Files = field(default_factory=lambda: {"/bin/bash": b"", "/bin/sh": b""})
    scripts: dict[str, Script] = field(default_factory=dict)
    refuse: dict[str, str] = field(default_factory=dict)
    images: dict[str, ImageFacts] = field(default_factory=lambda: {"debian:bookworm-slim": image_facts("debian")})
    ran: list[Command] = field(default_factory=list)
    containers: dict[str, _Container] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def facts(self) -> EngineFacts:
        return EngineFacts(version="0", api_version="1.41", os="linux", arch="x86_64", builder="classic")

    def image(self, reference: str) -> ImageFacts | None:
        return self.images.get(reference)

    def pull(self, reference: str, *, timeout_s: float, cancel: Event) -> ImageFacts:  # noqa: ARG002 - as the protocol says
        self._maybe_refuse("pull")
        return self.images.setdefault(reference, image_facts(reference))

    def build(self, spec: BuildSpec, cancel: Event) -> ImageFacts:  # noqa: ARG002 - likewise
        self._maybe_refuse("build")
        spec.output(b"built\n")
        return self.images.setdefault(spec.tag, image_facts(spec.tag))

    def create(self, spec: ContainerSpec) -> str:
        self._maybe_refuse("create")
        with self._lock:
            if spec.name in {one.spec.name for one in self.containers.values()}:
                raise RefusedError(f'Conflict. The container name "/{spec.name}" is already in use')
            name = f"c{len(self.containers) + len(self.removed)}"
            self.containers[name] = _Container(spec=spec, files=dict(self.image_files))
        return name

    def start(self, container: str) -> None:
        self._maybe_refuse("start")
        self._of(container).running = True

    def run(self, container: str, command: Command, cancel: Event) -> Finished:
        self._maybe_refuse("run")
        if cancel.is_set():
            raise Cancelled
        found = self._running(container)
        self.ran.append(command)
        script = self._script(command)
        exit_code = script(found.files, command)
        if exit_code == HANGS and command.timeout_s is None:
            cancel.wait()
            raise Cancelled
        timed_out = exit_code == HANGS
        return Finished(exit_code=137 if timed_out else exit_code, timed_out=timed_out, duration_s=0.0)

    def put(self, container: str, archive: IO[bytes]) -> None:
        self._maybe_refuse("put")
        files = self._of(container).files
        with tarfile.open(fileobj=archive) as tar:
            for member in tar:
                stream = tar.extractfile(member) if member.isfile() else None
                slash = "/" if member.isdir() else ""
                files[f"/{member.name}{slash}"] = b"" if stream is None else stream.read()

    def get(self, container: str, path: str) -> Generator[bytes, None, None] | None:
        files = self._of(container).files
        inside = {name: data for name, data in files.items() if name == path or name.startswith(path + "/")}
        if not inside:
            return None
        buffer = io.BytesIO()
        root = path.rsplit("/", 1)[0]
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for name in sorted({path, *(name.rstrip("/") for name in inside)}):
                info = tarfile.TarInfo(name.removeprefix(root).lstrip("/"))
                if any(other.startswith(name + "/") for other in inside):
                    info.type = tarfile.DIRTYPE
                    tar.addfile(info)
                else:
                    info.size = len(inside[name])
                    tar.addfile(info, io.BytesIO(inside[name]))
        return (chunk for chunk in [buffer.getvalue()])

    def exists(self, container: str, path: str) -> bool:
        files = self._of(container).files
        return any(name == path or name.startswith(path + "/") for name in files)

    def processes(self, container: str) -> frozenset[int]:
        self._running(container)
        return frozenset({1, 2})

    def why_stopped(self, container: str) -> str | None:
        if container not in self.containers:
            return "the container was removed"
        return self.containers[container].stopped_why

    def remove(self, container: str) -> None:
        self._maybe_refuse("remove")
        with self._lock:
            if self.containers.pop(container, None) is not None:
                self.removed.append(container)

    def labelled(self, label: str) -> dict[str, Mapping[str, str]]:
        key, _, value = label.partition("=")
        found = {name: one.spec.labels for name, one in self.containers.items()}
        return {n: ls for n, ls in found.items() if key in ls and (not value or ls[key] == value)}

    def stop(self, container: str, why: str) -> None:
        """Let the container end, as when it runs out of memory."""
        one = self._of(container)
        one.running, one.stopped_why = False, why

    def _script(self, command: Command) -> Script:
        if command.argv[0] == "rm":
            return _remove
        for part, script in self.scripts.items():
            if any(part in argument for argument in command.argv):
                return script
        return _does_nothing

    def _of(self, container: str) -> _Container:
        if container not in self.containers:
            raise GoneError(f"No such container: {container}")
        return self.containers[container]

    def _running(self, container: str) -> _Container:
        found = self._of(container)
        if not found.running:
            raise GoneError(f"Container {container} is not running")
        return found

    def _maybe_refuse(self, operation: str) -> None:
        if operation in self.refuse:
            raise RefusedError(self.refuse[operation])


def _does_nothing(_files: Files, _command: Command) -> int:
    return 0


def _remove(files: Files, command: Command) -> int:
    for path in command.argv[3:]:
        for name in [name for name in files if name == path or name.startswith(path + "/")]:
            del files[name]
    return 0
