"""What a suite file may say (pydantic: an unknown key or a wrong type is an error)."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SuiteTable(_Table):
    """`[suite]`."""

    name: str = Field(default="adhoc", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    attempts: int = Field(default=1, ge=1, le=5)
    seed: int = Field(default=0, ge=0)
    concurrency: int = Field(default=4, ge=1, le=256)


class DatasetTable(_Table):
    """`[dataset]`: a name of the catalog or a folder, and which of its tasks."""

    name: str | None = None
    path: str | None = None
    build: Literal["fallback"] | None = None
    include: list[str] = Field(default_factory=lambda: ["*"])
    exclude: list[str] = Field(default_factory=list)
    sample: int | None = Field(default=None, ge=1)
    holdout: list[str] = Field(default_factory=list)


class LimitsTable(_Table):
    """`[limits]`: seconds, MiB and counts; a multiplier scales what the task says."""

    agent_timeout_sec: float | None = Field(default=None, gt=0, le=604_800)
    agent_timeout_multiplier: float = Field(default=1.0, gt=0, le=100)
    verifier_timeout_sec: float | None = Field(default=None, gt=0, le=604_800)
    verifier_timeout_multiplier: float = Field(default=1.0, gt=0, le=100)
    build_timeout_sec: float | None = Field(default=None, gt=0, le=604_800)
    build_timeout_multiplier: float = Field(default=1.0, gt=0, le=100)
    setup_timeout_sec: float | None = Field(default=None, gt=0, le=604_800)
    setup_timeout_multiplier: float = Field(default=1.0, gt=0, le=100)
    memory_mb: int | None = Field(default=None, ge=16)
    cpus: float | None = Field(default=None, gt=0, le=1024)
    pids: int | None = Field(default=None, ge=16)
    max_turns: int | None = Field(default=None, ge=1)
    max_cost_usd: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    max_requests: int | None = Field(default=None, ge=1)
    max_output_tokens: int | None = Field(default=None, ge=1)


class NetworkTable(_Table):
    """`[network]`: what the agent may reach while it works."""

    mode: Literal["allowlist", "open", "none"] = "allowlist"
    allow: list[str] = Field(default_factory=list)
    ca_bundle: str | None = None
    upstream_proxy: str | None = None


class VerifierTable(_Table):
    """`[verifier]`."""

    mode: Literal["live", "snapshot"] = "live"


class HarnessTable(_Table):
    """`[[harness]]`."""

    name: str | None = None
    path: str | None = None
    version: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class ModelEntry(_Table):
    """`[[model]]`."""

    name: str
    provider: str | None = None
    base_url: str | None = None
    protocol: str | None = None
    api_key_env: str | None = None
    access: Literal["proxy", "direct"] = "proxy"
    extra_models: list[str] = Field(default_factory=list)
    sampling: dict[str, Any] = Field(default_factory=dict)


class RetryTable(_Table):
    """`[retry]`: only trials that ended before the agent had begun."""

    max_retries: int = Field(default=0, ge=0, le=10)


class EnvTable(_Table):
    """`[env]`: host variables that task templates may read."""

    pass_: list[str] = Field(default_factory=list, alias="pass")


class Suite(_Table):
    """A suite: what `hbench run` is asked to do."""

    suite: SuiteTable = Field(default_factory=SuiteTable)
    dataset: DatasetTable = Field(default_factory=DatasetTable)
    limits: LimitsTable = Field(default_factory=LimitsTable)
    network: NetworkTable = Field(default_factory=NetworkTable)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    harness: list[HarnessTable] = Field(default_factory=list)
    model: list[ModelEntry] = Field(default_factory=list)
    retry: RetryTable = Field(default_factory=RetryTable)
    env: EnvTable = Field(default_factory=EnvTable)
