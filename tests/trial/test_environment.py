"""A task's container, on the scripted engine."""

import tracemalloc
from dataclasses import replace

import pytest

from hbench.container.engine import Command, ImageFacts
from hbench.container.fake import FakeEngine, image_facts
from hbench.plan.model import TrialPlan
from hbench.task.model import Healthcheck
from hbench.trial.bench import Bench
from hbench.trial.ending import HealthcheckError
from hbench.trial.environment import started


@pytest.fixture
def image(engine: FakeEngine) -> ImageFacts:
    return engine.images.setdefault("task", image_facts("task"))


def test_two_attempts_at_a_task_with_a_long_name_run_side_by_side(
    trial: TrialPlan, bench: Bench, image: ImageFacts, engine: FakeEngine
) -> None:
    """The engine refuses a name that is in use; nor must a retry wait until its forerunner's container is gone."""
    first, second = (replace(trial, folder=f"{'x' * 80}__{attempt}") for attempt in (1, 2))
    with started(first, image, bench), started(second, image, bench), started(second, image, bench):
        assert len({one.spec.name for one in engine.containers.values()}) == 3


def test_a_healthcheck_may_say_any_amount(
    trial: TrialPlan, bench: Bench, image: ImageFacts, engine: FakeEngine
) -> None:
    """It is the task's, and could fill the host's memory; the end of it is what the message needs."""

    def shouts(_: object, command: Command) -> int:
        assert command.output is not None
        for number in range(200):
            command.output(f"{number:>9}\n".encode() * 10_000)
        return 1

    engine.scripts["is it up"] = shouts
    check = Healthcheck(command="is it up", interval_s=0, retries=1)
    patient = replace(trial, task=replace(trial.task, environment=replace(trial.task.environment, healthcheck=check)))
    tracemalloc.start()
    try:
        with pytest.raises(HealthcheckError, match=r"exit status 1\n(.*\n)*      199"), started(patient, image, bench):
            pass
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 5_000_000
