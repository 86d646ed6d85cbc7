"""Points in time as hbench writes them: ISO 8601 with a zone, UTC."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator


def now() -> str:
    """This moment, with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def instant(text: str) -> datetime:
    """The point in time; text that is none, or has no zone, is a ValueError."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        read = None
    if read is None or read.tzinfo is None:
        raise ValueError(f"{text[:40]!a} is not an ISO 8601 time with a zone")
    return read


def _checked(text: str) -> str:
    instant(text)
    return text


Moment = Annotated[str, AfterValidator(_checked)]
"""A string that `instant` can read."""
