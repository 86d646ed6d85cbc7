"""Which tests run: `pytest` alone is the fast tier, `--run-docker` adds the engine's, `--slow` the slow tier."""

import functools
from collections.abc import Iterator

import docker
import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hbench")
    group.addoption("--run-docker", action="store_true", help="run the tests that need a Docker engine")
    group.addoption("--slow", action="store_true", help="run the slow tier too")
    group.addoption(
        "--forbid-leftovers",
        action="store_true",
        help="fail when the session leaves a container, network or volume of hbench on the engine",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("docker") and not config.getoption("--run-docker"):
            item.add_marker(pytest.mark.skip(reason="needs a Docker engine: --run-docker"))
        if item.get_closest_marker("slow") and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="slow tier: --slow"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Who asks for the engine's tests has an engine: without one they fail, they are not skipped."""
    if item.get_closest_marker("docker") and item.config.getoption("--run-docker") and (problem := engine_problem()):
        pytest.fail(f"--run-docker, but no Docker engine answers: {problem}", pytrace=False)


@functools.cache
def engine_problem() -> str | None:
    """Why the engine cannot be used, None when it answers."""
    try:
        client = docker.from_env(timeout=20)
        try:
            client.ping()
        finally:
            client.close()
    except docker.errors.DockerException as problem:
        return str(problem)
    return None


@pytest.fixture(scope="session", autouse=True)
def no_leftovers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever the session's tests make on the engine, they remove."""
    if not request.config.getoption("--forbid-leftovers") or engine_problem():
        yield
        return
    before = things_of_hbench()
    yield
    left = sorted(things_of_hbench() - before)
    assert not left, "the tests left on the engine: " + ", ".join(left)


def things_of_hbench() -> set[str]:
    """Containers, networks and volumes with a label of hbench, as `kind name`."""
    api = docker.APIClient(timeout=60)
    try:
        found = {
            "container": [(c["Id"][:12], c["Labels"]) for c in api.containers(all=True)],
            "network": [(n["Name"], n["Labels"]) for n in api.networks()],
            "volume": [(v["Name"], v["Labels"]) for v in api.volumes()["Volumes"] or []],
        }
    finally:
        api.close()
    return {
        f"{kind} {name}"
        for kind, things in found.items()
        for name, labels in things
        if any(key.startswith("hbench.") for key in labels or {})
    }
