"""`hbench run` from the command line to the exit code, on the scripted engine."""

import json
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbench.cli.app import app, main
from hbench.container.errors import Cancelled
from hbench.results.verify import verify
from tests.job.world import World


@pytest.fixture
def here(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A person in the suite's folder, whose engine is the scripted one."""
    monkeypatch.chdir(world.folder)
    monkeypatch.setattr("hbench.cli.execute.connect", lambda **_: world.engine)
    return world


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    done = CliRunner().invoke(app, ["run", *arguments], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def failing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    """The same for a command line that ends in an error."""
    monkeypatch.setattr(sys, "argv", ["hbench", "run", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return (ended.value.code, *capsys.readouterr())


def test_a_suite_is_run_and_its_jobs_are_sealed(here: World) -> None:
    """Progress on stderr, results on stdout, with what to type next."""
    code, out, err = run("suite.toml")
    assert code == 0
    [batch] = (here.folder / "jobs").iterdir()
    jobs = [path.parent for path in batch.glob("*/manifest.json")]
    assert len(jobs) == 2
    assert all(verify(job) == [] for job in jobs)
    assert err.count("reward 1") == 4
    assert f"hbench verify jobs/{batch.name}" in out
    assert "[8/8]" in err
    assert "[8/8]" not in out


def test_a_trial_without_a_reward_is_exit_code_1(here: World) -> None:
    """The jobs are sealed all the same."""
    here.engine.scripts["test.sh"] = lambda *_: 0
    code, out, _ = run("suite.toml")
    assert code == 1
    assert "RewardFileNotFoundError" in out
    assert len(list(here.folder.glob("jobs/*/*/manifest.json"))) == 2


def test_flags_do_without_a_suite(here: World) -> None:
    """As Harbor's do."""
    code, _, err = run("-p", "tasks/alpha", "-a", "oracle", "-k", "2", "-o", "elsewhere", "--network", "open")
    assert (code, err.count("alpha/oracle/")) == (0, 2)
    assert len(list(here.folder.glob("elsewhere/*/*/manifest.json"))) == 1
    assert not (here.folder / "jobs").exists()


def test_quiet_says_nothing_until_the_end(here: World) -> None:
    """The tables are results."""
    code, out, err = run("suite.toml", "-q")
    assert (code, err) == (0, "")
    assert "oracle" in out


def test_json_is_one_document(here: World) -> None:
    """With everything that a script needs to go on."""
    code, out, _ = run("suite.toml", "--json")
    said = json.loads(out)
    assert code == said["exit_code"] == 0
    assert said["format"] == "hbench/run@1"
    assert said["cancelled"] is False
    assert {(job["harness"], job["mean"], job["sealed"], job["trials"]) for job in said["jobs"]} == {
        ("oracle", 1.0, True, 4),
        ("nop", 0.0, True, 4),
    }
    assert all((Path(job["path"]) / "manifest.json").is_file() for job in said["jobs"])


def test_a_plan_alone_starts_nothing(here: World) -> None:
    """It does not even ask for an engine."""
    here.engine.refuse = dict.fromkeys(("create", "build", "pull"), "no")
    code, out, _ = run("suite.toml", "--plan")
    assert code == 0
    assert "alpha/oracle/1" in out
    assert not (here.folder / "jobs").exists()
    assert here.engine.ran == []


def test_a_batch_is_resumed_by_its_folder_alone(
    here: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A suite or a flag beside it would be a second opinion."""
    run("suite.toml", "-q")
    [batch] = (here.folder / "jobs").iterdir()
    before = {path: path.read_bytes() for path in batch.rglob("result.json")}
    code, out, _ = run("--resume", str(batch))
    assert code == 0
    assert "oracle" in out
    assert {path: path.read_bytes() for path in batch.rglob("result.json")} == before
    for more in (["suite.toml"], ["-a", "nop"]):
        code, _, err = failing(monkeypatch, capsys, *more, "--resume", str(batch))
        assert code == 2
        assert "--resume runs a batch as it was asked for then" in err


def test_a_host_variable_reaches_a_trial_only_if_the_suite_passes_it(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever else the host has set."""
    monkeypatch.setenv("WANTED", "sk-test-1")
    monkeypatch.setenv("SECRET", "sk-test-2")
    for task in ("alpha", "beta"):
        here.write(
            f"tasks/{task}/task.toml",
            'version = "1.0"\n[verifier]\nenv = { A = "${WANTED}", B = "${SECRET:-kept back}" }\n',
        )
    here.write("suite.toml", (here.folder / "suite.toml").read_text() + '[env]\npass = ["WANTED"]\n')
    assert run("suite.toml", "-q")[0] == 0
    tests = [command for command in here.engine.ran if "/tests/test.sh" in command.argv]
    assert len(tests) == 8
    assert all((command.env["A"], command.env["B"]) == ("sk-test-1", "kept back") for command in tests)
    sealed = [path.read_text(errors="replace") for path in here.folder.glob("jobs/**/*") if path.is_file()]
    assert not any("sk-test" in text for text in sealed)


def test_an_error_names_the_line_and_has_its_own_exit_code(
    here: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing has been started."""
    here.write("suite.toml", (here.folder / "suite.toml").read_text().replace('"nop"', '"nope"'))
    code, out, err = failing(monkeypatch, capsys, "suite.toml")
    assert (code, out) == (5, "")
    assert "error: suite.toml:13: no adapter is named" in err
    assert not (here.folder / "jobs").exists()


def test_without_the_image_that_stops_agents_the_next_step_is_said(
    here: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 4: the engine is not fit."""
    here.engine.images.clear()
    here.engine.refuse["pull"] = "no such host"
    code, _, err = failing(monkeypatch, capsys, "suite.toml")
    assert code == 4
    assert "docker pull debian:bookworm-slim" in err


def test_a_run_that_is_stopped_before_its_first_trial_is_130(
    here: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says how to go on, and going on begins at the beginning."""

    def cancelled(*_: object, **__: object) -> None:
        raise Cancelled

    with monkeypatch.context() as patched:
        patched.setattr(here.engine, "build", cancelled)
        code, out, _ = failing(monkeypatch, capsys, "suite.toml", "-q")
    assert code == 130
    command = out.splitlines()[-1].split()
    assert command[:3] == ["hbench", "run", "--resume"]
    code, out, _ = failing(monkeypatch, capsys, *command[2:], "-q")
    assert code == 0
    assert "hbench verify" in out


def test_a_run_that_is_stopped_among_its_trials_says_how_to_go_on(here: World) -> None:
    """What has ended is shown."""

    def stops(*_: object) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.3)  # the main thread hears it
        return 0

    here.engine.scripts["run.sh"] = stops
    here.write("suite.toml", (here.folder / "suite.toml").read_text().replace("concurrency = 2", "concurrency = 1"))
    code, out, _ = run("suite.toml", "-q")
    [batch] = (here.folder / "jobs").iterdir()
    assert code == 130
    assert f"hbench run --resume jobs/{batch.name}" in out
