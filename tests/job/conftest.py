"""A small suite on the scripted engine."""

from pathlib import Path

import pytest

from hbench.job import trials
from tests.job.world import World, small_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """Two tasks; oracle earns 1 and nop 0."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(trials, "_BACK_OFF_S", 0.01)
    return small_world(tmp_path)
