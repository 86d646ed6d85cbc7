"""What a verifier's files say, in every good and bad shape (DESIGN 6)."""

import json
import math
from typing import Any

import pydantic_core
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbench.results.reward import MAX_REWARD_BYTES, Parsed, RewardProblem, parse_reward

NOT_FOUND = "RewardFileNotFoundError"
EMPTY = "RewardFileEmptyError"
UNPARSABLE = "VerifierOutputParseError"


def problem_of(txt: bytes | None, json_: bytes | None) -> RewardProblem:
    """Why there is no reward; its message is one printable line."""
    with pytest.raises(RewardProblem) as caught:
        parse_reward(txt, json_)
    assert caught.value.message.isprintable()
    return caught.value


@pytest.mark.parametrize(
    ("txt", "reward"),
    [
        ("1", 1.0),
        ("0", 0.0),
        (" 0.5 ", 0.5),
        ("\n1\r\n", 1.0),
        ("1.", 1.0),
        (".25", 0.25),
        ("+1", 1.0),
        ("5e-1", 0.5),
        ("1E0", 1.0),
        ("0.1", 0.1),
        ("-0", 0.0),
        ("1e-400", 0.0),
        ("0.9999999999999999", 0.9999999999999999),
        ("000001", 1.0),
    ],
)
def test_a_number_within_0_and_1_is_a_reward(txt: str, reward: float) -> None:
    """White space around it is no fault."""
    parsed = parse_reward(txt.encode(), None)
    assert parsed == Parsed(rewards={"reward": reward})
    assert math.copysign(1, parsed.reward) == 1


@pytest.mark.parametrize(
    "txt",
    [
        *("-1", "2", "1.0000000000000002", "-0.1", "nan", "NaN", "inf", "-Infinity", "1e309", "-1e309", "true"),
        *("1_0", "0x1", "1,0", "0.5 0.5", "1\n0", "1\0", "one", "--1", ".", "e1", "1e", "None", "9" * 60_000),
        *("\u0660", "\uff11", "\u00bd", "1\u00a0", "\ufeff1"),  # digits and white space of other scripts
        *("[1]", '{"reward": 1}', '"1"'),
    ],
)
def test_anything_else_in_reward_txt_is_no_reward(txt: str) -> None:
    """What Python's own float() reads beyond that, such as `1_0`, included."""
    assert problem_of(txt.encode(), None).exception_type == UNPARSABLE


@pytest.mark.parametrize("blank", [b"", b" ", b"\n\n", b"\t \r\n"])
def test_a_blank_file_is_an_empty_one(blank: bytes) -> None:
    """Whichever of the two it is, and whatever the other says."""
    for txt, json_ in ((blank, None), (None, blank), (blank, b'{"reward": 1}'), (b"1", blank)):
        assert problem_of(txt, json_).exception_type == EMPTY


def test_no_file_is_an_ending_of_its_own() -> None:
    assert problem_of(None, None).exception_type == NOT_FOUND


@pytest.mark.parametrize(
    ("text", "rewards", "flags"),
    [
        ('{"reward": 1}', {"reward": 1.0}, ()),
        ('{"reward": 0.5, "speed": -3.5}', {"reward": 0.5, "speed": -3.5}, ()),
        ('{"speed": 1e6, "reward": 0}', {"reward": 0.0, "speed": 1e6}, ()),
        ('{"score": 0.25}', {"reward": 0.25, "score": 0.25}, ("reward_from_only_key",)),
        ('{"a": 0, "b": 1, "c": 1}', {"reward": 2 / 3, "a": 0.0, "b": 1.0, "c": 1.0}, ("reward_is_mean_of_keys",)),
        ('{"Reward": 1, "x": 0}', {"reward": 0.5, "Reward": 1.0, "x": 0.0}, ("reward_is_mean_of_keys",)),
        ('{"größe": 1}', {"reward": 1.0, "größe": 1.0}, ("reward_from_only_key",)),
        (' {"reward": -0.0}\n', {"reward": 0.0}, ()),
    ],
)
def test_the_headline_is_reward_else_the_only_key_else_the_mean(
    text: str, rewards: dict[str, float], flags: tuple[str, ...]
) -> None:
    """It stands first, the other keys in the order of the file."""
    parsed = parse_reward(None, text.encode())
    assert list(parsed.rewards.items()) == list(rewards.items())
    assert parsed.flags == flags


