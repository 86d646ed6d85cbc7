"""Earlier starts of a trial, kept under `attempts/N/` when it runs again."""

from pathlib import Path

ATTEMPTS = "attempts"


def set_aside(trial_folder: Path) -> None:
    """Move what the last start left in the trial's folder to `attempts/N/`; nothing is deleted."""
    left = [path for path in trial_folder.iterdir() if path.name != ATTEMPTS]
    if not left:
        return
    kept = trial_folder / ATTEMPTS
    kept.mkdir(exist_ok=True)
    number = 1 + max((int(path.name) for path in kept.iterdir() if path.name.isdigit()), default=0)
    target = kept / str(number)
    target.mkdir()
    for path in left:
        path.rename(target / path.name)
