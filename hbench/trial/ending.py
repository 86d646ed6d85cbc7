"""How a trial can end other than well (docs/endings.md). Each is a recorded result, not an error of hbench."""


class TrialEnding(Exception):  # noqa: N818 - the names below are the field's
    """Something that ends a trial without a reward; the class's name is its `exception_type`."""

    @property
    def exception_type(self) -> str:
        return type(self).__name__


class EnvironmentBuildError(TrialEnding):
    """The task's image could not be pulled or built."""


class EnvironmentStartError(TrialEnding):
    """The task's container did not start, or lacks what every trial needs."""


class HealthcheckError(TrialEnding):
    """The task's healthcheck never passed."""


class AgentSetupError(TrialEnding):
    """The harness could not be put in place or started."""


class AgentSetupTimeoutError(TrialEnding):
    """Putting the harness in place took longer than its limit."""


class EngineFailure(TrialEnding):
    """The engine failed during the trial."""

    @property
    def exception_type(self) -> str:
        return "EngineError"


class CancelledError(TrialEnding):
    """A person stopped the run while the trial was going on."""


class RewardTamperedError(TrialEnding):
    """A reward file was there that the tests did not write."""


class VerifierTimeoutError(TrialEnding):
    """The tests did not end within their limit."""


class RewardFileNotFoundError(TrialEnding):
    """The tests ended and left no reward file."""


class RewardFileEmptyError(TrialEnding):
    """The reward file holds nothing."""


class VerifierOutputParseError(TrialEnding):
    """What the tests wrote is no reward."""


REWARD_ENDINGS: dict[str, type[TrialEnding]] = {
    kind.__name__: kind for kind in (RewardFileNotFoundError, RewardFileEmptyError, VerifierOutputParseError)
}
