"""A table's two looks."""

import io

import pytest
from rich.console import Console

from hbench.report.grid import Column, Grid, as_lines, as_rich, stacked, width, without_repeats

GRID = Grid(
    title="Results",
    columns=(
        Column(header="Harness"),
        Column(header="Model"),
        Column(header="Every\ntime", numeric=True),
    ),
    rows=(("oracle@1", "-", "20/20"), ("claude-code@2", "数据模型", "3/20"), ("claude-code@2", "数据模型", "4/20")),
)


def shown(grid: Grid, cells: int) -> list[str]:
    console = Console(file=io.StringIO(), width=cells, force_terminal=True, color_system=None)
    console.print(as_rich(grid))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_plain_table_has_a_line_a_row_with_its_columns_below_each_other() -> None:
    """Wide characters take two cells."""
    assert list(as_lines(GRID)) == [
        "Results",
        "Harness        Model     Every time",
        "oracle@1       -              20/20",
        "claude-code@2  数据模型        3/20",
        "claude-code@2  数据模型        4/20",
    ]


def test_the_width_is_what_rich_takes() -> None:
    """Where it fits, nothing is folded; a cell less, and something is."""
    assert max(len(line.encode("utf-16-le")) // 2 for line in shown(GRID, 200)) == width(GRID)
    assert len(shown(GRID, width(GRID))) == len(shown(GRID, 200))
    assert len(shown(GRID, width(GRID) - 1)) > len(shown(GRID, 200))


def test_names_fold_and_lose_no_letter_and_numbers_stay_whole() -> None:
    """A name twice as wide as the terminal is still all there, and so is a number that is wider than what is left."""
    name = "".join(chr(ord("a") + i % 26) for i in range(160))
    number = "1234567890" * 5
    lines = shown(Grid(title="T", columns=GRID.columns, rows=((name, "-", number),)), 80)
    assert number in lines[4]
    assert "".join(line.split()[0] for line in lines[4:]) == name


def test_a_stacked_table_has_one_column_of_names_and_no_line_for_a_missing_model() -> None:
    """So that eighty columns are enough."""
    found = stacked(GRID)
    assert [column.header for column in found.columns] == ["Harness\nModel", "Every\ntime"]
    assert [row[0] for row in found.rows[:2]] == ["oracle@1", "claude-code@2\n数据模型"]
    assert width(found) < width(GRID)


def test_repeated_names_are_left_out_only_where_they_repeat() -> None:
    """On a terminal the eye groups; the second of two equal jobs in a row is a continuation."""
    assert [row[:2] for row in without_repeats(GRID).rows] == [
        ("oracle@1", "-"),
        ("claude-code@2", "数据模型"),
        ("", ""),
    ]


@pytest.mark.parametrize("hostile", ["[red]x[/red]", "[/]", ":boom:", "[link=file:///etc/passwd]x[/link]"])
def test_nothing_in_a_cell_is_read_as_markup(hostile: str) -> None:
    """Names of tasks and harnesses are not ours."""
    grid = Grid(title="T", columns=GRID.columns, rows=((hostile, hostile, hostile),))
    assert shown(grid, 200)[-1].split() == [hostile] * 3
