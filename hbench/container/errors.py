"""How an operation on the engine can end other than well. In a trial each becomes a recorded ending."""

from hbench.errors import HbenchError


class RefusedError(HbenchError):
    """The engine refused this one operation; the message is the engine's own."""

    exit_code = 4


class GoneError(RefusedError):
    """The container that the operation was about is not there, or not running, any more."""


class BuildFailed(RefusedError):  # noqa: N818 - names how a build ends, as the trial's endings do
    """The image cannot be built, or not within its time; the message ends with what the builder said last."""


class Cancelled(Exception):  # noqa: N818 - a request by a person, not an error
    """The run was asked to stop; whatever was under way is given up at once."""
