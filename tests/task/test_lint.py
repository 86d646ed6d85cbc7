"""What can be said about a task without running it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.shipped import shipped
from hbench.task.lint import errexit_line, instruction_warnings, lint
from hbench.task.load import load_task

MakeTask = Callable[..., Path]

REWARD = "/logs/verifier/reward.txt"


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (f"#!/bin/bash\nset -e\npytest /tests\necho 1 > {REWARD}\n", 2),
        (f"#!/bin/bash\nset -euo pipefail\n\npytest /tests\nif [ $? -eq 0 ]; then\n  echo 1 > {REWARD}\nfi\n", 2),
        (f"cd /app && set -e\npytest \\\n  /tests\nSTATUS=$?\necho $STATUS > {REWARD}\n", 1),
        (f"set -o errexit\npytest\necho 1 | tee {REWARD}\n", 1),
        ("set -x -e # strict\npytest\necho 1 >> $REWARD_FILE\n", 1),
        (f"set +e\nset -e\npytest\necho 1 > {REWARD}\n", 2),
    ],
)
def test_a_test_script_that_ends_before_it_writes_a_0_is_found(script: str, line: int) -> None:
    """The buggy verifier of the post about Harbor's numbers, in its usual forms (T15)."""
    assert errexit_line(script) == line


@pytest.mark.parametrize(
    "script",
    [
        f"pytest\necho 1 > {REWARD}\n",
        f"# No `set -e`: a 0 must be written.\npytest\necho 1 > {REWARD}\n",
        f"set -e\nif pytest; then\n  echo 1 > {REWARD}\nelse\n  echo 0 > {REWARD}\nfi\n",
        f"set -e\nif pytest; then echo 1 > {REWARD}; else echo 0 > {REWARD}; fi\n",
        f"set -e\npytest && echo 1 > {REWARD} || echo 0 > {REWARD}\n",
        f"set -e\nset +e\npytest\necho $? > {REWARD}\n",
        f"set -euo pipefail\nset +o errexit\npytest\necho $? > {REWARD}\n",
        f"set -e\npytest || status=$?\necho 1 > {REWARD}\n",
        f"set -e\nmkdir -p /logs/verifier\necho 0 > {REWARD}\npytest\necho 1 > {REWARD}\n",
        f"set -e\ntrap 'echo 0 > {REWARD}' EXIT\npytest\necho 1 > {REWARD}\n",
        "set -e\n/usr/bin/python3 /tests/check.py\n",
        f"set -u\nset -o pipefail\npytest\necho 1 > {REWARD}\n",
        "",
    ],
)
def test_a_test_script_that_catches_its_failures_is_left_alone(script: str) -> None:
    """`set -e` alone is no fault."""
    assert errexit_line(script) is None


@given(st.text())
def test_any_script_can_be_read(script: str) -> None:
    """And if a line is named, `set` stands there or in what it goes on with."""
    line = errexit_line(script)
    assert line is None or "set" in "\n".join(script.splitlines()[line - 1 :])


@pytest.mark.parametrize(
    "word", ["checker", "Verifier", "graders", "benchmark", "solution", "/tests", "test.sh", "check.py"]
)
def test_an_instruction_that_speaks_of_how_it_is_judged_is_named_with_its_line(word: str) -> None:
    """Once, where it first does (T17)."""
    text = f"Write it to `/app/out.txt`.\nMind the {word}.\nAgain the {word}.\n"
    [warning] = instruction_warnings(text, {"check.py"})
    assert warning.startswith(f'instruction.md:2: mentions "{word}"')


@pytest.mark.parametrize(
    "text",
    [
        "Correct `/app/envfile.py`.",
        "Make the tests below /app/tests pass; run them with `make test`.",
        "Write the checked rows to /app/out.csv and resolve all conflicts.",
        "Ask http://localhost:8080/links and answer in /app/answer.txt. See mycheck.py.",
    ],
)
def test_an_instruction_about_the_work_is_left_alone(text: str) -> None:
    """Tests of the project itself are part of the work."""
    assert list(instruction_warnings(text, {"check.py"})) == []


@pytest.mark.parametrize("text", ["Sort it.", "See https://example.org/page.", "Write `out/a.csv`.", "Either/or, 1/2."])
def test_an_instruction_without_an_absolute_path_is_named(text: str) -> None:
    """Otherwise instruction and tests may mean different places by "done"."""
    [warning] = instruction_warnings(text, ())
    assert warning.startswith("instruction.md:1: names no absolute path")


def test_the_files_of_a_task_are_read_as_they_are(make_task: MakeTask) -> None:
    """Line numbers are those of the file, comments at its head included; what the agent can see may be named."""
    task = load_task(
        make_task(
            files={
                "instruction.md": "<!-- canary 1 -->\n\nWrite /a; see helper.py, shown.py, /a/helper.py, data.csv.\n",
                "tests/test.sh": b"set -e\n\xff\npytest\necho 1 >reward.txt\n",
                "tests/helper.py": "",
                "tests/data.csv": "",
                "tests/shown.py": "",
                "environment/app/shown.py": "",
            }
        )
    )
    found = lint(task)
    assert found.errexit == "tests/test.sh:1"
    assert [warning.partition(" ")[0] for warning in found.warnings] == ["instruction.md:3:", "tests/test.sh:1:"]


@pytest.mark.parametrize("folder", sorted(path.name for path in shipped("tasks").iterdir() if path.is_dir()))
def test_hbenchs_own_tasks_earn_no_warning(folder: str) -> None:
    """They are what others copy from."""
    assert lint(load_task(shipped("tasks", folder))).warnings == ()
