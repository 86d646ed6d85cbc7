"""Removing what dead batches left, and nothing else."""

from pathlib import Path

import pytest

from hbench.container.engine import ContainerSpec
from hbench.container.fake import FakeEngine
from hbench.container.owner import BATCH_LABEL, MACHINE_LABEL, alive, labels
from hbench.container.sweep import leftovers, sweep


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine()


def container(engine: FakeEngine, labelled: dict[str, str]) -> str:
    """One with these labels."""
    return engine.create(
        ContainerSpec(
            image="x",
            name=f"hbench-{len(engine.containers)}",
            labels=labelled,
            env={},
            workdir=None,
            cpus=1.0,
            memory_mb=64,
            pids=16,
        )
    )


def test_containers_of_a_batch_that_nobody_runs_are_removed(engine: FakeEngine) -> None:
    """All of them, and the count is told."""
    for _ in range(6):
        container(engine, labels("dead"))
    assert sweep(engine) == 6
    assert engine.containers == {}


def test_containers_of_a_running_batch_stay(engine: FakeEngine) -> None:
    """Whoever runs it on this machine."""
    mine, old = container(engine, labels("running")), container(engine, labels("dead"))
    with alive("running"):
        assert leftovers(engine) == {old: "dead"}
        assert sweep(engine) == 1
    assert set(engine.containers) == {mine}


def test_containers_of_another_machine_or_user_stay(engine: FakeEngine) -> None:
    """Whether their batch runs cannot be seen from here."""
    theirs = container(engine, {**labels("theirs"), MACHINE_LABEL: "another"})
    unmarked = container(engine, {BATCH_LABEL: "old"})
    assert sweep(engine) == 0
    assert set(engine.containers) == {theirs, unmarked}


def test_everything_is_everything_of_hbench_and_nothing_else(engine: FakeEngine) -> None:
    """What has no label of a batch is somebody else's."""
    other = container(engine, {"other": "batch"})
    container(engine, {**labels("theirs"), MACHINE_LABEL: "another"})
    container(engine, labels("running"))
    with alive("running"):
        assert sweep(engine, everything=True) == 2
    assert set(engine.containers) == {other}


def test_with_nothing_to_remove_nothing_is_removed(engine: FakeEngine) -> None:
    """The usual case, at every start."""
    assert sweep(engine) == 0
