"""Phase 4: what the agent left for people, copied out under caps. Nothing in it is trusted."""

import shutil
from pathlib import Path, PurePosixPath

from hbench.task.model import Artifact, Task
from hbench.trial.environment import Environment

LOGS = "/logs"
_KEPT = ("agent", "artifacts")
"""Folders of /logs, and of the trial."""


def collect(task: Task, environment: Environment, folder: Path) -> tuple[str, ...]:
    """Copy /logs/agent, /logs/artifacts and the declared artifacts out; returns flags.

    The harness's own stdout.txt stays the one hbench recorded, even if the agent left a file of that name.
    """
    flags: set[str] = set()
    _copy_logs(environment, folder, flags)
    for artifact in task.artifacts:
        destination = _destination(artifact, folder / "artifacts")
        if not _copy(environment, artifact.source, destination, artifact.exclude, flags):
            flags.add("artifact_missing")
    return tuple(sorted(flags))


def _copy_logs(environment: Environment, folder: Path, flags: set[str]) -> None:
    """Both folders by one request, since each costs as much as a short command."""
    passing = folder / ".logs"
    _copy(environment, LOGS, passing, (), flags)
    for source in (passing / name for name in _KEPT):
        target = folder / source.name
        if source.is_dir():
            target.mkdir(exist_ok=True)
            for left in source.iterdir():
                if (target / left.name).exists():
                    flags.add("files_not_collected")
                else:
                    left.rename(target / left.name)
    if passing.is_dir():
        shutil.rmtree(passing)
    else:
        passing.unlink(missing_ok=True)


def _copy(environment: Environment, source: str, destination: Path, exclude: tuple[str, ...], flags: set[str]) -> bool:
    unpacked = environment.copy_out(source, destination, exclude=exclude)
    if unpacked is None:
        return False
    if unpacked.skipped:
        flags.add("files_not_collected")
    if unpacked.capped:
        flags.add("artifacts_over_cap")
    return True


def _destination(artifact: Artifact, root: Path) -> Path:
    """Below artifacts/: the declared destination, else the source's own path."""
    relative = artifact.destination or str(PurePosixPath(artifact.source).relative_to("/"))
    return root.joinpath(*PurePosixPath(relative).parts)
