"""The only door to Docker: `Engine` on docker-py's low-level client."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from threading import Event
from typing import IO, Any, TypeVar

import docker
import requests
from docker.errors import APIError, DockerException, NotFound

from hbench.container import build as image_build
from hbench.container.engine import (
    BuildSpec,
    Cancelled,
    Command,
    ContainerSpec,
    EngineFacts,
    Finished,
    GoneError,
    ImageFacts,
    RefusedError,
)
from hbench.container.stream import Connection, Frames, Tail
from hbench.errors import EngineError

T = TypeVar("T")

HELPER_IMAGE = "debian:bookworm-slim"
"""Has a Perl of its own (an essential package there); stops processes from outside the trial's container."""

_IDLE = ["sh", "-c", "while :; do sleep 86400; done"]
_WITH_PID = ["/bin/sh", "-c", 'echo $$; exec "$@"', "hbench"]
_NEVER_RAN = (126, 127)
_TICK_S = 0.2
_DRAIN_S = 2.0
_START_ENGINE = "Start it (Linux: systemctl start docker; macOS: Docker Desktop), or set DOCKER_HOST; then run again."


def connect(*, connections: int = 64) -> "DockerEngine":
    """The engine that DOCKER_HOST or the default socket leads to.

    Args:
        connections: How many may be open at once; one per running trial and some.
    """
    try:
        api = docker.APIClient(max_pool_size=connections, timeout=120, **docker.utils.kwargs_from_env())
        api.ping()
    except (DockerException, requests.RequestException) as problem:
        raise EngineError(f"no Docker engine answers: {_words(problem)}", hint=_START_ENGINE) from problem
    return DockerEngine(api)


