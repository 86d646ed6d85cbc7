"""What the tests may write as a reward, and what is none: each shape in a real container."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from tests.docker.lab import Lab, Ran, together

pytestmark = pytest.mark.docker

NOT_FOUND = "RewardFileNotFoundError"
EMPTY = "RewardFileEmptyError"
UNPARSABLE = "VerifierOutputParseError"
_COPY = 'cd /logs/verifier\nfor file in /tests/reward.*; do [ ! -f "$file" ] || cp "$file" .; done\n'


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What the tests leave in /logs/verifier.

    Attributes:
        txt, json: The bytes of reward.txt and of reward.json; None for no such file.
        script: What the tests do besides, in that folder.
    """

    txt: bytes | None = None
    json: bytes | None = None
    script: str = ""


GOOD: Mapping[str, tuple[Shape, float, set[str]]] = {
    "one": (Shape(txt=b"1"), 1.0, set()),
    "zero with a line end": (Shape(txt=b"0\n"), 0.0, set()),
    "blanks around a fraction": (Shape(txt=b" 0.5 "), 0.5, set()),
    "a Windows line end": (Shape(txt=b"1\r\n"), 1.0, set()),
    "an exponent": (Shape(txt=b"1e-1"), 0.1, set()),
    "no leading digit": (Shape(txt=b".25"), 0.25, set()),
    "minus zero": (Shape(txt=b"-0.0"), 0.0, set()),
    "an object": (Shape(json=b'{"reward": 1}'), 1.0, set()),
    "an object with more": (Shape(json=b'{"loss": 12.5, "reward": 0.25}'), 0.25, set()),
    "an only key": (Shape(json=b'{"accuracy": 0.5}'), 0.5, {"reward_from_only_key"}),
    "several keys": (Shape(json=b'{"a": 1, "b": 0}'), 0.5, {"reward_is_mean_of_keys"}),
    "both agree": (Shape(txt=b"0.5\n", json=b'{"reward": 0.50}'), 0.5, set()),
    "a file copied over a link": (Shape(script="ln -s /etc/passwd x; rm x; echo 1 > reward.txt"), 1.0, set()),
    "a non-zero exit": (Shape(txt=b"1", script="exit 3"), 1.0, {"verifier_exit_nonzero"}),
    "a non-zero exit without a pass": (Shape(txt=b"0", script="exit 1"), 0.0, set()),
    "a link beside it": (
        Shape(txt=b"1", script="ln -s /etc/shadow leak"),
        1.0,
        {"verifier_files_not_collected"},
    ),
    "too large a log before it": (
        Shape(txt=b"1", script="truncate -s 3G a.log"),
        1.0,
        {"verifier_files_not_collected"},
    ),
}

