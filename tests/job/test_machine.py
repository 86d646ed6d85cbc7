"""The lock says which versions a job ran on, and not on whose machine."""

import getpass
import platform
from importlib.metadata import version

from hbench.container.fake import FakeEngine
from hbench.job.machine import machine


def test_versions_are_those_that_run() -> None:
    found = machine(FakeEngine().facts())
    assert found.python == platform.python_version()
    assert found.engine.api_version == "1.41"
    assert found.packages["pydantic"] == version("pydantic")
    assert list(found.packages) == sorted(found.packages)


def test_neither_host_nor_user_is_named() -> None:
    said = machine(FakeEngine().facts()).platform
    assert said == f"{platform.system()} {platform.machine()}"
    assert platform.node() not in said
    assert getpass.getuser() not in said
