"""What pydantic finds wrong with a TOML value, said in TOML's words instead of Python's."""

from collections.abc import Mapping
from datetime import date, time
from typing import Any

from hbench.text import safe

_LONGEST_NUMBER_BITS = 256

ALLOWED: Mapping[str, str] = {
    r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$": "letters, digits, dots, underscores and hyphens, 64 at most, "
    "the first a letter or digit",
    r"^[a-z0-9][a-z0-9._-]{0,63}$": "lower-case letters, digits, dots, underscores and hyphens, 64 at most, "
    "the first a letter or digit",
    r"^[A-Za-z0-9][A-Za-z0-9._/-]*(@[A-Za-z0-9._-]+)?$": "a dataset's name and version such as hbench-core@1",
    r"^[^\s\x00-\x1f\x7f]{1,200}$": "1 to 200 characters without blanks and control characters",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "a variable's name: letters, digits and underscores, the first no digit",
    r"^[a-zA-Z0-9][a-zA-Z0-9._-]*/[a-zA-Z0-9][a-zA-Z0-9._-]*$": "organisation/name, each of letters, digits, dots, "
    "underscores and hyphens, the first a letter or digit",
    r"^\s*[1-9][0-9]*(x[1-9][0-9]*)+\s*$": "a topology such as 2x2",
    r"^[^\s\x00]+$": "an image's name without blanks",
    r"^[a-zA-Z0-9][a-zA-Z0-9_.-]*$": "letters, digits, dots, underscores and hyphens, the first a letter or digit",
}
"""Each pattern that a file's value must match -> what it allows."""


def message(fault: Mapping[str, Any], *, key: str, is_table_list: bool) -> str:
    """What is wrong, as it goes on after the key.

    Args:
        fault: One of pydantic's errors.
        key: The key that it is about, without indices.
        is_table_list: Whether the key is a list of tables, or an entry of one.
    """
    kind = fault["type"]
    if kind == "missing":
        return "is required"
    if kind == "string_pattern_mismatch":
        return f"must be {ALLOWED[fault['ctx']['pattern']]}"
    if kind in ("list_type", "model_type") and is_table_list:
        return f"[[{key}]] is a list of tables: write two brackets, and the entry's keys below"
    if kind == "model_type":
        return f"is one table: write [{key}], and its keys below"
    if kind == "dict_type":
        return "must be a table"
    return str(fault["msg"]).removeprefix("Value error, ")


def shown(value: Any) -> str:
    """The value as a TOML file has it, short and safe to print."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, int) and value.bit_length() > _LONGEST_NUMBER_BITS:
        return "a very long number"
    return safe(repr(value), 80)
