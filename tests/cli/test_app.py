"""However a command ends, it ends with its exit code and a next step."""

import sys

import pytest

from hbench.cli import app as app_module
from hbench.errors import EngineError


def ending(monkeypatch: pytest.MonkeyPatch, problem: BaseException) -> int | str | None:
    def fail() -> None:
        raise problem

    monkeypatch.setattr(app_module, "app", fail)
    with pytest.raises(SystemExit) as ended:
        app_module.main()
    return ended.value.code


def test_an_error_of_hbench_is_two_lines_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback: it is for the person at the keyboard. Control characters of a name do not reach the terminal."""
    problem = EngineError("does not answer", where="unix:///a\x1b[2Jb", hint="Start it.")
    assert ending(monkeypatch, problem) == 4
    assert capsys.readouterr().err == "error: unix:///a�[2Jb: does not answer\n  Start it.\n"


def test_a_bug_leaves_a_report_to_paste(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(monkeypatch, KeyError("oops")) == 70
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert "KeyError: 'oops'" in said
    assert f"Python {sys.version_info.major}." in said
    assert "error: this is a bug in hbench" in said


def test_an_interrupt_ends_as_shells_expect(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ending(monkeypatch, KeyboardInterrupt()) == 130
