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


def never_got_to_the_agent(exception_type: str | None, *, agent_begun: bool) -> bool:
    """Whether the ending says that the agent could not work, for reasons that are not its own (E01).

    Only such a trial may be run again (R05), and only such a trial is an infrastructure failure by its ending: an agent
    that had begun could have broken the container itself, to have its failure taken for the machine's.
    """
    return exception_type in SETUP_FAILED | NO_MODEL and not agent_begun
