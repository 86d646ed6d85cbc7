"""`hbench verify`: what is printed, and the exit status."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from hbench.cli.verify import verify

APP = typer.Typer()
APP.command("verify")(verify)


def test_a_good_job_is_ok_with_status_0(sealed_job: Path) -> None:
    ended = CliRunner().invoke(APP, [str(sealed_job)])
    assert (ended.exit_code, ended.output) == (0, f"OK  {sealed_job}\n")


def test_every_fault_is_a_line_and_the_status_is_6(sealed_job: Path) -> None:
    """The path first, so that it can be found."""
    (sealed_job / "alpha__1" / "new").touch()
    ended = CliRunner().invoke(APP, [str(sealed_job)])
    assert ended.exit_code == 6
    assert ended.output == f"FAULT  {sealed_job}\n  alpha__1/new: was added after sealing\n"


def test_json_has_the_same_in_one_document(sealed_job: Path) -> None:
    """Whatever is in a name."""
    good = json.loads(CliRunner().invoke(APP, [str(sealed_job), "--json"]).output)
    assert good == {
        "format": "hbench/verify@1",
        "ok": True,
        "jobs": [{"path": str(sealed_job), "ok": True, "faults": []}],
    }
    (sealed_job / "a\x1b").touch()
    ended = CliRunner().invoke(APP, ["--json", str(sealed_job)])
    assert ended.exit_code == 6
    [job] = json.loads(ended.output)["jobs"]
    assert (job["ok"], [fault["path"] for fault in job["faults"]]) == (False, ["a\\x1b"])


@pytest.mark.parametrize("argument", ["gone", "."])
def test_what_is_no_job_is_an_error_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argument: str) -> None:
    """Raised for the command line's one place that prints errors."""
    monkeypatch.chdir(tmp_path)
    ended = CliRunner().invoke(APP, [argument])
    assert getattr(ended.exception, "exit_code", None) == 6