BAD: Mapping[str, tuple[Shape, str, str]] = {
    "below the range": (Shape(txt=b"-1"), UNPARSABLE, "outside 0..1"),
    "above the range": (Shape(txt=b"2"), UNPARSABLE, "outside 0..1"),
    "just above the range": (Shape(txt=b"1.0000001"), UNPARSABLE, "outside 0..1"),
    "nan": (Shape(txt=b"nan"), UNPARSABLE, "'nan'"),
    "infinity": (Shape(txt=b"inf"), UNPARSABLE, "'inf'"),
    "an overflow": (Shape(txt=b"1e309"), UNPARSABLE, "not finite"),
    "a word": (Shape(txt=b"true"), UNPARSABLE, "'true'"),
    "an underscore": (Shape(txt=b"1_0"), UNPARSABLE, "'1_0'"),
    "a decimal comma": (Shape(txt=b"0,5"), UNPARSABLE, "'0,5'"),
    "two numbers": (Shape(txt=b"1 0"), UNPARSABLE, "'1 0'"),
    "a percentage": (Shape(txt=b"100%"), UNPARSABLE, "'100%'"),
    "hexadecimal": (Shape(txt=b"0x1"), UNPARSABLE, "'0x1'"),
    "digits of another script": (Shape(txt="\u0661".encode()), UNPARSABLE, "not one number"),
    "a NUL": (Shape(txt=b"1\0"), UNPARSABLE, "not one number"),
    "a byte order mark": (Shape(txt=b"\xef\xbb\xbf1"), UNPARSABLE, "not one number"),
    "UTF-16": (Shape(txt="1\n".encode("utf-16")), UNPARSABLE, "not one number"),
    "100 KB": (Shape(txt=b"1" + b" " * 100_000), UNPARSABLE, "larger than 65536 bytes"),
    "empty": (Shape(txt=b""), EMPTY, "reward.txt is empty (0 bytes)"),
    "blank": (Shape(txt=b" \r\n"), EMPTY, "reward.txt is empty (3 bytes)"),
    "nothing": (Shape(), NOT_FOUND, "neither reward.txt nor reward.json"),
    "an empty object": (Shape(json=b"{}"), UNPARSABLE, "not an object with at least one number"),
    "a bare number": (Shape(json=b"0.7"), UNPARSABLE, "not an object with at least one number"),
    "an array": (Shape(json=b"[1]"), UNPARSABLE, "not an object with at least one number"),
    "a number as a string": (Shape(json=b'{"reward": "1"}'), UNPARSABLE, "'reward' is not a number"),
    "a boolean": (Shape(json=b'{"reward": true}'), UNPARSABLE, "'reward' is not a number"),
    "null": (Shape(json=b'{"reward": null}'), UNPARSABLE, "'reward' is not a number"),
    "a nested object": (Shape(json=b'{"reward": {"value": 1}}'), UNPARSABLE, "'reward' is not a number"),
    "NaN in JSON": (Shape(json=b'{"reward": NaN}'), UNPARSABLE, "reward.json"),
    "an overflow in JSON": (Shape(json=b'{"reward": 1e309}'), UNPARSABLE, "reward.json"),
    "an infinite second key": (Shape(json=b'{"reward": 1, "loss": Infinity}'), UNPARSABLE, "reward.json"),
    "a mean of more than rewards": (Shape(json=b'{"a": 1, "b": 7}'), UNPARSABLE, "outside 0..1"),
    "the same key twice": (Shape(json=b'{"reward": 0, "reward": 1}'), UNPARSABLE, "reward.json"),
    "an end too early": (Shape(json=b'{"reward": 1'), UNPARSABLE, "reward.json"),
    "something after it": (Shape(json=b'{"reward": 1} 2'), UNPARSABLE, "reward.json"),
    "JSON with a byte order mark": (Shape(json=b'\xef\xbb\xbf{"reward": 1}'), UNPARSABLE, "reward.json"),
    "JSON in UTF-16": (Shape(json='{"reward": 1}'.encode("utf-16")), UNPARSABLE, "reward.json"),
    "deeply nested": (Shape(json=b'{"a":' * 5000 + b"1" + b"}" * 5000), UNPARSABLE, "reward.json"),
    "an empty JSON file": (Shape(json=b""), EMPTY, "reward.json is empty (0 bytes)"),
    "both disagree": (Shape(txt=b"1", json=b'{"reward": 0}'), UNPARSABLE, "reward.txt says 1.0 and reward.json says 0"),
    "a bad one beside a good one": (Shape(txt=b"1", json=b'{"reward": "x"}'), UNPARSABLE, "is not a number"),
    "an empty one beside a good one": (Shape(txt=b"", json=b'{"reward": 1}'), EMPTY, "reward.txt is empty"),
    "another name": (Shape(script='echo "{\\"reward\\": 1}" > rewards.json'), NOT_FOUND, "neither"),
    "a link to a good file": (Shape(script="echo 1 > x; ln -s x reward.txt"), NOT_FOUND, "reward.txt is a symbolic"),
    "a link to nowhere": (Shape(script="ln -s /nowhere reward.json"), NOT_FOUND, "reward.json is a symbolic link"),
    "a hard link in the folder": (Shape(script="echo 1 > a; ln a reward.txt"), NOT_FOUND, "reward.txt is a hard link"),
    "a folder": (Shape(script="mkdir reward.txt; echo 1 > reward.txt/1"), NOT_FOUND, "neither"),
    "a named pipe": (Shape(script="mkfifo reward.txt"), NOT_FOUND, "reward.txt is a named pipe"),
    "a device": (Shape(script="mknod reward.txt c 1 5"), NOT_FOUND, "reward.txt is a device"),
    "a terabyte": (Shape(script="truncate -s 1T reward.txt"), NOT_FOUND, "reward.txt"),
    "a file in the folder's place": (Shape(script="cd /; rm -rf logs/verifier; echo 1 > logs/verifier"), NOT_FOUND, ""),
    "no folder": (Shape(script="cd /; rm -rf logs"), NOT_FOUND, "neither"),
}


@pytest.fixture(scope="module")
def trial(lab: Lab) -> Iterator[Callable[[str], Ran]]:
    """One trial a shape."""
    yield from together(lab, {name: fields_of(shape) for name, (shape, *_) in [*GOOD.items(), *BAD.items()]})


def fields_of(shape: Shape) -> dict[str, Any]:
    files = {"tests/reward.txt": shape.txt, "tests/reward.json": shape.json}
    return {
        "tests": f"echo judging\n{_COPY}{shape.script}\n",
        "files": {name: data for name, data in files.items() if data is not None},
    }


@pytest.mark.parametrize("name", GOOD)
def test_a_good_reward_is_read_as_the_number_it_is(trial: Callable[[str], Ran], name: str) -> None:
    """Whatever blanks, exponents or other scores stand around it."""
    _, reward, flags = GOOD[name]
    ran = trial(name)
    assert (ran.ending, ran.flags) == ((None, reward), flags), ran.message


@pytest.mark.parametrize("name", BAD)
def test_anything_else_is_no_reward_and_the_message_says_what_was_read(trial: Callable[[str], Ran], name: str) -> None:
    """With the exit status and the end of the tests' output, so that a person sees why."""
    _, ending, said = BAD[name]
    ran = trial(name)
    assert ran.ending == (ending, None)
    assert said in ran.message
    assert "exit status 0" in ran.message
    assert "judging" in ran.message


def test_every_score_is_kept_with_the_headline_first(trial: Callable[[str], Ran]) -> None:
    """As the tests wrote them."""
    found = trial("an object with more").record.verifier_result
    assert found is not None
    assert list(found.rewards.items()) == [("reward", 0.25), ("loss", 12.5)]


def test_what_is_no_file_is_not_copied_to_the_host(trial: Callable[[str], Ran]) -> None:
    """No link, pipe or device of a container becomes one here."""
    for name in ("a link to a good file", "a named pipe", "a device", "a link to nowhere"):
        folder = trial(name).file("verifier")
        assert all(path.is_file() and not path.is_symlink() for path in folder.iterdir()), name
