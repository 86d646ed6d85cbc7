"""The only door to Docker: `Engine` on docker-py's low-level client."""

import contextlib
import os
import time
from collections.abc import Generator, Mapping
from threading import Event
from typing import IO, Any

import docker
import requests
from docker.errors import DockerException
from docker.types import LogConfig
from docker.utils import kwargs_from_env

from hbench.container import build as image_build
from hbench.container.asking import START_ENGINE, ask, guarded, words
from hbench.container.engine import BuildSpec, Command, ContainerSpec, EngineFacts, Finished, ImageFacts
from hbench.container.errors import Cancelled, GoneError, RefusedError
from hbench.container.execution import run_to_end
from hbench.container.transport import spare
from hbench.errors import EngineError

_IDLE = ["sh", "-c", "exec tail -f /dev/null"]


def connect(*, connections: int = 64) -> "DockerEngine":
    """The engine that DOCKER_HOST or the default socket leads to.

    Args:
        connections: How many may be open at once; one per running trial and some.
    """
    try:
        api = docker.APIClient(max_pool_size=connections, timeout=120, **kwargs_from_env())
        spare(api, connections=connections)
        api.ping()
    except (DockerException, requests.RequestException) as problem:
        at = f" at DOCKER_HOST={os.environ['DOCKER_HOST']}" if os.environ.get("DOCKER_HOST") else ""
        raise EngineError(f"no Docker engine answers{at}: {words(problem)}", hint=START_ENGINE) from problem
    return DockerEngine(api)


class DockerEngine:
    """See `hbench.container.engine.Engine`; safe to use from several threads."""

    def __init__(self, api: docker.APIClient) -> None:
        self._api = api

    def facts(self) -> EngineFacts:
        info, version = ask(self._api.info), ask(self._api.version)
        return EngineFacts(
            version=str(version["Version"]),
            api_version=str(self._api.api_version),
            os=str(info["OSType"]),
            arch=str(info["Architecture"]),
            builder=image_build.builder_name(),
        )

    def image(self, reference: str) -> ImageFacts | None:
        try:
            data: dict[str, Any] = ask(lambda: self._api.inspect_image(reference))  # type: ignore[no-untyped-call]
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
        with contextlib.closing(ask(lambda: self._api.pull(reference, stream=True, decode=True))) as events:
            for event in guarded(events):
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
            log_config=LogConfig(type="json-file", config={"max-size": "64k", "max-file": "1"}),
        )
        made = ask(
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
        ask(lambda: self._api.start(container))

    def run(self, container: str, command: Command, cancel: Event) -> Finished:
        return run_to_end(self._api, container, command, cancel)

    def put(self, container: str, archive: IO[bytes]) -> None:
        ask(lambda: self._api.put_archive(container, "/", archive))

    def get(self, container: str, path: str) -> Generator[bytes, None, None] | None:
        try:
            stream, _ = ask(lambda: self._api.get_archive(container, path, chunk_size=65536))
        except GoneError:
            return None
        return guarded(stream)

    def exists(self, container: str, path: str) -> bool:
        url = f"{self._api.base_url}/v{self._api.api_version}/containers/{container}/archive"
        reply = ask(lambda: self._api.head(url, params={"path": path}, timeout=self._api.timeout))
        return bool(reply.ok)

    def processes(self, container: str) -> frozenset[int]:
        table = ask(lambda: self._api.top(container, ps_args="-eo pid"))
        return frozenset(int(row[0]) for row in table["Processes"] or ())

    def why_stopped(self, container: str) -> str | None:
        try:
            state = ask(lambda: self._api.inspect_container(container))["State"]
        except GoneError:
            return "the container was removed"
        if state["Running"]:
            return None
        if state.get("OOMKilled"):
            return "the container ran out of memory"
        return f"the container stopped with exit status {state['ExitCode']}\n{self._last_words(container)}".rstrip()

    def _last_words(self, container: str) -> str:
        try:
            return ask(lambda: self._api.logs(container, tail=5)).decode(errors="replace").strip()[-500:]
        except RefusedError:  # it is being removed
            return ""

    def remove(self, container: str) -> None:
        try:
            ask(lambda: self._api.remove_container(container, force=True, v=True))
        except GoneError:
            return
        except RefusedError as problem:
            if "already in progress" not in str(problem):  # somebody else removes it at this moment
                raise

    def labelled(self, label: str) -> dict[str, Mapping[str, str]]:
        found = ask(lambda: self._api.containers(all=True, filters={"label": label}))
        return {one["Id"]: one.get("Labels") or {} for one in found}
