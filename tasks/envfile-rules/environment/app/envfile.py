"""Read environment files; the rules are in FORMAT.md."""

import re

NAME = re.compile(r"\w+$")


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
    values: dict[str, str] = {}
    for number, line in enumerate(text.splitlines()):
        line = line.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("export"):
            line = line[len("export") :].strip()
        if "=" not in line:
            raise EnvFileError("there is no =", number)
        name, value = line.split("=")[:2]
        name = name.strip()
        if not NAME.match(name):
            raise EnvFileError(f"{name!r} is not a name", number)
        values[name] = unquote(value.strip(), values)
    return values


def unquote(value: str, values: dict[str, str]) -> str:
    """The value without its quotes, escapes and references resolved."""
    if value.startswith("'"):
        return value.strip("'")
    if value.startswith('"'):
        value = value.strip('"').replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    for name in values:
        value = value.replace("${" + name + "}", values[name])
    return value
