"""On which line of a TOML document each key stands; tomllib gives the values, not where they are.

The document has been read by tomllib before, so it is valid and this reader need only follow its structure.
"""

import re
import tomllib
from collections.abc import Iterator

Location = tuple[int | str, ...]

_TOKEN = re.compile(
    r'''(?P<string>"""(?:\\.|[^\\])*?"""{1,3}|\'\'\'.*?\'\'\'{1,3}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'''
    r"""|(?P<skip>\#[^\n]*|[ \t\r]+)"""
    r"""|(?P<mark>[\n\[\]{}=,.])"""
    r"""|(?P<bare>[^\s\[\]{}=,.\#"']+)""",
    re.DOTALL,
)


def key_lines(text: str) -> dict[Location, int]:
    """The 1-based line of every table header, key, inline key and array item, by its path.

    An array of tables and a plain array both add the item's index to the path, as pydantic's locations do. A table
    without a header of its own stands where it is first named. Of a document that is nested almost too deeply for
    tomllib nothing is known.
    """
    reader = _Reader(text)
    try:
        reader.document()
    except RecursionError:
        return {}
    return reader.lines


class _Reader:
    """A cursor over the tokens that leave out blanks and comments."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Location, int] = {}
        self._tokens = _tokens(text)
        self._advance()

    def _advance(self) -> None:
        self._kind, self._piece, self._line = next(self._tokens)

    def _skip_newlines(self) -> None:
        while self._piece == "\n":
            self._advance()

    def _note(self, path: Location, line: int) -> None:
        for depth in range(1, len(path)):
            self.lines.setdefault(path[:depth], line)
        self.lines[path] = line

    def document(self) -> None:
        table: Location = ()
        tables: dict[Location, int] = {}
        while self._kind != "end":
            if self._piece == "\n":
                self._advance()
            elif self._piece == "[":
                table = self._header(tables)
            else:
                self._pair(table)

    def _header(self, tables: dict[Location, int]) -> Location:
        """Read `[a.b]` or `[[a.b]]`; `tables` counts the items of each array of tables seen so far."""
        line = self._line
        self._advance()
        is_item = self._piece == "["
        if is_item:
            self._advance()
        names = self._key()
        path: Location = ()
        for depth, name in enumerate(names, start=1):
            path = (*path, name)
            if is_item and depth == len(names):
                tables[path] = tables.get(path, -1) + 1
            if path in tables:
                path = (*path, tables[path])
        self._note(path, line)
        while self._piece == "]":
            self._advance()
        return path

    def _key(self) -> list[str]:
        """Read a dotted key; the cursor ends behind it."""
        parts = [_unquoted(self._kind, self._piece)]
        self._advance()
        while self._piece == ".":
            self._advance()
            parts.append(_unquoted(self._kind, self._piece))
            self._advance()
        return parts

    def _pair(self, table: Location) -> None:
        line = self._line
        path = (*table, *self._key())
        self._note(path, line)
        self._advance()  # the equals sign
        self._value(path)

    def _value(self, path: Location) -> None:
        if self._piece == "[":
            self._items(path)
        elif self._piece == "{":
            self._inline_table(path)
        else:
            while self._kind != "end" and self._piece not in ("\n", ",", "]", "}"):
                self._advance()

    def _items(self, path: Location) -> None:
        self._advance()
        index = 0
        self._skip_newlines()
        while self._piece != "]":
            self._note((*path, index), self._line)
            self._value((*path, index))
            index += 1
            self._separator()
        self._advance()

    def _inline_table(self, path: Location) -> None:
        self._advance()
        self._skip_newlines()
        while self._piece != "}":
            self._pair(path)
            self._separator()
        self._advance()

    def _separator(self) -> None:
        self._skip_newlines()
        if self._piece == ",":
            self._advance()
            self._skip_newlines()


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    """(kind, token, line), ending in endless "end" tokens."""
    position, line = 0, 1
    while match := _TOKEN.match(text, position):
        position = match.end()
        kind = match.lastgroup or ""
        if kind != "skip":
            yield kind, match[0], line
        line += match[0].count("\n")
    while True:
        yield "end", "", line


def _unquoted(kind: str, token: str) -> str:
    return token if kind != "string" else next(iter(tomllib.loads(f"{token} = 0")))
