"""What a task may ask for that hbench cannot give yet: such a task is refused, never run in a lesser way."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from hbench.task.config import TaskConfig
from hbench.tomllines import Location

_GATE = "until the egress gate exists only public tasks run"


def unsupported(
    config: TaskConfig, paths: AbstractSet[str], keys: AbstractSet[Location]
) -> list[tuple[Location | None, str]]:
    """What this task needs and hbench lacks: where it stands in task.toml, if there, and a phrase.

    Args:
        config: Its task.toml.
        paths: The task's files, relative to its folder.
        keys: What stands in its task.toml, old keys under their old names.
    """
    asked = (*_tables(config), *_networks(config, keys))
    found: list[tuple[Location | None, str]] = [(loc, phrase) for loc, is_asked, phrase in asked if is_asked]
    return found + [(None, phrase) for is_asked, phrase in _files(config, paths) if is_asked]


def _networks(config: TaskConfig, keys: AbstractSet[Location]) -> Iterable[tuple[Location, bool, str]]:
    for place, table in (("environment", config.environment), ("agent", config.agent), ("verifier", config.verifier)):
        key, value = "network_mode", f'"{table.network_mode}"'
        if (place, key) not in keys and (place, "allow_internet") in keys:
            key, value = "allow_internet", "false"
        yield (place, key), table.network_mode not in (None, "public"), f"{place}.{key} = {value} ({_GATE})"


def _tables(config: TaskConfig) -> list[tuple[Location, object, str]]:
    environment, verifier = config.environment, config.verifier
    services = sorted({artifact.service for artifact in config.artifacts if artifact.service not in (None, "main")})
    return [
        (("steps",), config.steps, "several steps ([[steps]])"),
        (("environment", "os"), environment.os == "windows", 'environment.os = "windows"'),
        (("environment", "gpus"), environment.gpus, "environment.gpus"),
        (("environment", "tpu"), environment.tpu, "environment.tpu"),
        (
            ("environment", "mcp_servers"),
            environment.mcp_servers,
            "environment.mcp_servers (needs a harness that can use them)",
        ),
        (
            ("environment", "skills_dir"),
            environment.skills_dir,
            "environment.skills_dir (needs a harness that can use it)",
        ),
        (
            ("verifier", "environment_mode"),
            verifier.environment_mode == "separate",
            'verifier.environment_mode = "separate"',
        ),
        (("verifier", "environment"), verifier.environment, "[verifier.environment]"),
        (("verifier", "collect"), verifier.collect, "[[verifier.collect]]"),
        (("artifacts",), services, f"artifacts of another service than main ({', '.join(map(str, services))})"),
    ]


def _files(config: TaskConfig, paths: AbstractSet[str]) -> list[tuple[object, str]]:
    composed = "environment/docker-compose.yaml" in paths
    loose = config.environment.docker_image and not composed and "environment/Dockerfile" not in paths
    return [
        (composed, "several containers (environment/docker-compose.yaml, which needs the Compose v2 plugin)"),
        (
            loose and any(path.startswith("environment/") for path in paths),
            "files in environment/ beside docker_image without a Dockerfile (to be copied into the working directory)",
        ),
        ("trajectory.json" in paths, "trajectory.json (an agent's earlier work to go on from)"),
        (any(path.rpartition("/")[2] == ".harborignore" for path in paths), ".harborignore"),
    ]
