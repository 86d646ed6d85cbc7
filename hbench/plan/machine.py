"""What a job ran on: versions, and no name of a machine or a person."""

import platform
from importlib import metadata
from typing import Any, Protocol


class EngineLike(Protocol):
    """A Docker engine as it describes itself."""

    @property
    def version(self) -> str: ...
    @property
    def api_version(self) -> str: ...
    @property
    def os(self) -> str: ...
    @property
    def arch(self) -> str: ...
    @property
    def builder(self) -> str: ...


def machine(engine: EngineLike) -> dict[str, Any]:
    """The `machine` of a job's lock."""
    return {
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "engine": {name: getattr(engine, name) for name in ("version", "api_version", "os", "arch", "builder")},
        "packages": packages(),
    }


def packages() -> dict[str, str]:
    """Every distribution that this Python can import, name -> version, sorted; what `pip freeze` lists (R18)."""
    found = {(d.metadata["Name"] or "").lower(): d.version for d in metadata.distributions()}
    return {name: found[name] for name in sorted(found) if name}
