"""A task folder becomes a Task."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.errors import TaskError
from hbench.task.load import load_task, strip_canary, task_name
from hbench.task.model import Artifact, Healthcheck, Phase

MakeTask = Callable[..., Path]


def fault(folder: Path) -> TaskError:
    with pytest.raises(TaskError) as caught:
        load_task(folder)
    return caught.value


def test_a_small_task_has_the_documented_defaults(make_task: MakeTask) -> None:
    """2400 s for the agent, 600 s for tests and build; what the suite decides is None."""
    folder = make_task()
    task = load_task(folder)
    assert (task.name, task.folder, task.instruction) == ("hello", folder, "Write hello into /app/hello.txt.\n")
    assert task.agent == Phase(timeout_s=2400, env={})
    assert task.verifier == Phase(timeout_s=600, env={})
    assert task.environment.build_timeout_s == 600
    assert task.environment.dockerfile == folder / "environment/Dockerfile"
    assert task.environment.context == folder / "environment"
    assert (task.environment.cpus, task.environment.memory_mb, task.environment.workdir) == (None, None, None)
    assert (task.tests, task.solution, task.baselines) == (folder / "tests", folder / "solution", ())
    assert task.warnings == ()


def test_what_the_file_says_reaches_the_task(make_task: MakeTask) -> None:
    """Every table has its place."""
    toml = """
artifacts = ["/app/a", { source = "/var/log", destination = "logs", exclude = ["*.gz"] }]
[task]
name = "example/hello"
[metadata]
tags = ["x"]
[agent]
timeout_sec = 5
user = "app"
env = { A = "1" }
[verifier]
timeout_sec = 6
user = 7
env = { B = "${B}" }
[solution]
env = { C = "3" }
[environment]
cpus = 2
memory_mb = 512
storage_mb = 100
workdir = "/app"
env = { D = "4" }
healthcheck = { command = "true", retries = 9 }
"""
    task = load_task(make_task(toml=toml, files={"baselines/b.sh": "", "baselines/a.sh": "", "baselines/c.txt": ""}))
    assert task.name == "example/hello"
    assert task.agent == Phase(timeout_s=5, user="app", env={"A": "1"})
    assert task.verifier == Phase(timeout_s=6, user=7, env={"B": "${B}"})
    assert (task.solution_env, task.environment.env) == ({"C": "3"}, {"D": "4"})
    assert task.artifacts == (
        Artifact(source="/app/a"),
        Artifact(source="/var/log", destination="logs", exclude=("*.gz",)),
    )
    environment = task.environment
    assert (environment.cpus, environment.memory_mb, environment.storage_mb) == (2, 512, 100)
    assert (environment.workdir, environment.healthcheck) == ("/app", Healthcheck(command="true", retries=9))
    assert task.metadata == {"tags": ["x"]}
    assert [path.name for path in task.baselines] == ["a.sh", "b.sh"]


@pytest.mark.parametrize("path", ["instruction.md", "task.toml", "tests/test.sh"])
def test_a_missing_file_is_named(make_task: MakeTask, path: str) -> None:
    """With the layout that was expected."""
    folder = make_task(files={path: None})
    error = fault(folder)
    assert (error.where, error.what) == (str(folder), f"the task has no {path}")
    assert "environment/Dockerfile" in str(error.hint)


def test_a_task_needs_a_dockerfile_or_an_image(make_task: MakeTask) -> None:
    """Otherwise there is nothing to start."""
    assert "neither environment/Dockerfile nor" in fault(make_task(files={"environment/Dockerfile": None})).what
    toml = '[environment]\ndocker_image = "python:3.13"'
    task = load_task(make_task("image", toml=toml, files={"environment/Dockerfile": None}))
    assert (task.environment.dockerfile, task.environment.context) == (None, None)


@pytest.mark.parametrize(
    ("path", "content", "where", "said"),
    [
        ("task.toml", b"a = \xff", "task.toml", "not UTF-8 at byte 4"),
        ("task.toml", b"a = 1\nb = \n", "task.toml:2", "not valid TOML"),
        ("task.toml", b"[agent]\ntimeout_sec = -1", "task.toml:2", "agent.timeout_sec"),
        ("task.toml", b"#" * 2**20 + b"#", "task.toml", "larger than 1 MiB"),
        ("instruction.md", b"caf\xe9", "instruction.md", "not UTF-8 at byte 3"),
        ("instruction.md", b" \r\n\t\n", "instruction.md", "is empty"),
        ("instruction.md", b"<!-- canary 123 -->\n\n", "instruction.md", "is empty"),
        ("instruction.md", b"a\0b", "instruction.md", "NUL"),
    ],
)
def test_a_text_that_cannot_be_used_is_named_with_its_line(
    make_task: MakeTask, path: str, content: bytes, where: str, said: str
) -> None:
    """File and, in TOML, line."""
    folder = make_task(files={path: content})
    error = fault(folder)
    assert error.where == str(folder / where)
    assert said in error.what


def test_what_is_merely_untidy_is_tolerated(make_task: MakeTask) -> None:
    """No execute bit, a shebang below a comment, CRLF, a byte order mark, non-ASCII, dots, extra files, no solution."""
    files = {
        "instruction.md": "\ufeffSchreibe „hallo“.\r\nFertig.\r\n",
        "task.toml": '\ufeffversion = "1.0"\r\n[metadata]\r\nauthor = "Zoë"\r\n',
        "tests/test.sh": "# a comment first\r\n#!/bin/bash\r\necho 1\r\n",
        "solution/solve.sh": None,
        "README.md": "about",
        "notes/draft.txt": "x",
    }
    task = load_task(make_task("hallo.wörld v1.2", files=files))
    assert (task.name, task.solution) == ("hallo.wörld v1.2", None)
    assert task.instruction == "Schreibe „hallo“.\nFertig.\n"
    assert not os.access(task.tests / "test.sh", os.X_OK) or os.geteuid() == 0


def test_a_solution_folder_without_solve_sh_is_no_solution(make_task: MakeTask) -> None:
    """There is nothing that the oracle could run."""
    assert load_task(make_task(files={"solution/solve.sh": None, "solution/data": "x"})).solution is None


def test_a_folder_is_checked_before_anything_in_it_is_opened(make_task: MakeTask) -> None:
    """A link out of the task is not read, whatever it is called."""
    folder = make_task(files={"instruction.md": None})
    (folder.parent / "secret").write_text("sk-test-1")
    (folder / "instruction.md").symlink_to("../secret")
    error = fault(folder)
    assert "leaves the task folder" in error.what
    assert "sk-test-1" not in str(error)


def test_a_task_toml_that_is_a_pipe_or_a_folder_does_not_stop_anyone(make_task: MakeTask) -> None:
    """Its name is then the folder's, and loading says what is wrong."""
    folder = make_task(files={"task.toml": None})
    os.mkfifo(folder / "task.toml")
    assert task_name(folder) == "hello"
    assert "pipe" in fault(folder).what
    (folder / "task.toml").unlink()
    (folder / "task.toml").mkdir()
    assert task_name(folder) == "hello"
    assert "is not a file" in fault(folder).what


