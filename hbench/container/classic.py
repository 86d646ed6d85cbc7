"""Builds with the builder inside the engine, over its API: what there is where the CLI has no BuildKit."""

import contextlib
from collections.abc import Iterator, Mapping
from threading import Event, Thread
from typing import IO, Any, cast

import docker
import requests
import urllib3
from docker.errors import APIError, DockerException

from hbench.container import context
from hbench.container.asking import START_ENGINE, words
from hbench.container.building import TICK_S, Build
from hbench.errors import EngineError

NAME = "classic"
_RED, _PLAIN = "\x1b[91m", "\x1b[0m"
"""What the engine puts around each piece of what a RUN writes to stderr."""

_PIECE_BYTES = 1 << 16


def run(api: docker.APIClient, build: Build) -> str | None:
    """Build the image; returns what went wrong, in the engine's words, or None.

    Raises:
        Cancelled, TimeoutError: The build was given up, and the engine has been told so.
        EngineError: The engine went away.
    """
    with context.packed(build.folder, build.instructions) as archive:
        upload = _pieces(archive, build)
        with _watched(api, build, upload):
            try:
                return _follow(_events(api, build, upload), build)
            except APIError as problem:
                return words(problem)
            except (DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError) as problem:
                build.check()
                raise EngineError(f"the engine broke the build off: {words(problem)}", hint=START_ENGINE) from problem


def _events(api: docker.APIClient, build: Build, upload: Iterator[bytes]) -> Iterator[Mapping[str, Any]]:
    return api.build(
        fileobj=cast("IO[bytes]", upload),  # docker-py hands it to requests, which takes any iterator
        custom_context=True,
        tag=build.tag,
        labels=dict(build.labels),
        rm=True,
        forcerm=True,
        decode=True,
    )


def _follow(events: Iterator[Mapping[str, Any]], build: Build) -> str | None:
    """Pass on what the engine says until it is done."""
    for event in events:
        if "error" in event:
            return str(event["error"])
        said = event.get("stream")
        if said is None and "status" in event and not event.get("progress"):
            said = f"{event['id']}: {event['status']}\n" if "id" in event else f"{event['status']}\n"
        if said:
            build.output(str(said).replace(_RED, "").replace(_PLAIN, "").encode())
    return None


def _pieces(archive: IO[bytes], build: Build) -> Iterator[bytes]:
    while piece := archive.read(_PIECE_BYTES):
        build.check()
        yield piece


@contextlib.contextmanager
def _watched(api: docker.APIClient, build: Build, upload: Iterator[bytes]) -> Iterator[None]:
    """Break the connection when the build is given up, on which the engine stops it.

    docker-py keeps the response to itself, so it is seen by a hook; which one is ours is told by its request.
    """
    replies: list[requests.Response] = []
    done = Event()

    def note(reply: requests.Response, **_: object) -> None:
        if cast("object", reply.request.body) is upload:
            replies.append(reply)

    def watch() -> None:
        while not done.wait(TICK_S):
            if replies and build.is_given_up():
                with contextlib.suppress(ValueError):  # it came to its end just now
                    replies[0].raw.shutdown()
                return

    api.hooks["response"] = [*api.hooks["response"], note]  # never changed in place: other builds may iterate it
    watcher = Thread(target=watch, name="hbench-build-watch", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        api.hooks["response"] = [hook for hook in api.hooks["response"] if hook is not note]
        for reply in replies:
            reply.close()
