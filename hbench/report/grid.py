"""A table as data, and its two looks: rich on a terminal, one line a row anywhere else."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hbench.text import safe

GAP = 2
NAMES = 2
NONE = "-"
COPY_WIDTH = 4096
NARROWEST_TABLE = 60
"""A terminal of fewer cells could not hold a table's figures whole."""
STYLES = {"all errored": "bold red", "not run": "yellow"}


@dataclass(frozen=True, kw_only=True)
class Column:
    header: str
    numeric: bool = False


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A titled table whose first two columns name the job. Cells hold text that is safe to show."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def width(grid: Grid) -> int:
    """Terminal cells that `as_rich` takes when nothing is folded."""
    return sum(_column_widths(grid)) + GAP * (len(grid.columns) - 1)


def stacked(grid: Grid) -> Grid:
    """The same with harness and model in one column, one above the other; a missing model takes no line."""
    first, second, *others = grid.columns
    merged = Column(header=f"{first.header}\n{second.header}")
    rows = tuple(("\n".join(name for name in row[:NAMES] if name not in ("", NONE)), *row[NAMES:]) for row in grid.rows)
    return replace(grid, columns=(merged, *others), rows=rows)


def without_repeats(grid: Grid) -> Grid:
    """The same with a job named only in its first row."""
    rows = [
        ("", "", *row[NAMES:]) if before is not None and before[:NAMES] == row[:NAMES] else row
        for before, row in zip((None, *grid.rows), grid.rows, strict=False)
    ]
    return replace(grid, rows=tuple(rows))


def has_tables(console: Console) -> bool:
    """Whether tables are for this console: a terminal that is not too narrow."""
    return console.is_terminal and console.width >= NARROWEST_TABLE


def show(console: Console, grid: Grid) -> None:
    """Print it: as a table where there are tables, else one line a row, however long."""
    if has_tables(console):
        console.print(as_rich(grid))
        return
    for line in as_lines(grid):
        console.out(line, highlight=False)


def show_list(console: Console, heading: str, lines: Iterable[str]) -> None:
    """Print paths or commands that can be copied: safe to show, and never broken. Nothing where there are none."""
    for number, line in enumerate(lines):
        if number == 0:
            console.print(f"\n{heading}", style="bold")
        console.print(Text(f"  {safe(line, COPY_WIDTH)}"), soft_wrap=True)


def as_rich(grid: Grid) -> Table:
    """Names fold when the terminal is too narrow, numbers never do, and nothing is read as markup."""
    table = Table(
        title=Text(grid.title),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, GAP - 1, 0, 0),  # the box's divider is the other cell of the gap
    )
    for column in grid.columns:
        table.add_column(
            Text(column.header),
            justify="right" if column.numeric else "left",
            overflow="fold",
            no_wrap=column.numeric,
            vertical="top",
        )
    for row in grid.rows:
        table.add_row(*(Text(cell, style=STYLES.get(cell, "")) for cell in row))
    return table


def as_lines(grid: Grid) -> Iterator[str]:
    """The title, the header and a line a row, columns two spaces apart: for logs, pipes and grep."""
    widths = _column_widths(grid)
    header = tuple(column.header.replace("\n", " ") for column in grid.columns)
    widths = [max(known, cell_len(text)) for known, text in zip(widths, header, strict=True)]
    yield grid.title
    for row in (header, *grid.rows):
        cells = [
            " " * (size - cell_len(cell)) + cell if column.numeric else cell + " " * (size - cell_len(cell))
            for column, size, cell in zip(grid.columns, widths, row, strict=True)
        ]
        yield (" " * GAP).join(cells).rstrip()


def _column_widths(grid: Grid) -> list[int]:
    cells = ((column.header, *(row[place] for row in grid.rows)) for place, column in enumerate(grid.columns))
    return [max(cell_len(line) for cell in column for line in cell.split("\n")) for column in cells]
