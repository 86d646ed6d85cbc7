"""The reward files of a verifier -> rewards, or the reason why there is none. Pure."""

import math
import re
from dataclasses import dataclass
from typing import Any

from hbench.errors import SealError
from hbench.results.files import load_json

MAX_REWARD_BYTES = 64 * 1024
"""A larger reward file is not parsed."""

HEADLINE = "reward"
MEAN_OF_KEYS = "reward_is_mean_of_keys"
ONLY_KEY = "reward_from_only_key"

NOT_FOUND = "RewardFileNotFoundError"
EMPTY = "RewardFileEmptyError"
UNPARSABLE = "VerifierOutputParseError"

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


class RewardProblem(Exception):  # noqa: N818 - a trial's recorded ending, not an error of hbench
    """Why there is no reward.

    Attributes:
        exception_type: `RewardFileNotFoundError`, `RewardFileEmptyError` or `VerifierOutputParseError`.
        message: What was read, as one printable line.
    """

    def __init__(self, exception_type: str, message: str) -> None:
        super().__init__(message)
        self.exception_type = exception_type
        self.message = message


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """What the verifier gave.

    Attributes:
        rewards: Finite numbers, `reward` first: the headline, within 0..1.
        flags: How the headline was found where no key `reward` named it.
    """

    rewards: dict[str, float]
    flags: tuple[str, ...] = ()

    @property
    def reward(self) -> float:
        """The headline."""
        return self.rewards[HEADLINE]


def parse_reward(txt: bytes | None, json_: bytes | None) -> Parsed:
    """The reward from the content of reward.txt and of reward.json; None stands for no such regular file.

    With both files there each must be good, and their headlines equal; the other keys then come from reward.json.

    Raises:
        RewardProblem: There is no reward.
    """
    from_txt = None if txt is None else _from_txt(txt)
    from_json = None if json_ is None else _from_json(json_)
    parsed = from_json or from_txt
    if parsed is None:
        raise RewardProblem(NOT_FOUND, "the tests wrote neither reward.txt nor reward.json as a regular file")
    if from_txt is not None and from_txt.reward != parsed.reward:
        raise RewardProblem(UNPARSABLE, f"reward.txt says {from_txt.reward!r} and reward.json says {parsed.reward!r}")
    return parsed


def _from_txt(data: bytes) -> Parsed:
    text = _content("reward.txt", data)
    if not _NUMBER.fullmatch(text):
        raise RewardProblem(UNPARSABLE, f"reward.txt is not one number: {_quoted(data)}")
    number = _finite("reward.txt", "the number", float(text))
    return Parsed(rewards={HEADLINE: _within("reward.txt", "the reward", number)})


def _from_json(data: bytes) -> Parsed:
    _content("reward.json", data)
    try:
        value = load_json(data, where="reward.json")
    except SealError as problem:
        raise RewardProblem(UNPARSABLE, f"reward.json {problem.what}: {_quoted(data)}") from problem
    if not isinstance(value, dict) or not value:
        raise RewardProblem(UNPARSABLE, f"reward.json is not an object with at least one number: {_quoted(data)}")
    return _headline({_name(key): _number(key, item) for key, item in value.items()})


def _headline(numbers: dict[str, float]) -> Parsed:
    """Put the headline first: `reward`, else the only key, else the mean of all keys, each of them within 0..1."""
    if HEADLINE in numbers:
        headline = _within("reward.json", f'"{HEADLINE}"', numbers[HEADLINE])
        return Parsed(rewards={HEADLINE: headline, **numbers})
    parts = [_within("reward.json", ascii(key[:60]), number) for key, number in numbers.items()]
    rewards = {HEADLINE: math.fsum(parts) / len(parts), **numbers}
    return Parsed(rewards=rewards, flags=(ONLY_KEY if len(parts) == 1 else MEAN_OF_KEYS,))


def _content(name: str, data: bytes) -> bytes:
    if len(data) > MAX_REWARD_BYTES:
        raise RewardProblem(UNPARSABLE, f"{name} is larger than {MAX_REWARD_BYTES} bytes: {_quoted(data)}")
    text = data.strip()
    if not text:
        raise RewardProblem(EMPTY, f"{name} is empty ({len(data)} bytes)")
    return text


def _name(key: str) -> str:
    if not key.isprintable() or not key:
        raise RewardProblem(UNPARSABLE, f"reward.json has a key that is not printable text: {key[:60]!a}")
    return key


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RewardProblem(UNPARSABLE, f"reward.json: {key[:60]!a} is not a number: {str(value)[:60]!a}")
    try:
        return _finite("reward.json", ascii(key[:60]), float(value))
    except OverflowError as problem:
        raise RewardProblem(UNPARSABLE, f"reward.json: {key[:60]!a} is too large a number") from problem


def _finite(name: str, what: str, number: float) -> float:
    if not math.isfinite(number):
        raise RewardProblem(UNPARSABLE, f"{name}: {what} is not finite")
    return number + 0.0  # -0.0 becomes 0.0


def _within(name: str, what: str, number: float) -> float:
    if not 0.0 <= number <= 1.0:
        raise RewardProblem(UNPARSABLE, f"{name}: {what} is {number!r}, outside 0..1")
    return number


def _quoted(data: bytes) -> str:
    """The first bytes of what was read, printable whatever they are."""
    text = ascii(data[:60].decode(errors="replace"))
    return text if len(data) <= 60 else f"{text}... ({len(data)} bytes)"  # noqa: PLR2004
