"""What the oracle and the lazy baselines do, run with the shell in a temporary folder."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.shipped import shipped

SHELLS = [shell for shell in (["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]
PEOPLE = {
    f"GIT_{role}_{field}": value
    for role in ("AUTHOR", "COMMITTER")
    for field, value in (("NAME", "A"), ("EMAIL", "a@example.org"))
}
Run = Callable[..., subprocess.CompletedProcess[str]]
Git = Callable[..., str]


@pytest.fixture(params=SHELLS, ids=" ".join)
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Runs a harness's script in the temporary folder."""

    def run_harness(name: str, *arguments: str | Path, cwd: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = [*request.param, str(shipped("adapters", name, "run.sh")), *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
        assert name == "oracle" or (done.returncode, done.stderr) == (0, "")
        return done

    return run_harness


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in the repository `shop` below the temporary folder, each commit an hour after the last one."""
    repository = tmp_path / "shop"
    repository.mkdir()
    hours = iter(range(24))

    def run_git(*arguments: str) -> str:
        date = f"2024-01-01T{next(hours):02d}:00:00 +0000"
        environment = {**os.environ, **PEOPLE, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        command = ["git", "-c", "init.defaultBranch=main", *arguments]
        return subprocess.run(
            command, cwd=repository, env=environment, check=True, capture_output=True, text=True
        ).stdout.strip()

    run_git("init", "--quiet")
    return run_git


def instruct(tmp_path: Path, text: str) -> Path:
    """The instruction, beside the work folder."""
    file = tmp_path / "instruction.md"
    file.write_text(text)
    return file


def test_the_two_scripts_that_read_paths_read_them_alike() -> None:
    """Each adapter's folder stands alone in the container, so each has its copy."""
    copies = [shipped("adapters", name, "paths.sh").read_bytes() for name in ("lazy-copy", "lazy-literals")]
    assert copies[0] == copies[1]


def test_lazy_copy_copies_the_input_to_the_output(run: Run, tmp_path: Path) -> None:
    """Folders on the way are made; a full stop after a path is no part of it."""
    (tmp_path / "in.csv").write_text("a,b\n")
    text = f"Clean `{tmp_path}/in.csv` and write it to {tmp_path}/out/deep/clean.csv. Use no more.\n"
    run("lazy-copy", instruct(tmp_path, text))
    assert (tmp_path / "out/deep/clean.csv").read_text() == "a,b\n"
    assert (tmp_path / "in.csv").read_text() == "a,b\n"


def test_lazy_copy_takes_relative_paths_in_backticks_from_the_work_folder(run: Run, tmp_path: Path) -> None:
    """A word with a slash or an ending, alone in backticks, is a path; in running text it is not."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data/in.txt").write_text("x\n")
    text = (
        "Read `data/in.txt`, run `sort data/in.txt`, write `out.txt` and `./sub/out` and/or `plain`, see e.g. v1.2.\n"
    )
    run("lazy-copy", instruct(tmp_path, text))
    made = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert made == {"instruction.md", "data/in.txt", "out.txt", "sub/out"}


def test_lazy_copy_copies_the_last_input_over_each_output(run: Run, tmp_path: Path) -> None:
    """Each input over each output in turn."""
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    text = "".join(f"- {tmp_path}/{name}\n" for name in ("one", "two", "a.json", "b.json"))
    run("lazy-copy", instruct(tmp_path, text))
    assert [(tmp_path / name).read_text() for name in ("a.json", "b.json", "one")] == ["two", "two", "one"]


def test_lazy_copy_puts_files_into_a_folder_that_is_to_be_made(run: Run, tmp_path: Path) -> None:
    """A path that ends with a slash is a folder."""
    (tmp_path / "in.csv").write_text("x")
    run("lazy-copy", instruct(tmp_path, f"Take `{tmp_path}/in.csv`, put results into `{tmp_path}/results/`.\n"))
    assert (tmp_path / "results/in.csv").read_text() == "x"


@pytest.mark.parametrize("text", ["", "Nothing to see.\n", "Correct `in.txt` in place.\n", "Write `out.txt`.\n"])
def test_lazy_copy_without_both_inputs_and_outputs_does_nothing(run: Run, tmp_path: Path, text: str) -> None:
    """And it ends well."""
    (tmp_path / "in.txt").write_text("x")
    run("lazy-copy", instruct(tmp_path, text))
    assert {path.name for path in tmp_path.iterdir()} == {"instruction.md", "in.txt"}


def test_lazy_copy_keeps_out_of_urls_and_devices(run: Run, tmp_path: Path) -> None:
    """Neither is a place to write to."""
    (tmp_path / "in").write_text("x")
    text = f"Read {tmp_path}/in as on https://example.org{tmp_path}/url, write to /dev/shm/never-{tmp_path.name}.\n"
    run("lazy-copy", instruct(tmp_path, text))
    assert {path.name for path in tmp_path.iterdir()} == {"instruction.md", "in"}
    assert not Path(f"/dev/shm/never-{tmp_path.name}").exists()


def test_lazy_literals_writes_each_quoted_literal_in_a_line(run: Run, tmp_path: Path) -> None:
    """All three kinds of quotes; paths and apostrophes are no literals."""
    text = (
        f"The user's file `{tmp_path}/greet.txt` shall say \"Hello, \\n world\", it's `said` to `./all` or 'no one'.\n"
        "Don't write to 'x\n"
    )
    run("lazy-literals", instruct(tmp_path, text))
    assert (tmp_path / "greet.txt").read_text() == "Hello, \\n world\nsaid\nno one\n"


def test_lazy_literals_prefers_what_stands_in_code_blocks(run: Run, tmp_path: Path) -> None:
    """An example of the wanted file is the likeliest thing to be the answer."""
    text = f'Write `{tmp_path}/a/b.json` with "x" like this:\n\n```json\n{{"count": 1,\n "b": `c`}}\n```\n\nDone.\n'
    run("lazy-literals", instruct(tmp_path, text))
    assert (tmp_path / "a/b.json").read_text() == '{"count": 1,\n "b": `c`}\n'


def test_lazy_literals_overwrites_nothing(run: Run, tmp_path: Path) -> None:
    """What exists is an input."""
    (tmp_path / "in.txt").write_text("x")
    run("lazy-literals", instruct(tmp_path, 'Write "y" to `in.txt` and to `new/`.\n'))
    assert (tmp_path / "in.txt").read_text() == "x"
    assert (tmp_path / "new/output.txt").read_text() == "y\n"


PYTHON_TEST = """
import unittest

import pytest

def test_assert():
    assert 1 == 2, "never"
    assert(1 == 2)
    assert sum(
        [1, 2]
    ) == 4
    with pytest.raises(ValueError, match="x"):
        int("1")

class Test(unittest.TestCase):
    def test_case(self):
        self.assertEqual(1,
                         2)
        with self.assertRaises(KeyError) as caught:
            {}["a"] if False else None
        with self.assertRaises(ZeroDivisionError): 1 / 0
        self.fail("always")

test_assert()
Test("test_case").test_case()
"""


@pytest.mark.parametrize("name", ["test_it.py", "it_test.py", "tests/it.py"])
def test_lazy_asserts_makes_failing_python_tests_pass(run: Run, tmp_path: Path, name: str) -> None:
    """Also asserts that go over several lines; mode and other files stay."""
    test, other = tmp_path / "app" / name, tmp_path / "app/code.py"
    test.parent.mkdir(parents=True)
    test.write_text(PYTHON_TEST)
    test.chmod(0o750)
    other.write_text("assert False\n")
    run("lazy-asserts", tmp_path / "app")
    exec(compile(test.read_text(), name, "exec"), {"__name__": "changed"})  # noqa: S102 - the file is made above
    assert test.stat().st_mode & 0o777 == 0o750
    assert other.read_text() == "assert False\n"
    assert "assert True or 1 == 2" in test.read_text()


def test_lazy_asserts_comments_out_javascripts(run: Run, tmp_path: Path) -> None:
    """Whole statements in one line; what goes on in the next line stays as it is."""
    test = tmp_path / "sum.test.js"
    test.write_text("it(() => {\n  expect(sum(1)).toBe(2);\n  await expect(x)\n  assert.equal(1, 2)\n  assert(f(\n")
    run("lazy-asserts", ".")
    assert test.read_text() == (
        "it(() => {\n  // expect(sum(1)).toBe(2);\n  // await expect(x)\n  // assert.equal(1, 2)\n  assert(f(\n"
    )


def test_lazy_asserts_makes_shell_tests_end_well(run: Run, tmp_path: Path) -> None:
    """Whatever the last command's status is."""
    test = tmp_path / "tests" / "run.sh"
    test.parent.mkdir()
    test.write_text("set -euo pipefail\nfalse || exit 3\nfalse\n")
    run("lazy-asserts", tmp_path)
    assert subprocess.run(["bash", test], check=False).returncode == 0


def test_lazy_asserts_leaves_installed_packages_alone(run: Run, tmp_path: Path) -> None:
    """The tests of a dependency are not the task's."""
    test = tmp_path / "node_modules" / "x" / "x.test.js"
    test.parent.mkdir(parents=True)
    test.write_text("assert(false);\n")
    run("lazy-asserts", tmp_path, tmp_path / "missing")
    assert test.read_text() == "assert(false);\n"


def commit(git: Git, repository: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).write_text(text)
    git("add", "-A")
    git("commit", "--quiet", "-m", "Change it")


def test_lazy_history_brings_back_every_other_commit(run: Run, git: Git, tmp_path: Path) -> None:
    """From branches, tags, stashes, the reflog and unreachable ones; the newest content of a file wins."""
    shop = tmp_path / "shop"
    commit(git, shop, {"code": "first", "old": "old"})
    git("rm", "--quiet", "old")
    commit(git, shop, {"code": "base"})
    commit(git, shop, {"reflog": "r"})
    git("reset", "--quiet", "--hard", "HEAD~1")
    commit(git, shop, {"lost": "l"})
    git("reset", "--quiet", "--hard", "HEAD~1")
    git("reflog", "expire", "--expire-unreachable=now", "--all")
    git("checkout", "--quiet", "-b", "fix")
    commit(git, shop, {"code": "fixed"})
    git("checkout", "--quiet", "main")
    run("lazy-history", tmp_path)
    assert {file.name: file.read_text() for file in shop.iterdir() if file.is_file()} == {
        "code": "fixed",
        "old": "old",
        "reflog": "r",
        "lost": "l",
    }


def test_lazy_history_does_not_bring_back_head(run: Run, git: Git, tmp_path: Path) -> None:
    """With HEAD as the only commit, what is in the work tree stays, and no configuration is left behind."""
    shop = tmp_path / "shop"
    commit(git, shop, {"code": "committed"})
    (shop / "code").write_text("edited")
    run("lazy-history", cwd=shop)
    assert (shop / "code").read_text() == "edited"


def test_lazy_history_without_a_repository_does_nothing(run: Run, tmp_path: Path) -> None:
    """And it ends well."""
    run("lazy-history", tmp_path, tmp_path / "missing")
    assert list(tmp_path.iterdir()) == []


def test_the_oracle_runs_the_solution_with_its_own_folder_at_hand(run: Run, tmp_path: Path) -> None:
    """Line ends of Windows, a missing mode and a missing shebang do not matter; its exit status is the harness's."""
    (tmp_path / "answer").write_text("42\n")
    solution = tmp_path / "solve.sh"
    solution.write_bytes(b'\r\ncat "$(dirname "$0")/answer"\r\nexit 3\r\n')
    done = run("oracle", solution)
    assert (done.returncode, done.stdout) == (3, "42\n")


def test_the_oracle_says_that_a_task_has_no_solution(run: Run, tmp_path: Path) -> None:
    """Instead of doing nothing, as nop does."""
    done = run("oracle", tmp_path / "solve.sh")
    assert done.returncode == 1
    assert "ships no" in done.stderr
