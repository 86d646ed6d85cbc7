"""The reward that a task grants to no work at all."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.errors import TaskError
from hbench.task.baseline import baseline_reward
from hbench.task.load import load_task

MakeTask = Callable[..., Path]


@pytest.mark.parametrize(
    ("said", "reward"), [("", 0.0), ("baseline_reward = 0", 0.0), ("baseline_reward = 0.25", 0.25)]
)
def test_it_is_what_the_metadata_say(make_task: MakeTask, said: str, reward: float) -> None:
    """0 where they are silent."""
    assert baseline_reward(load_task(make_task(toml=f"[metadata]\n{said}\n"))) == reward


@pytest.mark.parametrize("said", ["1", "1.0", "-0.1", "nan", "inf", "true", '"0.5"', "[0.5]"])
def test_what_is_no_number_from_0_to_below_1_is_refused_with_its_line(make_task: MakeTask, said: str) -> None:
    """A task whose idle trial earns 1 can tell nobody apart."""
    task = load_task(make_task(toml=f"[metadata]\ntags = []\nbaseline_reward = {said}\n"))
    with pytest.raises(TaskError, match=r"task\.toml:3: ") as refused:
        baseline_reward(task)
    assert "metadata.baseline_reward" in refused.value.what
