"""Read environment files; the rules are in FORMAT.md."""

import re

START = re.compile(r"[ \t]*(?:export[ \t]+(?=[^ \t=]))?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
NOTHING = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|\Z)")
BARE = re.compile(r"(?:(?![ \t]#)[^\n])*")
SINGLE = re.compile(r"'([^']*)'")
DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
PAIR_OR_REFERENCE = re.compile(r"\\(.)|" + REFERENCE.pattern, re.DOTALL)
PAIRS = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


class EnvFileError(ValueError):
    """An assignment cannot be read.

    Attributes:
        line: The number of the line on which it begins; the first line is number 1.
    """

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


def parse(text: str) -> dict[str, str]:
    """The assignments of a file, in the order in which their names first appear."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    values: dict[str, str] = {}
    position = 0
    while position < len(text):
        if nothing := NOTHING.match(text, position):
            position = nothing.end()
            continue
        line = text.count("\n", 0, position) + 1
        start = START.match(text, position)
        if not start:
            raise EnvFileError("this is no assignment", line)
        value, position = read_value(text, start.end(), values, line)
        values[start["name"]] = value
    return values


def read_value(text: str, position: int, values: dict[str, str], line: int) -> tuple[str, int]:
    """The value that begins there, and where the next line begins."""
    if text[position : position + 1] not in ("'", '"'):
        if nothing := NOTHING.match(text, position):
            return "", nothing.end()
        bare = BARE.match(text, position)
        value = REFERENCE.sub(lambda reference: values.get(reference[1], ""), bare[0].strip(" \t"))
        return value, NOTHING.match(text, bare.end()).end()
    quoted = (SINGLE if text[position] == "'" else DOUBLE).match(text, position)
    if not quoted:
        raise EnvFileError("the quote is never closed", line)
    rest = NOTHING.match(text, quoted.end())
    if not rest:
        raise EnvFileError("there is more after the closing quote", line)
    if quoted.re is SINGLE:
        return quoted[1], rest.end()
    return PAIR_OR_REFERENCE.sub(lambda found: resolved(found, values), quoted[1]), rest.end()


def resolved(found: re.Match[str], values: dict[str, str]) -> str:
    """What a backslash pair or a reference in double quotes stands for."""
    if found[1] is None:
        return values.get(found[2], "")
    return PAIRS.get(found[1], found[0])
