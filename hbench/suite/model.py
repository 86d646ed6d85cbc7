"""What a suite file may say (pydantic: an unknown key or a wrong type is an error)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

OWN_DATASET = "hbench-core@1"
"""What a suite without a `[dataset]` runs: the tasks that ship with hbench."""

TIMED_PHASES = ("agent", "verifier", "build", "setup")
"""Those to which `[limits]` gives a time: `<phase>_timeout_sec`, `<phase>_timeout_multiplier`."""

Text = Annotated[str, Field(min_length=1)]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of an environment variable."""


class _Table(BaseModel):
    # Strict: true is no number and 1.0 no count; a TOML integer is still welcome where seconds are a float.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class SuiteTable(_Table):
    """`[suite]`."""

    name: str = Field(default="adhoc", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")
    attempts: int = Field(default=1, ge=1, le=5)
    seed: int = Field(default=0, ge=0)
    concurrency: int = Field(default=4, ge=1, le=256)


class DatasetTable(_Table):
    """`[dataset]`: a name of the catalog or a folder, and which of its tasks.

    Attributes:
        sample: So many of the tasks that include and exclude leave, drawn with the suite's seed.
        first: So many of those, the first by name; after the sample was drawn. Harbor's `-l`.
        holdout: Globs over the names of tasks whose results are reported apart.
    """

    name: str | None = Field(default=None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*(@[A-Za-z0-9._-]+)?$")
    path: Text | None = None
    build: Literal["fallback"] | None = None
    include: list[Text] = Field(default_factory=lambda: ["*"], min_length=1)
    exclude: list[Text] = Field(default_factory=list)
    sample: int | None = Field(default=None, ge=1)
    first: int | None = Field(default=None, ge=1)
    holdout: list[Text] = Field(default_factory=list)


class LimitsTable(_Table):
    """`[limits]`: seconds, MiB and counts; a multiplier scales what the task says."""

    agent_timeout_sec: float | None = Field(default=None, ge=0.1, le=604_800)
    agent_timeout_multiplier: float = Field(default=1.0, ge=0.001, le=100)
    verifier_timeout_sec: float | None = Field(default=None, ge=0.1, le=604_800)
    verifier_timeout_multiplier: float = Field(default=1.0, ge=0.001, le=100)
    build_timeout_sec: float | None = Field(default=None, ge=0.1, le=604_800)
    build_timeout_multiplier: float = Field(default=1.0, ge=0.001, le=100)
    setup_timeout_sec: float | None = Field(default=None, ge=0.1, le=604_800)
    setup_timeout_multiplier: float = Field(default=1.0, ge=0.001, le=100)
    memory_mb: int | None = Field(default=None, ge=16, le=16_777_216)
    cpus: float | None = Field(default=None, ge=0.01, le=1024)
    pids: int | None = Field(default=None, ge=16, le=4_194_304)
    max_turns: int | None = Field(default=None, ge=1)
    max_cost_usd: float | None = Field(default=None, gt=0)
    max_tokens: int | None = Field(default=None, ge=1)
    max_requests: int | None = Field(default=None, ge=1)
    max_output_tokens: int | None = Field(default=None, ge=1)


class NetworkTable(_Table):
    """`[network]`: what the agent may reach while it works."""

    mode: Literal["allowlist", "open", "none"] = "allowlist"
    allow: list[Text] = Field(default_factory=list)
    ca_bundle: Text | None = None
    upstream_proxy: Text | None = None


class VerifierTable(_Table):
    """`[verifier]`."""

    mode: Literal["live", "snapshot"] = "live"


class HarnessTable(_Table):
    """`[[harness]]`: a built-in harness by name, or an adapter folder by path."""

    name: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")
    path: Text | None = None
    version: Text | None = None
    options: dict[str, Any] = Field(default_factory=dict)


class ModelEntry(_Table):
    """`[[model]]`: the exact id, who serves it, and the variable that holds the key."""

    name: str = Field(pattern=r"^[^\s\x00-\x1f\x7f]{1,200}$")
    provider: Text | None = None
    base_url: Text | None = None
    protocol: Text | None = None
    api_key_env: Variable | None = None
    access: Literal["proxy", "direct"] = "proxy"
    extra_models: list[Text] = Field(default_factory=list)
    sampling: dict[str, Any] = Field(default_factory=dict)


class RetryTable(_Table):
    """`[retry]`: only trials that ended before the agent had begun."""

    max_retries: int = Field(default=0, ge=0, le=10)


class EnvTable(_Table):
    """`[env]`: host variables that task templates may read."""

    pass_: list[Variable] = Field(default_factory=list, alias="pass")


class Suite(_Table):
    """A suite: what `hbench run` is asked to do."""

    suite: SuiteTable = Field(default_factory=SuiteTable)
    dataset: DatasetTable = Field(default_factory=lambda: DatasetTable(name=OWN_DATASET))
    limits: LimitsTable = Field(default_factory=LimitsTable)
    network: NetworkTable = Field(default_factory=NetworkTable)
    verifier: VerifierTable = Field(default_factory=VerifierTable)
    harness: list[HarnessTable] = Field(default_factory=list)
    model: list[ModelEntry] = Field(default_factory=list)
    retry: RetryTable = Field(default_factory=RetryTable)
    env: EnvTable = Field(default_factory=EnvTable)
