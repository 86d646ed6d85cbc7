import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.container.dockerfile import base_images, instructions, needs_buildkit, with_ca

ADDED = "COPY --from=hbench-ca:1 / /\nARG SSL_CERT_FILE=/ca.pem PIP_CERT=/ca.pem"


def _with_ca(text: str) -> str:
    return with_ca(text, image="hbench-ca:1", env={"SSL_CERT_FILE": "/ca.pem", "PIP_CERT": "/ca.pem"})


def _keywords(text: str) -> list[str]:
    return [one.keyword for one in instructions(text)]


def test_the_certificates_come_right_after_from() -> None:
    """So that the first RUN already has them."""
    text = "FROM debian:bookworm-slim\nRUN apt-get update\n"
    assert _with_ca(text) == f"FROM debian:bookworm-slim\n{ADDED}\nRUN apt-get update\n"


def test_every_stage_gets_them() -> None:
    """Each stage begins without what the last one had."""
    text = "ARG V=1\nFROM a:$V AS build\nRUN x\nFROM scratch\nCOPY --from=build /x /x"
    assert _with_ca(text) == (
        f"ARG V=1\nFROM a:$V AS build\n{ADDED}\nRUN x\nFROM scratch\n{ADDED}\nCOPY --from=build /x /x"
    )


def test_directives_stay_the_first_lines() -> None:
    """They count nowhere else."""
    text = "# syntax=docker/dockerfile:1\n# escape=`\n\nFROM a\n"
    assert _with_ca(text).startswith(text.rstrip("\n") + "\n" + ADDED)


@pytest.mark.parametrize(
    "text",
    [
        "from a\n",
        "  FROM a\n",
        "FROM --platform=linux/amd64 \\\n  # a comment in between\n\n  a \\\n  AS b\n",
        "# escape=`\nFROM `\n  a\n",
        "FROM a\r\n",
        "\ufeffFROM a\n",
        "FROM a",
    ],
)
def test_a_from_is_found_however_it_is_written(text: str) -> None:
    """In small letters, over several lines, with Windows line ends, without a line end."""
    assert _with_ca(text) == (text if text.endswith("\n") else text + "\n") + ADDED + (
        "\n" if text.endswith("\n") else ""
    )


@pytest.mark.parametrize(
    "text",
    [
        "RUN echo \\\n  FROM here\n",
        "RUN echo \\\n# FROM comment\n  FROM here\n",
        "RUN cat <<EOF\nFROM here\nEOF\n",
        "RUN <<-'EOF' cat\nFROM here\n\tEOF\n",
        'RUN cat <<"A" 3<<B\nFROM one\nA\nFROM two\nB\n',
        "COPY <<EOF /x\nFROM here\nEOF\n",
        "ONBUILD RUN <<EOF\nFROM here\nEOF\n",
        "RUN <<EOF\nFROM here and never ends\n",
        "# FROM comment\n",
        "LABEL x=FROM\n",
    ],
)
def test_the_word_from_elsewhere_is_not_one(text: str) -> None:
    """In continued lines, comments and here-documents it is text."""
    assert _with_ca("FROM a\n" + text) == f"FROM a\n{ADDED}\n{text}"


def test_the_escape_character_is_the_files_own() -> None:
    """Where it is the backtick, a backslash continues nothing and a backtick does."""
    assert _keywords("# escape=`\nFROM a\nRUN dir c:\\\nFROM b\nRUN x `\n  FROM here\n") == [
        "FROM",
        "RUN",
        "FROM",
        "RUN",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "RUN cat <<<EOF",
        'RUN bash -c "cat <<EOF"',
        "RUN echo $((1<<EOF))",
        "RUN echo a<<EOF",
        "RUN echo '<<EOF'",
        "CMD <<EOF",
        "RUN echo \\ <<\n",
    ],
)
def test_what_only_looks_like_a_here_document_is_none(line: str) -> None:
    """A here-string, one inside quotes or inside a word: the FROM after it counts."""
    assert _keywords(f"FROM a\n{line}\nFROM b\n") == ["FROM", line.split(maxsplit=1)[0], "FROM"]


def test_a_comment_ends_the_directives() -> None:
    """As the builders have it: after any other line `# escape=` is a comment."""
    assert _keywords("# hello\n# escape=`\nFROM `\na\n") == ["FROM", "A"]
    assert _keywords("# unknown=1\n# escape=`\nFROM `\na\n") == ["FROM", "A"]


def test_a_doubled_escape_at_the_end_of_a_line_does_not_continue_it() -> None:
    """It stands for a backslash."""
    assert _keywords("FROM a\nRUN dir c:\\\\\nFROM b\n") == ["FROM", "RUN", "FROM"]


_LINES = st.lists(
    st.sampled_from(
        ["FROM a", "RUN x \\", "# FROM c", "", "EOF", "RUN cat <<EOF", "  y", "\\", "FROM", "COPY a b", "'", "<<A <<B"]
    ),
    max_size=12,
)


@given(st.one_of(_LINES.map("\n".join), st.text(max_size=200)))
def test_lines_are_only_ever_added(text: str) -> None:
    """Whatever the file holds, taking the added lines away gives it back, and one set is added for each FROM."""
    result = _with_ca(text)
    stages = _keywords(text).count("FROM")
    assert result.count(ADDED) == stages
    assert result.replace("\n" + ADDED, "") == text
    assert _keywords(result).count("FROM") == stages


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM debian:bookworm-slim\n", ["debian:bookworm-slim"]),
        ("FROM scratch\nCOPY a b\n", []),
        ("ARG TAG=3.13\nARG IMAGE=python:${TAG}\nFROM $IMAGE\n", ["python:3.13"]),
        ("ARG V\nFROM python:${V:-3.11}-slim\n", ["python:3.11-slim"]),
        ("ARG V=1\nFROM a${V:+-b}\n", ["a-b"]),
        ("FROM scratch\nARG V=1\nFROM a:${V}x\n", ["a:x"]),
        (
            "FROM --platform=linux/amd64 a AS one\nFROM one\nFROM b\nCOPY --from=ONE / /\nCOPY --from=0 / /\n",
            ["a", "b"],
        ),
        ("FROM a\nCOPY --chown=1:1 --from=ghcr.io/x/y:1 /uv /bin/\n", ["a", "ghcr.io/x/y:1"]),
        ("FROM a\nRUN cat <<EOF\nFROM b\nEOF\nFROM a\n", ["a"]),
        ("", []),
    ],
)
def test_base_images_are_those_that_must_be_there(text: str, expected: list[str]) -> None:
    """Each once, in order, with the defaults of ARG put in."""
    assert base_images(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM a\nRUN x\nCOPY --from=b --chown=1 / /\n", None),
        ("FROM a\nRUN --mount=type=cache,target=/x y\n", "RUN --mount"),
        ("FROM a\nCOPY --chmod=755 a b\n", "COPY --chmod"),
        ("FROM a\nCOPY --link a b\n", "COPY --link"),
        ("FROM a\nRUN <<EOF\nx\nEOF\n", "RUN with a here-document"),
        ("# syntax = docker/dockerfile:1.7\nFROM a\n", "# syntax=docker/dockerfile:1.7"),
        ("# a comment\n# syntax=docker/dockerfile:1.7\nFROM a\n", None),
    ],
)
def test_what_only_buildkit_understands_is_named(text: str, expected: str | None) -> None:
    """A message can then say what to install."""
    assert needs_buildkit(text) == expected
