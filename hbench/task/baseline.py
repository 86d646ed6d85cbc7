"""The reward that a task grants to no work at all."""

from hbench.errors import TaskError
from hbench.task.model import Task
from hbench.tomlfile import line_of, read_text
from hbench.tomlwords import shown

_KEY = ("metadata", "baseline_reward")


def baseline_reward(task: Task) -> float:
    """`[metadata] baseline_reward`: what nop and the lazy baselines may earn; 0 where the task is silent.

    Raises:
        TaskError: It is no number, or not within 0 and 1 (1 excluded: the solution must earn more).
    """
    said = task.metadata.get(_KEY[-1], 0.0)
    if isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said < 1:
        return float(said)
    file = task.folder / "task.toml"
    line = line_of(read_text(file, error=TaskError, hint="Put the file back."), _KEY)
    raise TaskError(
        f'"metadata.baseline_reward" is {shown(said)}, not a number from 0 to below 1',
        where=f"{file}:{line}",
        hint="Say what a trial without any work earns.",
    )
