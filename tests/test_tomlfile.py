"""Errors in TOML files name the file, the line, the key and what was meant."""

import string
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from hbench.adapter.model import AdapterFile
from hbench.errors import SuiteError
from hbench.suite.model import Suite
from hbench.task.config import TaskConfig
from hbench.tomlfile import known_keys, line_of, nearest, parse_toml, read_text, validate
from hbench.tomllines import Location, key_lines
from hbench.tomlwords import ALLOWED


class Leaf(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    colour: str = "red"
    size: int = 1


class Tree(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    leaf: list[Leaf] = Field(default_factory=list)
    best: Leaf | None = None
    by_name: dict[str, Leaf] = Field(default_factory=dict)
    lists: dict[str, list[Leaf]] = Field(default_factory=dict)
    import_: str = Field(default="", alias="import")


def tree(text: str) -> Tree:
    return validate(parse_toml(text, name="t.toml", error=SuiteError), Tree, text=text, name="t.toml", error=SuiteError)


def refusal(text: str) -> str:
    with pytest.raises(SuiteError) as caught:
        tree(text)
    return str(caught.value)


ODD = '''\
# [not.a.table]
title = "x = 1"
"quoted.key" = 2
'single' = 3
a.b."c d".e = 4
block = """
[fake]
b = 1
""" # after
raw = \'\'\'
[[fake]]
"""
\'\'\'
nested = [
  "[x]",  # a = 1
  ["y", { deep = 1, deeper = { x = "}" } }],
  { key = 'a # b' },
]
inline = { one = 1, two.three = [1, 2], "four five" = "{" }
[table] # comment ] [
k = 1
[ spaced . "name ]" ]
k = 2
[[item]]
v = 1
[[item.sub]]
w = 1
[[item.sub]]
w = 2
[item.one]
z = 1
[[item]]
v = 2
[[item.sub]]
w = 3
[late.child]
x = 1
[late]
y = 1
quotes = """a""""
after = "\\""
'''

ODD_LINES: list[tuple[Location, int]] = [
    (("title",), 2),
    (("quoted.key",), 3),
    (("single",), 4),
    (("a", "b", "c d", "e"), 5),
    (("a", "b"), 5),
    (("block",), 6),
    (("raw",), 10),
    (("nested",), 14),
    (("nested", 0), 15),
    (("nested", 1), 16),
    (("nested", 1, 1, "deep"), 16),
    (("nested", 1, 1, "deeper", "x"), 16),
    (("nested", 2, "key"), 17),
    (("inline", "one"), 19),
    (("inline", "two", "three", 1), 19),
    (("inline", "four five"), 19),
    (("table",), 20),
    (("table", "k"), 21),
    (("spaced", "name ]"), 22),
    (("spaced", "name ]", "k"), 23),
    (("item", 0), 24),
    (("item", 0, "v"), 25),
    (("item", 0, "sub", 0, "w"), 27),
    (("item", 0, "sub", 1, "w"), 29),
    (("item", 0, "one", "z"), 31),
    (("item", 1, "v"), 33),
    (("item", 1, "sub", 0, "w"), 35),
    (("late", "child", "x"), 37),
    (("late",), 38),
    (("late", "y"), 39),
    (("late", "quotes"), 40),
    (("late", "after"), 41),
]


@pytest.mark.parametrize(("loc", "line"), ODD_LINES)
def test_a_key_is_found_wherever_toml_allows_it(loc: Location, line: int) -> None:
    """Dotted, quoted and inline keys, nested arrays of tables, and text that only looks like a key."""
    tomllib.loads(ODD)
    assert line_of(ODD, loc) == line


@pytest.mark.parametrize("name", ["fake", "b", "not"])
def test_what_only_looks_like_a_key_is_none(name: str) -> None:
    """Strings, comments and arrays may hold lines that read like TOML."""
    assert line_of(ODD, (name,)) is None


def test_windows_line_ends_count_once() -> None:
    """CRLF is one line end, as in an editor."""
    assert line_of("a = 1\r\n\r\n[t]\r\nb = 2\r\n", ("t", "b")) == 4


def test_other_line_separators_inside_strings_do_not_count() -> None:
    """TOML lines end in LF or CRLF alone."""
    assert line_of('a = "x\u2028y\u0085z"\nb = 1\n', ("b",)) == 2


def test_a_missing_key_is_reported_where_its_table_begins() -> None:
    """The closest thing that does stand in the file."""
    assert line_of("[t]\nx = 1\n", ("t", "absent")) == 1
    assert line_of("", ("absent",)) is None


KEYS = st.text(string.ascii_letters + string.digits + "-_ .\"'[]=#\\é", max_size=6)
LEAVES = st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=12), st.floats(allow_nan=False))
DOCUMENTS = st.dictionaries(
    KEYS,
    st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)),
    max_size=4,
)


