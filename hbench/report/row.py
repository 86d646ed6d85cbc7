"""What the figures need of one trial."""

from dataclasses import dataclass, field
from typing import Self

from hbench.results.buckets import NOT_RUN, bucket, never_got_to_the_agent
from hbench.results.record import AgentResult, TrialRecord, Usage


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """One trial's record, reduced.

    Attributes:
        input_tokens, output_tokens: Harbor's sense (input includes cache); None when unknown, which is not 0.
        actions: Executed tool calls; None when unknown.
        agent_time_s: How long the agent worked, without setup and tests; None when it never began.
    """

    task: str
    attempt: int
    reward: float | None
    exception_type: str | None
    agent_begun: bool = False
    input_tokens: int | None = None
    output_tokens: int | None = None
    actions: int | None = None
    cost_usd: float | None = None
    agent_time_s: float | None = None
    usage: Usage = field(default_factory=Usage)

    @classmethod
    def of(cls, record: TrialRecord) -> Self:
        agent = record.agent_result or AgentResult()
        worked = record.agent_execution
        return cls(
            task=record.task_name,
            attempt=record.attempt,
            reward=record.reward,
            exception_type=record.exception_type,
            agent_begun=record.agent_begun,
            input_tokens=agent.n_input_tokens,
            output_tokens=agent.n_output_tokens,
            actions=record.actions,
            cost_usd=agent.cost_usd,
            agent_time_s=worked.duration_s if worked else None,
            usage=record.usage,
        )

    @property
    def bucket(self) -> str:
        return bucket(self.reward, self.exception_type)

    @property
    def ran(self) -> bool:
        """False for a trial that was cancelled before it had a reward."""
        return self.bucket != NOT_RUN


def is_infrastructure_failure(row: TrialRow, *, has_model: bool) -> bool:
    """Whether the agent could not work at all, for reasons that are not its own (E01, C22).

    Either the error is a setup or environment error; or the trial spent no token, earned no reward and called no tool.
    Unknown tokens are not 0. Unknown tool calls do not speak against it: where no token was spent, no model asked for
    one. A harness without a model spends no token when all is well, so with `has_model` False only the first half is
    asked. A cancelled trial did not fail.
    """
    if not row.ran:
        return False
    if never_got_to_the_agent(row.exception_type, agent_begun=row.agent_begun):
        return True
    silent = row.input_tokens == 0 and row.output_tokens == 0
    return has_model and silent and not row.reward and not row.actions
