"""`hbench plan` shows what a run would do, and does nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbench.cli.app import app, main


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Two tasks and an invalid one."""
    for name in ("alpha", "beta", "broken"):
        folder = tmp_path / "tasks" / name
        (folder / "environment").mkdir(parents=True)
        (folder / "tests").mkdir()
        (folder / "environment" / "Dockerfile").write_text("FROM debian:bookworm-slim\n")
        (folder / "tests" / "test.sh").write_text("true\n")
        (folder / "instruction.md").write_text("Write it.")
        (folder / "task.toml").write_text(
            "version = '1.0'\n[agent]\ntimeout_sec = 120.0\n[verifier]\ntimeout_sec = 60.0\n"
        )
    (tmp_path / "tasks" / "broken" / "instruction.md").unlink()
    return tmp_path / "tasks"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["plan", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def failing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Exit code and stderr of a command line that cannot be."""
    monkeypatch.setattr(sys, "argv", ["hbench", "plan", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().err


def test_trials_arms_and_limits_are_printed_in_order(tasks: Path) -> None:
    said = run("-p", str(tasks), "-a", "oracle", "-a", "nop", "-k", "2", "--network", "open", "--skip-invalid")
    trials = [line.strip() for line in said.splitlines() if line.strip().startswith(("alpha/", "beta/"))]
    assert len(trials) == 8
    assert [trial[-1] for trial in trials] == list("11112222")
    assert "agent 120 s  verifier 60 s  build 600 s  setup 360 s  1 cpus  2048 MiB  512 pids" in said
    assert "sees_solution" in said
    assert "left out broken: " in said


def test_a_multiplier_shows_in_the_limits(tasks: Path) -> None:
    """0.05 times 120 s (R04)."""
    arguments = ("-p", str(tasks / "alpha"), "--network", "open", "--agent-timeout-multiplier", "0.05")
    assert "agent 6 s  verifier 60 s" in run(*arguments)


def test_the_json_holds_what_of_the_locks_is_known(tasks: Path) -> None:
    """A program can read what a person sees, and the two agree."""
    arguments = ("-p", str(tasks), "--network", "open", "--skip-invalid")
    found = json.loads(run(*arguments, "--json"))
    assert found["format"] == "hbench/plan@1"
    [job] = found["jobs"]
    assert job["configuration"]["harness"] == "oracle"
    assert [task["image"] for task in job["tasks"]] == [None, None]
    printed = [line.strip() for line in run(*arguments).splitlines()]
    ids = [trial["trial_id"] for trial in found["trials"]]
    assert [line for line in printed if line in ids] == ids
    assert [trial["folder"] for trial in job["trials"]] == [trial["folder"] for trial in found["trials"]]


def test_the_same_command_prints_the_same_plan_in_another_process(tasks: Path) -> None:
    """Nothing depends on Python's hash seed."""
    command = "from hbench.cli.app import main; main()"
    arguments = [
        "plan",
        "-p",
        str(tasks),
        "-a",
        "oracle",
        "-a",
        "nop",
        "-k",
        "3",
        "--network",
        "open",
        "--skip-invalid",
    ]
    said = {
        subprocess.run(
            [sys.executable, "-c", command, *arguments],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1


def test_docker_is_not_touched(tasks: Path) -> None:
    """The client is not even loaded."""
    script = (
        "import sys; from typer.testing import CliRunner; from hbench.cli.plan import plan; import typer\n"
        "app = typer.Typer(); app.command()(plan)\n"
        f"result = CliRunner().invoke(app, ['-p', {str(tasks / 'alpha')!r}, '--network', 'open'])\n"
        "assert result.exit_code == 0, result.output\n"
        "print('docker' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_no_value_of_a_variable_is_printed(tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a model's key nor what tasks may read."""
    monkeypatch.setenv("MODEL_KEY", "sk-test-0001")
    monkeypatch.setenv("TOKEN", "sk-test-0002")
    suite = tmp_path / "s.toml"
    suite.write_text(
        "[dataset]\npath = 'tasks/alpha'\n[network]\nmode = 'open'\n[[harness]]\nname = 'nop'\n"
        "[[model]]\nname = 'm'\napi_key_env = 'MODEL_KEY'\n[env]\npass = ['TOKEN']\n"
    )
    said = run(str(suite)) + run(str(suite), "--json")
    assert "sk-test" not in said
    assert "the model m is not used" in said


def test_what_others_wrote_is_made_safe_for_a_terminal(tasks: Path, tmp_path: Path) -> None:
    """An adapter may say any version."""
    (tmp_path / "mine").mkdir()
    said = 'format = 1\nname = "mine"\nversion = "1\\u200b[31m"\ncommand = []\n'
    (tmp_path / "mine" / "adapter.toml").write_text(said)
    arguments = ("-p", str(tasks / "alpha"), "-a", str(tmp_path / "mine"), "--network", "open")
    assert "1\N{REPLACEMENT CHARACTER}[31m" in run(*arguments)
    assert "\u200b" not in run(*arguments) + run(*arguments, "--json")


def test_one_very_long_name_does_not_pad_every_line(tasks: Path) -> None:
    """It pushes the rest of its own line alone."""
    shutil.copytree(tasks / "alpha", tasks / ("x" * 200))
    lines = run("-p", str(tasks), "--skip-invalid", "--network", "open").splitlines()
    assert max(len(line) for line in lines if "x" * 20 not in line) < 200


def test_a_suite_that_hbench_cannot_run_yet_ends_with_the_next_step(
    tasks: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Silence about the network asks for the gate; the message says what to write."""
    code, said = failing(monkeypatch, capsys, "-p", str(tasks / "alpha"))
    assert code == 2
    assert said.startswith('error: flags: network mode "allowlist"')
    assert "--network open" in said


@pytest.mark.parametrize(
    ("arguments", "code", "start"),
    [
        (("absent.toml",), 2, "error: absent.toml: no such file"),
        (("-a", "oracel", "--network", "open"), 5, 'error: flags: no adapter is named "oracel"'),
        (("-k", "9"), 2, "error: "),
        (("-d", "nothing@9", "--network", "open"), 2, "error: "),
        (("--no-such-flag",), 2, "Usage: "),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    start: str,
) -> None:
    found, said = failing(monkeypatch, capsys, *arguments)
    assert (found, said[: len(start)]) == (code, start)
