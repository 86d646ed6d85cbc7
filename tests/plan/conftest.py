"""Tasks, adapters and suites as values, without folders."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.adapter.model import Adapter, AdapterFile
from hbench.suite.load import LoadedSuite, parse_suite
from hbench.task.dataset import Selection
from hbench.task.model import Digests, Environment, Phase, Task


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture(scope="session")
def make_task() -> Callable[..., Task]:
    """A task of that name; keywords go to its environment."""

    def make(name: str, *, warnings: tuple[str, ...] = (), **environment: Any) -> Task:
        defaults: dict[str, Any] = {"docker_image": "debian:bookworm-slim", "dockerfile": None}
        defaults |= {"build_timeout_s": 600.0, "cpus": None, "memory_mb": None, "storage_mb": None}
        defaults |= {"workdir": None, "env": {}, "healthcheck": None, "network_mode": "public", "allowed_hosts": ()}
        return Task(
            name=name,
            folder=Path("/nowhere"),
            instruction="Do it.",
            environment=Environment(**(defaults | environment)),
            agent=Phase(timeout_s=120.0, env={}),
            verifier=Phase(timeout_s=60.0, env={}),
            solution_env={},
            artifacts=(),
            metadata={},
            tests=Path("/nowhere/tests"),
            solution=None,
            baselines=(),
            digests=Digests(hbench=_sha(name), harbor=_sha(f"harbor {name}"), dirhash=_sha(f"dirhash {name}")),
            warnings=warnings,
        )

    return make


@pytest.fixture(scope="session")
def make_adapter() -> Callable[..., Adapter]:
    """An adapter of that name; keywords go to its adapter.toml."""

    def make(name: str, *, built_in: bool = True, **said: Any) -> Adapter:
        spec = AdapterFile(format=1, **{"name": name, "version": "1.0", "command": ["x"], **said})
        return Adapter(name=name, spec=spec, folder=Path("/nowhere"), digest=_sha(name), built_in=built_in)

    return make


@pytest.fixture(scope="session")
def make_suite() -> Callable[[str], LoadedSuite]:
    """A suite from its text; the network is open and a harness is there."""

    def make(text: str = "") -> LoadedSuite:
        return parse_suite(f"network.mode = 'open'\n{text}", base=Path(), name="s.toml")

    return make


@pytest.fixture(scope="session")
def selected() -> Callable[..., Selection]:
    """A selection of these tasks."""

    def make(*tasks: Task, **said: Any) -> Selection:
        defaults: dict[str, Any] = {"name": "set", "skipped": {}, "digest": "d" * 64}
        return Selection(**{"tasks": tuple(sorted(tasks, key=lambda task: task.name)), **defaults, **said})

    return make
