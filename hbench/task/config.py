"""What a Harbor task.toml may say, format versions 1.0 to 1.4.

A wrong type or an impossible value is an error; an unknown key is kept and warned about. A string is never read as a
number.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from hbench.errors import TaskError
from hbench.task.legacy import OldKeyError, migrate
from hbench.task.unknown import unknown_keys
from hbench.task.values import (
    AbsolutePath,
    ArtifactDestination,
    ArtifactSource,
    Count,
    Cpus,
    Host,
    Limit,
    Mebibytes,
    Optional,
    Pause,
    Text,
    UserName,
    Variables,
)
from hbench.tomlfile import line_of, parse_toml, validate

VERIFIER_TIMEOUT_S = 600.0
BUILD_TIMEOUT_S = 600.0


class _Table(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class Author(_Table):
    """One of `[task] authors`."""

    name: Text
    email: Text | None = None


class PackageTable(_Table):
    """`[task]`: what the task is called in a registry."""

    name: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*$", max_length=255)
    version: Text | None = Field(default=None, min_length=1)
    description: Text = ""
    authors: list[Author] = Field(default_factory=list)
    keywords: list[Text] = Field(default_factory=list)

    @field_validator("name")
    @classmethod
    def _no_way_up(cls, name: str) -> str:
        if ".." in name:
            raise ValueError('must not contain ".."')
        return name


class _Network(_Table):
    network_mode: Literal["public", "no-network", "allowlist"] | None = None
    allowed_hosts: list[Host] = Field(default_factory=list)

    @model_validator(mode="after")
    def _hosts_need_an_allowlist(self) -> Self:
        if self.allowed_hosts and self.network_mode != "allowlist":
            raise ValueError('"allowed_hosts" has a meaning only with network_mode = "allowlist"')
        return self


class HealthcheckTable(_Table):
    """`[environment.healthcheck]`, as Docker's HEALTHCHECK; seconds."""

    command: Text = Field(min_length=1)
    interval_sec: Pause = 5.0
    timeout_sec: Limit = 30.0
    start_period_sec: Pause = 0.0
    start_interval_sec: Pause = 5.0
    retries: Annotated[Count, Field(ge=1, le=1_000_000)] = 3


class TpuTable(_Table):
    """`[environment.tpu]`."""

    type: Text = Field(min_length=1)
    topology: str = Field(pattern=r"^\s*[1-9][0-9]*(x[1-9][0-9]*)+\s*$")


class McpServerTable(_Table):
    """One of `[[environment.mcp_servers]]`."""

    name: Text
    transport: Literal["stdio", "sse", "streamable-http", "http"] = "sse"
    url: Text | None = None
    command: Text | None = None
    args: list[Text] = Field(default_factory=list)
    headers: dict[str, Text] = Field(default_factory=dict)


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


class EnvironmentTable(_Network):
    """`[environment]` and `[verifier.environment]`."""

    build_timeout_sec: Limit = BUILD_TIMEOUT_S
    docker_image: Annotated[str | None, Field(pattern=r"^[^\s\x00]+$"), Optional] = None
    os: Annotated[Literal["linux", "windows"], BeforeValidator(_lower)] = "linux"
    cpus: Cpus | None = None
    memory_mb: Mebibytes | None = None
    storage_mb: Mebibytes | None = None
    gpus: Annotated[Count, Field(ge=0, le=1024)] | None = None
    gpu_types: list[Text] | None = None
    tpu: TpuTable | None = None
    mcp_servers: list[McpServerTable] = Field(default_factory=list)
    env: Variables = Field(default_factory=dict)
    skills_dir: Annotated[Text | None, Optional] = None
    healthcheck: HealthcheckTable | None = None
    workdir: Annotated[AbsolutePath | None, Optional] = None


class AgentTable(_Network):
    """`[agent]`."""

    timeout_sec: Limit | None = None
    user: UserName | None = None
    env: Variables = Field(default_factory=dict)


class CollectTable(_Table):
    """One of `[[verifier.collect]]`: a command run in a service before artifacts are copied out."""

    command: Text = Field(min_length=1)
    service: Text = "main"
    timeout_sec: Limit = 60.0
    user: UserName | None = None


class VerifierTable(_Network):
    """`[verifier]`."""

    timeout_sec: Limit = VERIFIER_TIMEOUT_S
    env: Variables = Field(default_factory=dict)
    user: UserName | None = None
    environment_mode: Literal["shared", "separate"] | None = None
    environment: EnvironmentTable | None = None
    collect: list[CollectTable] = Field(default_factory=list)

    @model_validator(mode="after")
    def _shared_has_no_environment(self) -> Self:
        if self.environment_mode == "shared" and self.environment is not None:
            raise ValueError('environment_mode = "shared" contradicts [verifier.environment]')
        return self


class SolutionTable(_Table):
    """`[solution]`."""

    env: Variables = Field(default_factory=dict)


def _as_tables(value: Any) -> Any:
    return [{"source": v} if isinstance(v, str) else v for v in value] if isinstance(value, list) else value


class ArtifactTable(_Table):
    """One of `artifacts`: a path of the container, or a table with more about it."""

    source: ArtifactSource
    destination: Annotated[ArtifactDestination | None, Optional] = None
    exclude: list[Text] = Field(default_factory=list)
    service: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]*$")] | None = None


Artifacts = Annotated[list[ArtifactTable], BeforeValidator(_as_tables)]


class StepTable(_Table):
    """One of `[[steps]]`."""

    name: Text = Field(min_length=1, max_length=255)
    agent: AgentTable = Field(default_factory=AgentTable)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    min_reward: float | dict[str, float] | None = None
    healthcheck: HealthcheckTable | None = None
    artifacts: Artifacts = Field(default_factory=list)


class TaskConfig(_Table):
    """A task.toml, old keys already migrated."""

    schema_version: str = "1.4"
    task: PackageTable | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    agent: AgentTable = Field(default_factory=AgentTable)
    environment: EnvironmentTable = Field(default_factory=EnvironmentTable)
    solution: SolutionTable = Field(default_factory=SolutionTable)
    source: Text | None = None
    multi_step_reward_strategy: Literal["mean", "final"] | None = None
    steps: list[StepTable] = Field(default_factory=list)
    artifacts: Artifacts = Field(default_factory=list)


def read_config(text: str, *, name: str) -> tuple[TaskConfig, tuple[str, ...]]:
    """The task.toml's text as `TaskConfig`, with a warning for each key that hbench does not know.

    Args:
        text: The file's content.
        name: How errors call the file. Warnings call it by its last part, since they are kept in sealed files.

    Raises:
        TaskError: With file, line and key.
    """
    document = parse_toml(text, name=name, error=TaskError)
    try:
        migrated = migrate(document)
    except OldKeyError as problem:
        line = line_of(text, problem.location)
        where = name if line is None else f"{name}:{line}"
        raise TaskError(str(problem), where=where, hint=problem.hint) from problem
    config = validate(migrated, TaskConfig, text=text, name=name, error=TaskError)
    return config, unknown_keys(migrated, TaskConfig, text=text, file=Path(name).name)
