"""What can be said about a task without running it: warnings, each with file and line. Pure, but for `lint` itself."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hbench.task.model import Task
from hbench.tomlfile import MOST_TEXT_BYTES

_WORDS = re.compile(r"\b(check(?:er|ing script)s?|verifiers?|graders?|benchmarks?|solutions?)\b", re.IGNORECASE)
_TESTS = re.compile(r"(?<![\w./-])/tests\b|\btest\.sh\b")
_ABSOLUTE = re.compile(r"(?<![\w.:/<-])/[A-Za-z0-9._-]+")
_CODE = frozenset(".sh .bash .py .js .mjs .ts .rb .pl .go .rs .c .java".split())  # noqa: SIM905

_SET = re.compile(r"(?:^|[;&|({])\s*set((?:\s+[-+][A-Za-z]+|\s+(?:pipefail|errexit|nounset|xtrace))+)")
_REWARD_WRITTEN = re.compile(r">+\s*[\"']?[^\s;|&]*reward|\btee\b.*reward", re.IGNORECASE)
_ZERO_WRITTEN = re.compile(r"\b(?:echo|printf)\s+(?:-n\s+)?[\"']?(?:0(?:\.0+)?\b|\{[^}]*:\s*0(?:\.0+)?\s*\})")
_GUARD = re.compile(r"\|\||&&|^(?:if|elif|while|until|!)\s")
_STATUS = re.compile(r"\$\?")
_CONTROL = re.compile(r"^(?:then|else|fi|do|done|\{|\}|(?:el)?if\s+(?:\[|test\b).*)$")


@dataclass(frozen=True, kw_only=True)
class Lint:
    """What was found.

    Attributes:
        warnings: For people; none makes a task invalid.
        errexit: Where the test script turns on `set -e` in a way that keeps it from writing a 0, as `file:line`.
    """

    warnings: tuple[str, ...] = ()
    errexit: str | None = None


def lint(task: Task) -> Lint:
    """Read the task's instruction and test script (FEATURES T15, T17)."""
    shown = {path.name for path in (task.folder / "environment").rglob("*")}
    held_out = {path.name for path in task.tests.rglob("*") if path.suffix in _CODE and path.is_file()}
    found = list(instruction_warnings(_text(task, "instruction.md"), held_out - shown))
    line = errexit_line(_text(task, "tests/test.sh"))
    errexit = None if line is None else f"tests/test.sh:{line}"
    if errexit is not None:
        found.append(
            f"{errexit}: with `set -e` a failing test ends the script before it writes 0; take it out, or put `set +e` "
            "before the test command"
        )
    return Lint(warnings=tuple(found), errexit=errexit)


def _text(task: Task, name: str) -> str:
    with (task.folder / name).open("rb") as file:
        return file.read(MOST_TEXT_BYTES).decode(errors="replace")


def instruction_warnings(text: str, test_files: Iterable[str]) -> Iterator[str]:
    """An instruction speaks of the work and where it goes, not of how it is judged; each word is named once."""
    own = [rf"(?<![\w./-]){re.escape(name)}(?![\w-])" for name in sorted(test_files)]
    tests = re.compile("|".join([_TESTS.pattern, *own]))
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        for found in [*_WORDS.finditer(line), *tests.finditer(line)]:
            word = found[0].lower()
            if word not in seen:
                seen.add(word)
                yield f'instruction.md:{number}: mentions "{found[0]}"; say what is to be done, not how it is judged'
    if _ABSOLUTE.search(text) is None:
        yield "instruction.md:1: names no absolute path; say where the work is to be"


def errexit_line(script: str) -> int | None:
    """The 1-based line that turns on `set -e`, if a failing test would then end the script without a reward.

    A rule of thumb: it looks at the last command before the reward is written or `$?` is read. Harmless are a command
    whose failure is caught (`if`, `||`, `&&`, `set +e`, a trap), and a 0 that is written beforehand.
    """
    on, command = None, ""
    for number, line in _commands(script):
        switched = _switched(line)
        if switched is not None:
            on = (on or number) if switched else None
        elif line.startswith("trap "):
            return None
        elif on is not None:
            is_written = _REWARD_WRITTEN.search(line) is not None
            if is_written or _STATUS.search(line):
                harmless = _GUARD.search(command) or _ZERO_WRITTEN.search(line) or not command
                caught_itself = is_written and _GUARD.search(line) and not _STATUS.search(line)
                return None if harmless or caught_itself else on
            command = command if _CONTROL.match(line) else line
    return None


def _commands(script: str) -> Iterator[tuple[int, str]]:
    """Line number and text of each line that is no comment, continued lines joined."""
    held, start = "", 1
    for number, raw in enumerate(script.splitlines(), start=1):
        line = raw.strip()
        start = start if held else number
        if line.endswith("\\"):
            held += line[:-1]
        elif (whole := held + line) and not whole.startswith("#"):
            yield start, whole
            held = ""
        else:
            held = ""


def _switched(line: str) -> bool | None:
    """Whether the line turns `set -e` on or off; None if it does neither."""
    found = None
    for match in _SET.finditer(line):
        words = match[1].split()
        for before, word in zip(["", *words], words, strict=False):
            if word == "errexit" and before[-1:] == "o":
                found = before[0] == "-"
            elif word[0] in "+-" and "e" in word:
                found = word[0] == "-"
    return found
