"""Containers removed in the background."""

import threading

from hbench.container.errors import RefusedError
from hbench.container.fake import FakeEngine
from hbench.job.undertaker import Undertaker


class Slow(FakeEngine):
    """Removes only when it may; refuses some."""

    def __init__(self) -> None:
        super().__init__()
        self.may = threading.Event()
        self.gone: set[str] = set()

    def remove(self, container: str) -> None:
        self.may.wait(10)
        if container.startswith("stuck"):
            raise RefusedError(f"{container}: device or resource busy")
        self.gone.add(container)


def test_a_trial_does_not_wait_for_its_container_but_the_batch_does() -> None:
    """Leaving the block waits until all of it is gone."""
    engine, warnings = Slow(), list[str]()
    with Undertaker(engine, warnings.append) as bury:
        for number in range(10):
            bury(f"c{number}")
        assert engine.gone == set()
        engine.may.set()
    assert engine.gone == {f"c{number}" for number in range(10)}
    assert warnings == []


def test_what_cannot_be_removed_is_one_warning_and_no_error() -> None:
    """The results are on disk, and the jobs can be sealed."""
    engine, warnings = Slow(), list[str]()
    engine.may.set()
    with Undertaker(engine, warnings.append) as bury:
        for name in ("stuck-1", "c1", "stuck-2"):
            bury(name)
    assert engine.gone == {"c1"}
    (warning,) = warnings
    assert warning.startswith("2 containers could not be removed: stuck-1: device or resource busy")
    assert "hbench clean" in warning
