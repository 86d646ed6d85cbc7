"""Which bucket a trial falls into, by two questions: is there a reward, and is there an exception (E04, E05)."""

VERIFIER_BROKEN = frozenset(
    {
        "RewardFileNotFoundError",
        "RewardFileEmptyError",
        "VerifierOutputParseError",
        "VerifierTimeoutError",
        "RewardTamperedError",
    }
)
NOT_RUN = "CancelledError"


def bucket(reward: float | None, exception_type: str | None) -> str:
    """`passed`, `failed`, `timed out, passed`, `timed out, failed`, `verifier broken`, `not run` or `infra: <type>`."""
    if reward is None:
        if exception_type in VERIFIER_BROKEN:
            return "verifier broken"
        return "not run" if exception_type == NOT_RUN else f"infra: {exception_type}"
    word = "passed" if reward == 1.0 else "failed"
    return f"timed out, {word}" if exception_type == "AgentTimeoutError" else word


NOT_BEGUN = frozenset(
    {
        "EnvironmentBuildError",
        "EnvironmentStartError",
        "HealthcheckError",
        "AgentSetupError",
        "AgentSetupTimeoutError",
        "EgressError",
        "EngineError",
        "AgentAuthenticationError",
        "ModelUnreachableError",
    }
)
"""Endings that may be retried or resumed, if the agent had not begun."""


def may_run_again(exception_type: str | None, *, agent_begun: bool) -> bool:
    """Whether a trial that ended so may be run again: it never got to the agent (R05)."""
    return exception_type in NOT_BEGUN and not agent_begun
