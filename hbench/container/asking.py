"""Requests to the engine, their errors in hbench's words."""

import re
from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import requests
from docker.errors import APIError, DockerException, NotFound, create_api_error_from_http_exception

from hbench.container.errors import GoneError, RefusedError
from hbench.errors import EngineError

T = TypeVar("T")

_CONTAINER_FOLDER = re.compile(r"/\S*?/[0-9a-f]{64}/(?:merged|diff|rootfs)(?=/|\b)")

START_ENGINE = "Start it (Linux: systemctl start docker; macOS: Docker Desktop), or set DOCKER_HOST; then run again."


def ask(call: Callable[[], T]) -> T:
    """One request to the engine, its errors in hbench's words."""
    try:
        return call()
    except NotFound as problem:
        raise GoneError(words(problem)) from problem
    except APIError as problem:
        said = words(problem)
        raise (GoneError if "is not running" in said else RefusedError)(said) from problem
    except (DockerException, requests.RequestException) as problem:
        raise EngineError(f"the Docker engine does not answer: {words(problem)}", hint=START_ENGINE) from problem


def raise_for_status(reply: requests.Response) -> None:
    """docker-py's own error for a reply that is one."""
    try:
        reply.raise_for_status()
    except requests.HTTPError as problem:
        create_api_error_from_http_exception(problem)


def guarded(stream: Iterator[T]) -> Generator[T, None, None]:
    """The same stream, its errors in hbench's words; closing it closes the stream."""
    try:
        while (item := ask(lambda: next(stream, None))) is not None:
            yield item
    finally:
        close = getattr(stream, "close", None)
        if close is not None:
            close()


def words(problem: Exception) -> str:
    """The engine's message on one line, without the folder in which it keeps its containers."""
    text = str(getattr(problem, "explanation", None) or problem)
    return _CONTAINER_FOLDER.sub("", " ".join(text.split()))[:500]