@pytest.mark.parametrize(
    "text",
    [
        *("1", "0.5", '"1"', "true", "null", "[]", "[1]", "{}", '{"reward": 1', "nan", "{'reward': 1}", "{} {}"),
        *('{"reward": "1"}', '{"reward": true}', '{"reward": null}', '{"reward": [1]}', '{"reward": {"reward": 1}}'),
        *('{"reward": NaN}', '{"reward": Infinity}', '{"reward": 1e309}', '{"reward": 2}', '{"reward": -0.5}'),
        *('{"reward": 1, "x": NaN}', '{"reward": 1, "x": "fast"}', '{"reward": 1, "x": false}'),
        *('{"reward": 1, "x": 1e309}', '{"reward": 0, "reward": 1}', '{"reward": 1, "x": 0, "x": 0}'),
        '{"reward": ' + "9" * 400 + "}",
        '{"reward": ' + "9" * 5000 + "}",
        '{"reward": 1, "x": ' + "9" * 400 + "}",
        "[" * 60_000,
        '{"a":' * 10_000,
        *('{"\\ud800": 1}', '{"a\\nb": 1}', '{"\\u001b[2J": 1}', '{"": 1}', '{"reward": 1_0}', '{"reward": 01}'),
        '\ufeff{"reward": 1}',
    ],
)
def test_anything_else_in_reward_json_is_no_reward(text: str) -> None:
    """A bare number, strings, booleans, names that stand twice, and what would bring the parser down."""
    assert problem_of(None, text.encode("utf-8")).exception_type == UNPARSABLE


def test_bytes_that_are_no_text_are_no_reward() -> None:
    assert problem_of(b"\xff1", None).exception_type == UNPARSABLE
    assert problem_of(None, b'{"reward": 1, "\xff": 0}').exception_type == UNPARSABLE


@pytest.mark.parametrize("text", ['{"a": 2, "b": 0}', '{"a": -1, "b": 1}', '{"tokens": 5000}'])
def test_every_part_of_a_mean_is_within_0_and_1(text: str) -> None:
    """Else 2 and 0 would make a pass. Beside a key `reward`, any finite number may stand."""
    assert problem_of(None, text.encode()).exception_type == UNPARSABLE


@pytest.mark.parametrize(
    ("txt", "text"), [("1", '{"reward": 1.0}'), ("0.5", '{"a": 0, "b": 1}'), ("0", '{"x": 0}'), ("-0", '{"reward": 0}')]
)
def test_two_files_that_agree_give_the_keys_of_the_json(txt: str, text: str) -> None:
    """They agree when their headlines are equal."""
    assert parse_reward(txt.encode(), text.encode()) == parse_reward(None, text.encode())


@pytest.mark.parametrize(
    ("txt", "text"), [("1", '{"reward": 0}'), ("0.33", '{"a": 0, "b": 0, "c": 1}'), ("x", '{"reward": 1}'), ("1", "1")]
)
def test_two_files_that_disagree_or_of_which_one_is_bad_give_no_reward(txt: str, text: str) -> None:
    assert problem_of(txt.encode(), text.encode()).exception_type == UNPARSABLE


def test_a_file_over_the_cap_is_not_parsed() -> None:
    """White space counts as well."""
    assert MAX_REWARD_BYTES == 65_536
    assert parse_reward(b"1" + b" " * (MAX_REWARD_BYTES - 1), None).reward == 1.0
    assert problem_of(b"1" + b" " * MAX_REWARD_BYTES, None).exception_type == UNPARSABLE
    padded = b'{"reward": 1}'.ljust(MAX_REWARD_BYTES + 1)
    assert problem_of(None, padded).exception_type == UNPARSABLE


