"""Dockerfiles, understood just enough to know where each instruction begins and ends."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_DIRECTIVE = re.compile(r"#\s*([A-Za-z][A-Za-z0-9]*)\s*=\s*(.+?)\s*")
_DIRECTIVES = {"syntax", "escape", "check"}
_COMMENT = re.compile(r"\s*#")
_INSTRUCTION = re.compile(r"\s*(?:ONBUILD\s+)?([A-Za-z]+)(?:\s+(.*))?", re.DOTALL | re.IGNORECASE)
_HEREDOC = re.compile(r"[0-9]*<<(-?)(['\"]?)([^'\"<\s]+)\2")
_TAKES_HEREDOCS = {"RUN", "COPY", "ADD"}
_FLAG = re.compile(r"--([a-z-]+)(?:=(\S*))?\s*")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?([-+])([^}]*))?\}|(\w+))")
_BUILDKIT_FLAGS = {
    "RUN": {"mount", "network", "security"},
    "COPY": {"link", "chmod", "parents", "exclude"},
    "ADD": {"link", "chmod", "checksum", "keep-git-dir", "exclude", "unpack"},
}


@dataclass(frozen=True, kw_only=True)
class Instruction:
    """One instruction.

    Attributes:
        keyword: In capitals, what an ONBUILD holds for ONBUILD.
        arguments: The rest, continuation lines joined, flags included.
        end: The number of the line after its last, counted from 0.
        has_heredoc: Lines of the file are its input.
    """

    keyword: str
    arguments: str
    end: int
    has_heredoc: bool


def instructions(text: str) -> list[Instruction]:
    """The instructions in order; what is not one is passed over, for the builder to complain about."""
    return list(_instructions(text.split("\n")))


def with_ca(text: str, *, image: str, env: Mapping[str, str]) -> str:
    """The Dockerfile with the files of `image` in every stage and `env` set for every RUN.

    The variables are build arguments, so the image does not keep them.
    """
    added = [f"COPY --from={image} / /", "ARG " + " ".join(f"{name}={value}" for name, value in env.items())]
    lines = text.split("\n")
    result, done = [], 0
    for one in _instructions(lines):
        if one.keyword == "FROM":
            result += lines[done : one.end] + added
            done = one.end
    return "\n".join(result + lines[done:])


def base_images(text: str) -> list[str]:
    """The images it starts from or copies from, defaults of arguments put in; not its own stages, not `scratch`."""
    arguments: dict[str, str] = {}
    stages: set[str] = {"scratch"}
    found: dict[str, None] = {}
    before_first_stage = True
    for one in instructions(text):
        flags, rest = _flags(one.arguments)
        words = rest.split()
        if one.keyword == "ARG" and before_first_stage:
            arguments.update(_defaults(words, arguments))
        if one.keyword == "FROM" and words:
            before_first_stage = False
            _note(_expanded(words[0], arguments), stages, found)
            stages |= {words[2].lower()} if len(words) == 3 and words[1].upper() == "AS" else set()  # noqa: PLR2004
        if one.keyword == "COPY" and not flags.get("from", "0").isdigit():
            _note(flags["from"], stages, found)
    return list(found)


def needs_buildkit(text: str) -> str | None:
    """What in it only BuildKit understands, None if nothing."""
    for one in instructions(text):
        flags, _ = _flags(one.arguments)
        for flag in flags:
            if flag in _BUILDKIT_FLAGS.get(one.keyword, ()):
                return f"{one.keyword} --{flag}"
        if one.has_heredoc:
            return f"{one.keyword} with a here-document"
    syntax = _directives(text.split("\n")).get("syntax")
    return f"# syntax={syntax}" if syntax else None


def _instructions(lines: list[str]) -> Iterator[Instruction]:
    escape = _directives(lines).get("escape", "\\")[:1]
    at = 0
    while at < len(lines):
        if not lines[at].strip() or _COMMENT.match(lines[at]):
            at += 1
            continue
        logical, at = _joined(lines, at, escape)
        match = _INSTRUCTION.fullmatch(logical)
        if match is None:
            continue
        keyword, arguments = match[1].upper(), (match[2] or "").strip()
        heredocs = _heredocs(arguments, escape) if keyword in _TAKES_HEREDOCS else []
        for strip_tabs, end in heredocs:
            at = _after_heredoc(lines, at, end, strip_tabs=strip_tabs)
        yield Instruction(keyword=keyword, arguments=arguments, end=at, has_heredoc=bool(heredocs))


def _directives(lines: list[str]) -> dict[str, str]:
    """`# name=value` lines, which count only before everything else."""
    found: dict[str, str] = {}
    for number, line in enumerate(lines):
        match = _DIRECTIVE.fullmatch(line.lstrip("\ufeff") if number == 0 else line)
        if match is None or match[1].lower() not in _DIRECTIVES - found.keys():
            break
        found[match[1].lower()] = match[2]
    return found


def _joined(lines: list[str], at: int, escape: str) -> tuple[str, int]:
    """The logical line that begins at `at`, and where the next one may begin; comments in between drop out."""
    logical = ""
    while at < len(lines):
        line = lines[at].rstrip() if at else lines[at].rstrip().lstrip("\ufeff")
        at += 1
        if logical and (not line.strip() or _COMMENT.match(line)):
            continue
        if not line.endswith(escape) or line.endswith(2 * escape):
            return logical + line, at
        logical += line[: -len(escape)] + " "
    return logical, at


def _heredocs(arguments: str, escape: str) -> list[tuple[bool, str]]:
    """The here-documents that a line opens: whether leading tabs are stripped, and the word that ends each."""
    found = []
    for word in _words(arguments, escape):
        match = _HEREDOC.fullmatch(word)
        if match:
            found.append((bool(match[1]), match[3]))
    return found


def _words(arguments: str, escape: str) -> Iterator[str]:
    """The words of a line as a shell splits them, quotes kept."""
    word, quote, escaped = "", "", False
    for character in arguments:
        if character.isspace() and not quote and not escaped:
            if word:
                yield word
            word = ""
            continue
        word += character
        if escaped:
            escaped = False
        elif character == escape and quote != "'":
            escaped = True
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
    if word:
        yield word


def _after_heredoc(lines: list[str], at: int, end: str, *, strip_tabs: bool) -> int:
    while at < len(lines):
        line = lines[at].rstrip("\r")
        at += 1
        if (line.lstrip("\t") if strip_tabs else line) == end:
            break
    return at


def _flags(arguments: str) -> tuple[dict[str, str], str]:
    """The `--name=value` words in front, and the rest."""
    found: dict[str, str] = {}
    while match := _FLAG.match(arguments):
        found[match[1]] = match[2] or ""
        arguments = arguments[match.end() :]
    return found, arguments


def _defaults(words: list[str], arguments: Mapping[str, str]) -> dict[str, str]:
    pairs = (word.partition("=") for word in words)
    return {name: _expanded(value.strip("'\""), arguments) for name, equals, value in pairs if equals}


def _expanded(word: str, arguments: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        known = arguments.get(match[1] or match[4], "")
        if match[2] == "+":
            return match[3] if known else ""
        return known or match[3] or ""

    return _VARIABLE.sub(value, word.strip("'\""))


def _note(image: str, stages: set[str], found: dict[str, None]) -> None:
    if image and image.lower() not in stages:
        found[image] = None