def paths(value: Any, at: Location = ()) -> set[Location]:
    """Every path in plain TOML values."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = {at} if at else set()
    for part, item in inner:
        found |= paths(item, (*at, part))
    return found


@settings(deadline=None)
@given(DOCUMENTS, st.booleans())
def test_every_key_of_any_document_has_a_line(document: dict[str, Any], multiline: bool) -> None:
    """The reader of lines finds the same structure as tomllib, whatever a writer made of it."""
    text = tomli_w.dumps(document, multiline_strings=multiline)
    lines = key_lines(text)
    assert set(lines) == paths(tomllib.loads(text))
    assert all(1 <= line <= text.count("\n") for line in lines.values())


def test_an_unknown_key_names_its_line_and_the_nearest_known_one() -> None:
    """A misspelt setting can switch nothing off in silence (R08)."""
    said = refusal('name = "x"\n[[leaf]]\n[[leaf]]\ncolor = "blue"\n')
    assert said.startswith('t.toml:4: unknown key "leaf.color"')
    assert 'Did you mean "colour"?' in said


def test_a_wrong_type_names_key_line_and_value() -> None:
    said = refusal('name = "x"\n[best]\nsize = "big"\n')
    assert said == "t.toml:3: \"best.size\": Input should be a valid integer\n  It says 'big'; correct it."


def test_a_required_key_that_is_missing_is_named() -> None:
    assert refusal("leaf = []\n") == 't.toml: "name": is required'


def test_the_first_fault_of_the_file_is_reported_first() -> None:
    """A person corrects a file from the top."""
    assert refusal("[[leaf]]\nsize = true\n[best]\nsiz = 1\n[by_name]\n").startswith('t.toml: "name"')
    assert refusal('name = "x"\n[best]\nsize = true\n[by_name.a]\nsiz = 1\n').startswith("t.toml:3")


def test_control_characters_of_a_file_do_not_reach_the_message() -> None:
    """A quoted key may hold an escape sequence."""
    said = refusal('name = "x"\n"\\u001b[31mred" = 1\n')
    assert "\x1b" not in said
    assert "\N{REPLACEMENT CHARACTER}[31mred" in said


@pytest.mark.parametrize(
    ("text", "where"),
    [("a = 1\nb = \n", "t.toml:2"), ("a = 1\na = 2\n", "t.toml:2"), ("a = 2020-13-40\n", "t.toml:1")],
)
def test_a_syntax_error_names_its_line(text: str, where: str) -> None:
    with pytest.raises(SuiteError, match="not valid TOML") as caught:
        parse_toml(text, name="t.toml", error=SuiteError)
    assert str(caught.value).startswith(f"{where}: ")


@pytest.mark.parametrize("text", ["a = " + "[" * 20_000 + "]" * 20_000, "a = " + "1" * 20_000])
def test_a_document_made_to_break_readers_is_a_plain_error(text: str) -> None:
    """Task files are hostile: neither endless nesting nor endless digits may end in a traceback."""
    with pytest.raises(SuiteError):
        parse_toml(text, name="t.toml", error=SuiteError)


def test_nesting_that_tomllib_bears_never_breaks_the_search_for_a_line() -> None:
    """The line is a courtesy; without one the error still names the file."""
    deepest: str | None = None
    for depth in range(50, 2000, 50):
        text = "a = " + "[" * depth + "]" * depth
        try:
            tomllib.loads(text)
        except RecursionError:
            break
        deepest = text
    assert deepest is not None
    assert line_of(deepest, ("a",)) in (1, None)


@pytest.mark.parametrize(
    ("loc", "known"),
    [
        (("x",), {"name", "leaf", "best", "by_name", "lists", "import"}),
        (("leaf", 3, "x"), {"colour", "size"}),
        (("best", "x"), {"colour", "size"}),
        (("by_name", "anything", "x"), {"colour", "size"}),
        (("lists", "anything", 0, "x"), {"colour", "size"}),
        (("name", "x"), set()),
        (("import", "x"), set()),
        (("nowhere", 1, "x"), set()),
    ],
)
def test_known_keys_are_those_of_the_table_around(loc: Location, known: set[str]) -> None:
    """Through lists, dicts, optional tables and aliases."""
    assert set(known_keys(Tree, loc)) == known


def test_a_word_unlike_any_other_gets_no_suggestion() -> None:
    assert nearest("zzz", ["alpha", "beta"]) == "Known: alpha, beta."
    assert nearest("alpa", ["alpha", "beta"]).endswith('Did you mean "alpha"?')


def test_a_byte_order_mark_is_not_a_syntax_error(tmp_path: Path) -> None:
    (tmp_path / "bom.toml").write_bytes(b"\xef\xbb\xbfa = 1\n")
    assert read_text(tmp_path / "bom.toml", error=SuiteError, hint="") == "a = 1\n"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """Absent, a folder, too large, or not UTF-8: each ends with the path and the next step."""
    (tmp_path / "latin").write_bytes(b"\xe9")
    (tmp_path / "large").write_bytes(b"#" * (2**20 + 1))
    with pytest.raises(SuiteError, match="is larger than 1 MiB"):
        read_text(tmp_path / "large", error=SuiteError, hint="Check the path.")
    with pytest.raises(SuiteError, match="no such file"):
        read_text(tmp_path / "absent", error=SuiteError, hint="Check the path.")
    with pytest.raises(SuiteError, match="is not a regular file"):
        read_text(tmp_path, error=SuiteError, hint="Check the path.")
    with pytest.raises(SuiteError, match="not UTF-8 at byte 0"):
        read_text(tmp_path / "latin", error=SuiteError, hint="Check the path.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[leaf]\nsize = 1\n", '"leaf": [[leaf]] is a list of tables: write two brackets'),
        ('leaf = ["a"]\n', '"leaf": [[leaf]] is a list of tables: write two brackets'),
        ("[[best]]\n", '"best": is one table: write [best]'),
        ("best = 1\n", '"best": is one table: write [best]'),
        ("by_name = 1\n", '"by_name": must be a table'),
        ("best.size = true\n", "It says true;"),
        ("best.size = 1979-05-27\n", "It says 1979-05-27;"),
        ("best.colour = 0x" + "f" * 9000 + "\n", "It says a very long number;"),
    ],
)
def test_what_is_wrong_is_said_in_the_words_of_toml(text: str, said: str) -> None:
    """Whoever writes a file need not know Python."""
    assert said in refusal(f'name = "x"\n{text}')


def test_a_number_of_thousands_of_digits_is_no_advice_for_programmers() -> None:
    with pytest.raises(SuiteError, match=r"^t\.toml: holds a number of too many digits\n  Write a shorter number\.$"):
        parse_toml("a = " + "1" * 20_000, name="t.toml", error=SuiteError)


def patterns(schema: Any) -> set[str]:
    """Every pattern in a JSON schema."""
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    found = {schema["pattern"]} if isinstance(schema, dict) and isinstance(schema.get("pattern"), str) else set()
    return found.union(*map(patterns, inner))


@pytest.mark.parametrize("model", [Suite, AdapterFile, TaskConfig])
def test_every_pattern_of_a_file_is_put_into_words(model: type[BaseModel]) -> None:
    """A bare regular expression helps few people."""
    found = patterns(model.model_json_schema())
    assert found
    assert found <= ALLOWED.keys()