class DockerEngine:
    """See `hbench.container.engine.Engine`; safe to use from several threads."""

    def __init__(self, api: docker.APIClient) -> None:
        self._api = api

    def facts(self) -> EngineFacts:
        info, version = _ask(self._api.info), _ask(self._api.version)
        return EngineFacts(
            version=str(version["Version"]),
            api_version=str(self._api.api_version),
            os=str(info["OSType"]),
            arch=str(info["Architecture"]),
            builder=image_build.builder_name(),
            cpus=int(info["NCPU"]),
            memory_mb=int(info["MemTotal"]) >> 20,
        )

    def image(self, reference: str) -> ImageFacts | None:
        try:
            data = _ask(lambda: self._api.inspect_image(reference))
        except GoneError:
            return None
        config = data.get("Config") or {}
        return ImageFacts(
            id=data["Id"],
            repo_digests=tuple(sorted(data.get("RepoDigests") or ())),
            workdir=config.get("WorkingDir") or "/",
            user=config.get("User") or "",
        )

    def pull(self, reference: str, *, timeout_s: float, cancel: Event) -> ImageFacts:
        until = time.monotonic() + timeout_s
        with contextlib.closing(_ask(lambda: self._api.pull(reference, stream=True, decode=True))) as events:
            for event in _guarded(events):
                if cancel.is_set():
                    raise Cancelled
                if "error" in event:
                    raise RefusedError(f"cannot pull {reference}: {event['error']}")
                if time.monotonic() > until:
                    raise RefusedError(f"cannot pull {reference}: not done after {timeout_s:.0f} s")
        found = self.image(reference)
        if found is None:
            raise RefusedError(f"pulled {reference}, but the engine does not have it")
        return found

    def build(self, spec: BuildSpec, cancel: Event) -> ImageFacts:
        image_build.build(self._api, spec, cancel)
        found = self.image(spec.tag)
        if found is None:
            raise RefusedError(f"built {spec.tag}, but the engine does not have it")
        return found

    def create(self, spec: ContainerSpec) -> str:
        host = self._api.create_host_config(
            init=True,
            nano_cpus=int(spec.cpus * 1e9),
            mem_limit=spec.memory_mb << 20,
            memswap_limit=spec.memory_mb << 20,
            pids_limit=spec.pids,
            network_mode=spec.network,
            restart_policy={"Name": "no"},
            log_config={"Type": "none", "Config": {}},
        )
        made = _ask(
            lambda: self._api.create_container(
                spec.image,
                _IDLE,
                name=spec.name,
                labels=dict(spec.labels),
                environment=dict(spec.env),
                working_dir=spec.workdir,
                host_config=host,
            )
        )
        return str(made["Id"])

    def start(self, container: str) -> None:
        _ask(lambda: self._api.start(container))

    def run(self, container: str, command: Command, cancel: Event) -> Finished:
        exec_id = _ask(
            lambda: self._api.exec_create(
                container,
                [*_WITH_PID, *command.argv],
                environment=dict(command.env),
                user=command.user or "",
                workdir=command.workdir,
                stdin=command.stdin is not None,
            )
        )["Id"]
        return _Run(self._api, container, exec_id, command, cancel).to_end()

    def put(self, container: str, archive: IO[bytes]) -> None:
        _ask(lambda: self._api.put_archive(container, "/", archive))

    def get(self, container: str, path: str) -> Iterator[bytes] | None:
        try:
            stream, _ = _ask(lambda: self._api.get_archive(container, path, chunk_size=65536))
        except GoneError:
            return None
        return _guarded(stream)

    def exists(self, container: str, path: str) -> bool:
        url = f"{self._api.base_url}/v{self._api.api_version}/containers/{container}/archive"
        reply = _ask(lambda: self._api.head(url, params={"path": path}, timeout=self._api.timeout))
        return bool(reply.ok)

    def processes(self, container: str) -> frozenset[int]:
        table = _ask(lambda: self._api.top(container, ps_args="-eo pid"))
        return frozenset(int(row[0]) for row in table["Processes"] or ())

    def why_stopped(self, container: str) -> str | None:
        try:
            state = _ask(lambda: self._api.inspect_container(container))["State"]
        except GoneError:
            return "the container was removed"
        if state["Running"]:
            return None
        if state.get("OOMKilled"):
            return "the container ran out of memory"
        return f"the container stopped with exit status {state['ExitCode']}"

    def remove(self, container: str) -> None:
        with contextlib.suppress(GoneError):
            _ask(lambda: self._api.remove_container(container, force=True, v=True))

    def labelled(self, label: str) -> dict[str, Mapping[str, str]]:
        found = _ask(lambda: self._api.containers(all=True, filters={"label": label}))
        return {one["Id"]: one.get("Labels") or {} for one in found}


