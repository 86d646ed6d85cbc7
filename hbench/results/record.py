"""What one trial left: `result.json`, with Harbor's keys (Harbor's meaning) and hbench's own beside them."""

from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hbench.results.moment import Moment
from hbench.results.reward import HEADLINE

TRIAL_FORMAT: Final = "hbench/trial-result@1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Timing(_Part):
    """Wall-clock start and end (UTC, ISO 8601) and the monotonic duration between them."""

    started_at: Moment
    finished_at: Moment
    duration_s: float


class ModelInfo(_Part):
    name: str
    provider: str | None = None


class AgentInfo(_Part):
    name: str
    version: str
    model_info: ModelInfo | None = None


class AgentResult(_Part):
    """Token counts in Harbor's sense (input includes cache), null when unknown."""

    n_input_tokens: int | None = None
    n_cache_tokens: int | None = None
    n_output_tokens: int | None = None
    cost_usd: float | None = None
    exit_code: int | None = None


class VerifierResult(_Part):
    """`rewards` has `reward` (the headline) first, within 0..1."""

    rewards: dict[str, float]

    @model_validator(mode="after")
    def _has_a_headline(self) -> Self:
        if next(iter(self.rewards), None) != HEADLINE:
            raise ValueError(f'"{HEADLINE}" does not stand first in rewards')
        if not 0.0 <= self.rewards[HEADLINE] <= 1.0:
            raise ValueError(f"rewards.{HEADLINE} is {self.rewards[HEADLINE]!r}, outside 0..1")
        return self


class ExceptionInfo(_Part):
    exception_type: str
    exception_message: str


class Usage(_Part):
    """Disjoint token counts; reasoning is a part of output. `basis` says who counted."""

    input: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    output: int | None = None
    reasoning: int | None = None
    basis: Literal["proxy", "harness", "unknown"] = "unknown"


class TrialRecord(_Part):
    """`result.json` of a trial.

    Attributes:
        id: Globally unique (UUID4).
        trial_id: `task/configuration/attempt`.
        task_checksum: The `dirhash` sha256 of the task folder.
        agent_begun: Whether the agent had begun (docs: how a trial can end).
        starts: How often this trial was started, this one included.
        flags: Names of what a reader should know, sorted; none changes the reward.
    """

    format: Literal["hbench/trial-result@1"]
    id: str
    trial_id: str
    task_name: str
    trial_name: str
    task_checksum: str
    attempt: int
    agent_info: AgentInfo
    agent_result: AgentResult | None
    verifier_result: VerifierResult | None
    exception_info: ExceptionInfo | None
    started_at: Moment
    finished_at: Moment
    environment_setup: Timing | None
    agent_setup: Timing | None
    agent_execution: Timing | None
    verifier: Timing | None
    collect: Timing | None = None
    usage: Usage = Field(default_factory=Usage)
    actions: int | None = None
    turns: int | None = None
    network: dict[str, Any] = Field(default_factory=dict)
    stop_reason: str = "unknown"
    agent_begun: bool = False
    starts: int = Field(default=1, ge=1)
    flags: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _has_an_outcome(self) -> Self:
        if self.verifier_result is None and self.exception_info is None:
            raise ValueError("there is neither a reward nor an exception")
        return self

    @property
    def reward(self) -> float | None:
        """The headline reward, None when the verifier gave none."""
        return None if self.verifier_result is None else self.verifier_result.rewards[HEADLINE]

    @property
    def exception_type(self) -> str | None:
        return None if self.exception_info is None else self.exception_info.exception_type
