"""The lock says which versions a job ran on, and not on whose machine."""

import getpass
import json
import platform
from dataclasses import dataclass
from importlib.metadata import version

from hbench.plan.machine import machine
from hbench.results.files import as_model
from hbench.results.lock import MachineLock


@dataclass(frozen=True)
class Engine:
    version: str = "20.10.24"
    api_version: str = "1.41"
    os: str = "linux"
    arch: str = "amd64"
    builder: str = "classic"
    memory_mb: int = 4096


def test_versions_are_those_that_run() -> None:
    found = machine(Engine())
    assert found["python"] == platform.python_version()
    assert found["packages"]["pydantic"] == version("pydantic")
    assert list(found["packages"]) == sorted(found["packages"])


def test_the_reader_reads_it() -> None:
    """Strictly: nothing is missing and nothing more is said, not even the machine's memory."""
    written = json.loads(json.dumps(machine(Engine())))
    assert as_model(written, MachineLock, where="").model_dump() == written


def test_neither_host_nor_user_is_named() -> None:
    said = machine(Engine())["platform"]
    assert said == f"{platform.system()} {platform.machine()}"
    assert platform.node() not in said
    assert getpass.getuser() not in said