class _Run:
    """One command from its start to its end: reads its output, watches clock and cancel, stops it at its limit."""

    def __init__(self, api: docker.APIClient, container: str, exec_id: str, command: Command, cancel: Event) -> None:
        self._api = api
        self._container = container
        self._exec_id = exec_id
        self._command = command
        self._cancel = cancel
        self._tail = Tail(command.output)

    def to_end(self) -> Finished:
        started = time.monotonic()
        limit = self._command.timeout_s
        with contextlib.closing(self._connect()) as connection:
            ended = self._read(connection, None if limit is None else started + limit)
            duration = time.monotonic() - started
            if not ended:
                self._stop()
                self._read(connection, time.monotonic() + _DRAIN_S)
        exit_code = self._exit_code()
        if exit_code in _NEVER_RAN and not (self._tail.first_line or b"").isdigit():
            said = (self._tail.first_line or b"").decode(errors="replace").strip()
            raise RefusedError(said or "is there such a user, working directory and /bin/sh?")
        return Finished(exit_code=exit_code, timed_out=not ended, duration_s=duration)

    def _connect(self) -> Connection:
        url = f"{self._api.base_url}/v{self._api.api_version}/exec/{self._exec_id}/start"
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        reply = _ask(
            lambda: self._api.post(
                url, json={"Tty": False, "Detach": False}, headers=headers, stream=True, timeout=self._api.timeout
            )
        )
        _ask(lambda: self._api._raise_for_status(reply))  # noqa: SLF001 - maps the status to docker-py's errors
        return Connection(reply, self._command.stdin)

    def _read(self, connection: Connection, until: float | None) -> bool:
        """Pass output on until the command ends (True) or `until` is reached (False)."""
        frames = Frames()
        quiet_since, patience_s = time.monotonic(), 1.0
        while until is None or time.monotonic() < until:
            if self._cancel.is_set():
                raise Cancelled
            data = connection.read(_TICK_S if until is None else min(_TICK_S, max(0.0, until - time.monotonic())))
            if data == b"":
                return True
            if data is not None:
                for piece in frames.feed(data):
                    self._tail(piece)
                quiet_since, patience_s = time.monotonic(), 1.0
            elif time.monotonic() - quiet_since > patience_s:
                # A process left in the background may hold the output open after the command itself has ended.
                if not self._inspect()["Running"]:
                    return True
                patience_s = min(patience_s * 2, 16.0)
        return False

    def _inspect(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = _ask(lambda: self._api.exec_inspect(self._exec_id))
        return found

    def _exit_code(self) -> int | None:
        for pause_s in (0.0, 0.01, 0.05, 0.2, 0.5, 1.0):
            time.sleep(pause_s)
            state = self._inspect()
            if not state["Running"]:
                code = state["ExitCode"]
                return None if code is None else int(code)
        return None

    def _stop(self) -> None:
        pid = self._tail.first_line
        if pid is None or not pid.isdigit():
            return
        stop_processes(
            self._api,
            self._container,
            pid.decode(),
            signal=self._command.stop_signal,
            grace_s=self._command.stop_grace_s,
        )


def stop_processes(api: docker.APIClient, container: str, pid: str, *, signal: str, grace_s: float) -> None:
    """End the process `pid` of `container`, its session and descendants, from a container outside its cgroup."""
    script = resources.files("hbench.container").joinpath("stop.pl").read_text(encoding="utf-8")
    labels = _ask(lambda: api.inspect_container(container))["Config"]["Labels"] or {}
    host = api.create_host_config(
        pid_mode=f"container:{container}",
        network_mode="none",
        cap_drop=["ALL"],
        cap_add=["KILL", "SYS_PTRACE", "DAC_READ_SEARCH"],
        security_opt=["no-new-privileges"],
        read_only=True,
    )
    helper = _ask(
        lambda: api.create_container(
            HELPER_IMAGE,
            ["/usr/bin/perl", "-e", script, pid, signal, str(grace_s)],
            entrypoint="",
            labels={key: value for key, value in labels.items() if key.startswith("hbench.")},
            host_config=host,
        )
    )["Id"]
    try:
        _ask(lambda: api.start(helper))
        status = _ask(lambda: api.wait(helper, timeout=grace_s + 60))["StatusCode"]
        if status != 0:
            said = _ask(lambda: api.logs(helper)).decode(errors="replace").strip()
            raise RefusedError(f"processes of the trial could not be stopped: {said[-500:]}")
    finally:
        _ask(lambda: api.remove_container(helper, force=True, v=True))


def _ask(call: Callable[[], T]) -> T:
    """One request to the engine, its errors in hbench's words."""
    try:
        return call()
    except NotFound as problem:
        raise GoneError(_words(problem)) from problem
    except APIError as problem:
        gone = problem.status_code == requests.codes.conflict and "is not running" in _words(problem)
        raise (GoneError if gone else RefusedError)(_words(problem)) from problem
    except (DockerException, requests.RequestException) as problem:
        raise EngineError(f"the Docker engine does not answer: {_words(problem)}", hint=_START_ENGINE) from problem


def _guarded(stream: Iterator[T]) -> Iterator[T]:
    """The same stream, its errors in hbench's words; closing it closes the stream."""
    try:
        while True:
            try:
                item = _ask(lambda: next(stream, None))
            except StopIteration:
                return
            if item is None:
                return
            yield item
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


def _words(problem: Exception) -> str:
    text = str(getattr(problem, "explanation", None) or problem)
    return " ".join(text.split())[:500]
