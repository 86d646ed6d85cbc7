"""What a job runs on: versions, and no name of a machine or a person."""

import platform
from importlib import metadata

from hbench.container.engine import EngineFacts
from hbench.results.lock import EngineLock, MachineLock


def machine(facts: EngineFacts) -> MachineLock:
    """The `machine` of a job's lock."""
    return MachineLock(
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}",
        engine=EngineLock(**{name: getattr(facts, name) for name in EngineLock.model_fields}),
        packages=packages(),
    )


def packages() -> dict[str, str]:
    """Every distribution that this Python can import, name -> version, sorted; what `pip freeze` lists (R18)."""
    found = {(d.metadata["Name"] or "").lower(): d.version for d in metadata.distributions()}
    return {name: found[name] for name in sorted(found) if name}
