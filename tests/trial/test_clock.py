"""Timing the phases of a trial."""

import time
from datetime import datetime

import pytest

from hbench.trial.clock import Phases


def test_a_phase_has_its_duration_and_its_moments() -> None:
    """Wall-clock moments with a zone, and seconds between them."""
    phases = Phases()
    with phases.timed("agent"):
        time.sleep(0.05)
    found = phases.get("agent")
    assert found is not None
    assert 0.05 <= found.duration_s < 2
    began, ended = datetime.fromisoformat(found.started_at), datetime.fromisoformat(found.finished_at)
    assert began.tzinfo is not None
    assert (ended - began).total_seconds() == pytest.approx(found.duration_s, abs=0.05)


def test_a_phase_that_fails_is_timed_too() -> None:
    """How long it took until then."""
    phases = Phases()
    with pytest.raises(RuntimeError), phases.timed("verifier"):
        raise RuntimeError
    assert phases.get("verifier") is not None


def test_a_phase_that_never_began_has_no_time() -> None:
    """Which is not zero."""
    assert Phases().get("verifier") is None
    assert Phases().durations() == {}


def test_durations_do_not_depend_on_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be set back while a trial runs."""
    phases = Phases()
    moments = iter(["2026-01-01T01:00:00Z", "2026-01-01T00:00:00Z"])
    monkeypatch.setattr("hbench.trial.clock.now", lambda: next(moments))
    with phases.timed("agent"):
        pass
    found = phases.get("agent")
    assert found is not None
    assert 0 <= found.duration_s < 1


def test_phases_are_listed_in_the_order_they_ended() -> None:
    """As the trial's log shows them."""
    phases = Phases()
    for name in ("environment_setup", "agent_setup", "agent_execution"):
        with phases.timed(name):
            pass
    assert list(phases.durations()) == ["environment_setup", "agent_setup", "agent_execution"]