def test_a_folder_whose_name_cannot_be_shown_is_refused(make_task: MakeTask) -> None:
    """And its name is given in escaped form."""
    folder = make_task("a\x1b[2Jb")
    assert task_name(folder) == "a\\x1b[2Jb"
    assert str(fault(folder)).replace("\n", "").isprintable()


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Also a file in its place."""
    assert fault(tmp_path / "none").what == "no such folder"


def test_a_template_inside_a_longer_value_is_warned_about(make_task: MakeTask) -> None:
    """Its author may expect it to be filled in."""
    (warning,) = load_task(make_task(toml='[verifier.env]\nURL = "http://${HOST}/"')).warnings
    assert '"verifier.env.URL" is taken as it stands' in warning


def test_warnings_name_no_place_of_this_machine(make_task: MakeTask) -> None:
    """They are kept in files that others read."""
    folder = make_task(toml="nonsense = 1")
    (warning,) = load_task(folder).warnings
    assert warning.startswith("task.toml:1: ")
    assert str(folder.parent) not in warning


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<!-- x canary GUID 1 -->\n\nDo it.\n", "Do it.\n"),
        ("# Canary string\n  <!-- CANARY -->  \n\n \nDo it.", "Do it."),
        ("# terminal-bench-canary GUID 1\nDo # canary it", "Do # canary it"),
        ("\n\nDo it.", "Do it."),
        ("Do it.\n# canary\n", "Do it.\n# canary\n"),
        ("# Title\n# canary\n", "# Title\n# canary\n"),
        ("<!-- canary\n-->\nDo it.", "<!-- canary\n-->\nDo it."),
        ("# canary", ""),
    ],
)
def test_canary_comments_at_the_head_are_not_shown_to_the_agent(text: str, rest: str) -> None:
    """They mark benchmark data for those who collect training data; the same lines as in Harbor."""
    assert strip_canary(text) == rest


@given(st.lists(st.sampled_from(["# canary", "<!-- canary -->", "", "  ", "text", "# title"]), max_size=8))
def test_stripping_canaries_keeps_the_first_line_of_text_and_all_after_it(lines: list[str]) -> None:
    """Nothing but leading comment and blank lines goes."""
    rest = strip_canary("\n".join(lines))
    assert "\n".join(lines).endswith(rest)
    for line in lines:
        if line in ("text", "# title"):
            assert rest.startswith((line, "# canary", "<!--")) or line in rest
