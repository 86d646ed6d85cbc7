"""What an ending means: the bucket of its trial, whether it may run again, whose failure it was (E01, E04, E05).

docs/endings.md has the same as a table.
"""

VERIFIER_BROKEN = frozenset(
    {
        "RewardFileNotFoundError",
        "RewardFileEmptyError",
        "VerifierOutputParseError",
        "VerifierTimeoutError",
        "RewardTamperedError",
    }
)
SETUP_FAILED = frozenset(
    {
        "EnvironmentBuildError",
        "EnvironmentStartError",
        "HealthcheckError",
        "AgentSetupError",
        "AgentSetupTimeoutError",
        "EgressError",
        "EngineError",
    }
)
NO_MODEL = frozenset({"AgentAuthenticationError", "ModelUnreachableError"})
"""Where the agent had begun, it could work for a while, and its trial is graded."""

CANCELLED = "CancelledError"
NOT_RUN = "not run"
"""The bucket of a cancelled trial, and of one that was never started."""


def bucket(reward: float | None, exception_type: str | None) -> str:
    """`passed`, `failed`, `timed out, passed`, `timed out, failed`, `verifier broken`, `not run` or `infra: <type>`.

    Two questions decide: is there a reward, and is there an exception.
    """
    if reward is None:
        if exception_type in VERIFIER_BROKEN:
            return "verifier broken"
        return NOT_RUN if exception_type == CANCELLED else f"infra: {exception_type}"
    word = "passed" if reward == 1.0 else "failed"
    return f"timed out, {word}" if exception_type == "AgentTimeoutError" else word


def may_run_again(exception_type: str | None, *, agent_begun: bool) -> bool:
    """Whether a trial that ended so may be run again: it never got to the agent (R05)."""
    return exception_type in SETUP_FAILED | NO_MODEL and not agent_begun


def is_infrastructure_error(exception_type: str | None, *, agent_begun: bool) -> bool:
    """Whether the ending alone says that the agent could not work, for reasons that are not its own (E01)."""
    return exception_type in SETUP_FAILED or may_run_again(exception_type, agent_begun=agent_begun)