def test_the_message_says_what_was_read_on_one_printable_line() -> None:
    """It goes into a result and onto a terminal."""
    message = problem_of(b"\x1b[2Jpassed\n\xff" + b"x" * 500, None).message
    assert "passed" in message
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 300


def oracle_txt(data: bytes) -> float | None:
    """The reward by other means: Python's float, behind a gate of characters."""
    text = data.decode("latin-1").strip(" \t\n\r\x0b\x0c")
    if len(data) > 65536 or set(text) - set("0123456789+-.eE"):
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return abs(number) if 0 <= number <= 1 else None


def oracle_json(data: bytes) -> float | None:
    """The reward by other means: another JSON parser, then the rule word by word."""
    try:
        value = pydantic_core.from_json(data, allow_inf_nan=False, cache_strings=False)
    except ValueError:
        return None
    pairs = json.loads(data, object_pairs_hook=lambda found: found)
    if not isinstance(value, dict) or len(pairs) != len(value) or not value or len(data) > 65536:
        return None
    if any(type(one) not in (int, float) or not name.isprintable() or not name for name, one in value.items()):
        return None
    if not all(abs(one) < 2**1024 and math.isfinite(one) for one in value.values()):
        return None
    used = [value["reward"]] if "reward" in value else list(value.values())
    return sum(map(float, used)) / len(used) if all(0 <= one <= 1 for one in used) else None


NUMBERS = st.one_of(
    st.floats().map(repr),
    st.floats(-0.5, 1.5).map(repr),
    st.integers(-2, 3).map(str),
    st.sampled_from(["1", "0", "0.5", " 1\n", "1_0", "nan", "1e309", "true", ""]),
    st.text("0123456789+-.eE_ \n", max_size=8),
    st.text(max_size=6),
)


@given(st.binary(max_size=40) | NUMBERS.map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"1_0")
def test_reward_txt_is_read_as_an_independent_reader_reads_it(data: bytes) -> None:
    """Nothing but a RewardProblem is ever raised."""
    wanted = oracle_txt(data)
    if wanted is None:
        assert problem_of(data, None).exception_type in {EMPTY, UNPARSABLE}
    else:
        assert parse_reward(data, None).reward == wanted


VALUES = st.one_of(
    st.floats(-0.2, 1.2),
    st.floats(),
    st.integers(-1, 2),
    st.integers(),
    st.booleans(),
    st.none(),
    st.text(max_size=3),
    st.lists(st.integers(), max_size=2),
)
OBJECTS = st.dictionaries(st.sampled_from(["reward", "a", "b", "", "x\n", "größe"]), VALUES, max_size=4)


@given(OBJECTS.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=40))
@example(b'{"a": 1, "a": 1}')
def test_reward_json_is_read_as_an_independent_reader_reads_it(data: bytes) -> None:
    """Nothing but a RewardProblem is ever raised."""
    wanted = oracle_json(data)
    if wanted is None:
        assert problem_of(None, data).exception_type in {EMPTY, UNPARSABLE}
    else:
        assert parse_reward(None, data).reward == pytest.approx(wanted, abs=1e-15)


@given(
    st.none() | st.binary(max_size=20) | NUMBERS.map(str.encode), st.none() | OBJECTS.map(json.dumps).map(str.encode)
)
def test_whatever_is_read_the_headline_is_within_0_and_1_and_first(txt: Any, json_: Any) -> None:
    """And every other number is finite."""
    try:
        parsed = parse_reward(txt, json_)
    except RewardProblem:
        return
    assert next(iter(parsed.rewards)) == "reward"
    assert 0.0 <= parsed.reward <= 1.0
    assert all(type(one) is float and math.isfinite(one) for one in parsed.rewards.values())
