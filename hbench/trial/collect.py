"""Phase 4: what the agent left for people, copied out under caps. Nothing in it is trusted."""

from pathlib import Path, PurePosixPath

from hbench.task.model import Artifact, Task
from hbench.trial.environment import Environment

AGENT_LOGS = "/logs/agent"
ARTIFACTS = "/logs/artifacts"


def collect(task: Task, environment: Environment, folder: Path) -> tuple[str, ...]:
    """Copy /logs/agent, /logs/artifacts and the declared artifacts out; returns flags.

    The harness's own stdout.txt stays the one hbench recorded, even if the agent left a file of that name.
    """
    flags: set[str] = set()
    _copy(environment, AGENT_LOGS, folder / "agent", (), flags)
    _copy(environment, ARTIFACTS, folder / "artifacts", (), flags)
    for artifact in task.artifacts:
        destination = _destination(artifact, folder / "artifacts")
        if not _copy(environment, artifact.source, destination, artifact.exclude, flags):
            flags.add("artifact_missing")
    return tuple(sorted(flags))


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
