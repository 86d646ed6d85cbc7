"""docs/suite.md knows every key and every flag, and no other."""

import re
import typing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from hbench.cli.options import FLAG_OPTIONS
from hbench.suite.load import parse_suite
from hbench.suite.model import Suite

PAGE = (Path(__file__).parents[2] / "docs" / "suite.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    """What stands below the heading that begins so."""
    [text] = [part for part in re.split(r"^#+ ", PAGE, flags=re.MULTILINE) if part.startswith(title + "\n")]
    return text


def tables() -> list[tuple[str, type[BaseModel]]]:
    """Heading -> the model of that table."""
    found: list[tuple[str, Any]] = []
    for name, field in Suite.model_fields.items():
        repeated = typing.get_args(field.annotation)
        heading = f"`[[{name}]]`" if repeated else f"`[{name}]`"
        found.append((heading, repeated[0] if repeated else field.annotation))
    return found


@pytest.mark.parametrize(("heading", "model"), tables())
def test_every_key_of_a_table_has_a_row(heading: str, model: type[BaseModel]) -> None:
    """In the model's order, under the heading of its table."""
    rows = re.findall(r"^\| `(\w+)` \|", section(heading), flags=re.MULTILINE)
    assert rows == [field.alias or name for name, field in model.model_fields.items()]


@pytest.mark.parametrize(("heading", "model"), tables())
def test_a_default_that_is_written_down_is_the_default(heading: str, model: type[BaseModel]) -> None:
    """Numbers, words and empty lists; what the task decides is said in words."""
    for name, field in model.model_fields.items():
        row = re.search(rf"^\| `{field.alias or name}` \| (.*?) \| (.*?) ?\|", section(heading), flags=re.MULTILINE)
        assert row is not None
        default = field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, int | float):
            assert row[2] == str(default)
        elif isinstance(default, str):
            assert row[2] == f'`"{default}"`'
        elif default == ["*"]:
            assert row[2] == '`["*"]`'
        elif default in ([], {}):
            assert row[2] == f"`{default}`"


def test_every_flag_has_a_row() -> None:
    """With all its spellings."""
    rows = re.findall(r"^\| (`-.*?`) \|", section("Flags"), flags=re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`(-[\w-]+)`", row)}
    declared = {name for option in FLAG_OPTIONS.values() for name in (option.default, *option.param_decls)}
    shared = {
        "-o",
        "--jobs-dir",
        "--force-build",
        "--skip-invalid",
        "-q",
        "--quiet",
        "--silent",
        "-y",
        "--yes",
        "--json",
    }
    assert documented == declared | shared


def test_the_example_is_a_suite() -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    assert len(parse_suite(example, base=Path(), name="docs/suite.md").checked().suite.harness) == 2
