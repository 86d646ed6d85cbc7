"""A task folder in Harbor's layout -> Task."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path

from hbench.errors import TaskError
from hbench.task.config import ArtifactTable, EnvironmentTable, HealthcheckTable, TaskConfig, read_config
from hbench.task.digest import digests_of
from hbench.task.model import Artifact, Environment, Healthcheck, Phase, Task
from hbench.task.template import has_partial_template
from hbench.task.tree import WHY_ABSURD, entries
from hbench.task.unsupported import unsupported
from hbench.text import is_absurd
from hbench.tomlfile import MOST_TEXT_BYTES, parse_toml, read_text
from hbench.tomllines import key_lines

AGENT_TIMEOUT_S = 2400.0
"""Where task.toml is silent (FEATURES R11)."""
_CANARY = re.compile(r"(<!--.*canary.*-->|#.*canary.*)", re.IGNORECASE)
_LAYOUT_HINT = "A task folder holds instruction.md, task.toml, environment/Dockerfile and tests/test.sh."


def load_task(folder: Path) -> Task:
    """The task in `folder`, checked and with its digests.

    Raises:
        TaskError: It is not a valid task, or asks for something that hbench cannot give yet.
    """
    if not folder.is_dir():
        raise TaskError("no such folder", where=folder, hint=_LAYOUT_HINT)
    name = folder.resolve().name
    if is_absurd(name):
        what = f"the folder's name {name!r} cannot be used: {WHY_ABSURD}"
        raise TaskError(what, where=repr(str(folder)), hint="Rename it.")
    tree = entries(folder)
    text = _text(folder, "task.toml")
    config, warnings = read_config(text, name=str(folder / "task.toml"))
    _check_supported(config, text, folder / "task.toml", {entry.path for entry in tree})
    agent, verifier = config.agent, config.verifier
    home = folder.resolve()
    return Task(
        name=config.task.name if config.task else name,
        folder=home,
        instruction=_instruction(folder),
        environment=_environment(folder, config.environment),
        agent=Phase(timeout_s=agent.timeout_sec or AGENT_TIMEOUT_S, user=agent.user, env=agent.env),
        verifier=Phase(timeout_s=verifier.timeout_sec, user=verifier.user, env=verifier.env),
        solution_env=config.solution.env,
        artifacts=tuple(_artifact(table) for table in config.artifacts),
        metadata=config.metadata,
        tests=_tests(folder),
        solution=home / "solution" if (home / "solution" / "solve.sh").is_file() else None,
        baselines=tuple(path for path in sorted((home / "baselines").glob("*.sh")) if path.is_file()),
        digests=digests_of(folder, tree),
        warnings=(*warnings, *_partial_templates(config)),
    )


def _check_supported(config: TaskConfig, text: str, file: Path, paths: AbstractSet[str]) -> None:
    lines = key_lines(text)
    lacking = unsupported(config, paths, lines.keys())
    if lacking:
        places = [lines[loc] for loc, _ in lacking if loc in lines]
        raise TaskError(
            f"not supported yet: {'; '.join(phrase for _, phrase in lacking)}",
            where=f"{file}:{min(places)}" if places else file,
            hint="Leave the task out of the dataset.",
        )


def task_name(folder: Path) -> str:
    """What `load_task` would call the task, as far as that can be known without reading all of it; never fails."""
    fallback = folder.resolve().name
    try:
        table = parse_toml(_text(folder, "task.toml"), name="task.toml", error=TaskError).get("task")
    except TaskError:
        table = None
    name = table.get("name") if isinstance(table, dict) else None
    name = name if isinstance(name, str) and not is_absurd(name) else fallback
    return repr(name)[1:-1] if is_absurd(name) else name


def strip_canary(text: str) -> str:
    """The instruction without the comment lines at its head that mark benchmark data, nor the blank lines there."""
    lines = text.split("\n")
    start = 0
    while start < len(lines) and _CANARY.fullmatch(lines[start].strip()):
        start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return "\n".join(lines[start:])


def _text(folder: Path, name: str) -> str:
    """A text file of the task. It is looked at before it is opened: a pipe would never answer."""
    path = folder / name
    real = Path(os.path.realpath(path))
    try:
        status = real.stat()
    except FileNotFoundError as problem:
        raise TaskError(f"the task has no {name}", where=folder, hint=_LAYOUT_HINT) from problem
    except OSError as problem:
        raise TaskError(f"cannot be read: {problem.strerror}", where=path, hint=_LAYOUT_HINT) from problem
    if not stat.S_ISREG(status.st_mode) or not real.is_relative_to(folder.resolve()):
        raise TaskError("is not a file", where=path, hint=_LAYOUT_HINT)
    if status.st_size > MOST_TEXT_BYTES:
        raise TaskError("is larger than 1 MiB", where=path, hint="Put data into environment/.")
    return read_text(path, error=TaskError, hint=_LAYOUT_HINT)


def _instruction(folder: Path) -> str:
    text = strip_canary(_text(folder, "instruction.md"))
    if not text.strip():
        raise TaskError("is empty", where=folder / "instruction.md", hint="Say what the agent is to do.")
    if "\0" in text:
        raise TaskError("holds a NUL character", where=folder / "instruction.md", hint="Write it as plain text.")
    return text


def _tests(folder: Path) -> Path:
    if not (folder / "tests" / "test.sh").is_file():
        raise TaskError("the task has no tests/test.sh", where=folder, hint=_LAYOUT_HINT)
    return folder.resolve() / "tests"


def _environment(folder: Path, table: EnvironmentTable) -> Environment:
    dockerfile = folder.resolve() / "environment" / "Dockerfile"
    built = dockerfile.is_file()
    if not built and table.docker_image is None:
        what = "the task has neither environment/Dockerfile nor [environment] docker_image in task.toml"
        raise TaskError(what, where=folder, hint=_LAYOUT_HINT)
    return Environment(
        docker_image=table.docker_image,
        dockerfile=dockerfile if built else None,
        build_timeout_s=table.build_timeout_sec,
        cpus=table.cpus,
        memory_mb=table.memory_mb,
        storage_mb=table.storage_mb,
        workdir=table.workdir,
        env=table.env,
        healthcheck=_healthcheck(table.healthcheck) if table.healthcheck else None,
        network_mode=table.network_mode or "public",
        allowed_hosts=tuple(table.allowed_hosts),
    )


def _artifact(table: ArtifactTable) -> Artifact:
    return Artifact(source=table.source, destination=table.destination, exclude=tuple(table.exclude))


def _healthcheck(table: HealthcheckTable) -> Healthcheck:
    return Healthcheck(
        command=table.command,
        interval_s=table.interval_sec,
        timeout_s=table.timeout_sec,
        start_period_s=table.start_period_sec,
        start_interval_s=table.start_interval_sec,
        retries=table.retries,
    )


def _partial_templates(config: TaskConfig) -> Iterator[str]:
    tables: Mapping[str, Mapping[str, str]] = {
        "environment": config.environment.env,
        "agent": config.agent.env,
        "verifier": config.verifier.env,
        "solution": config.solution.env,
    }
    for place, env in tables.items():
        for key, value in env.items():
            if has_partial_template(value):
                yield f'task.toml: "{place}.env.{key}" is taken as it stands; a template is the whole value'
