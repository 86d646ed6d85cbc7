"""What a task may ask for that hbench cannot give yet: such a task is refused, never run in a lesser way."""

from collections.abc import Set as AbstractSet

from hbench.task.config import TaskConfig

_GATE = "until the egress gate exists only public tasks run"


def unsupported(config: TaskConfig, paths: AbstractSet[str]) -> list[str]:
    """What this task needs and hbench lacks, one phrase each; empty when it can run.

    Args:
        config: Its task.toml.
        paths: The task's files, relative to its folder.
    """
    rows = _tables(config) + _files(config, paths)
    for place, table in (("environment", config.environment), ("agent", config.agent), ("verifier", config.verifier)):
        mode = table.network_mode
        rows.append((mode not in (None, "public"), f'{place}.network_mode = "{mode}" ({_GATE})'))
    return [phrase for asked, phrase in rows if asked]


def _tables(config: TaskConfig) -> list[tuple[object, str]]:
    environment, verifier = config.environment, config.verifier
    services = sorted({artifact.service for artifact in config.artifacts if artifact.service not in (None, "main")})
    return [
        (config.steps, "several steps ([[steps]])"),
        (environment.os == "windows", 'environment.os = "windows"'),
        (environment.gpus, "environment.gpus"),
        (environment.tpu, "environment.tpu"),
        (environment.mcp_servers, "environment.mcp_servers (needs a harness that can use them)"),
        (environment.skills_dir, "environment.skills_dir (needs a harness that can use it)"),
        (verifier.environment_mode == "separate", 'verifier.environment_mode = "separate"'),
        (verifier.environment, "[verifier.environment]"),
        (verifier.collect, "[[verifier.collect]]"),
        (services, f"artifacts of another service than main ({', '.join(map(str, services))})"),
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
