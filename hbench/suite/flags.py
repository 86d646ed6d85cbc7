"""Harbor's flags: what a suite can be told on the command line."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Flags:
    """What was said on the command line; None or empty where nothing was (docs/suite.md says what each does)."""

    path: Path | None = None
    dataset: str | None = None
    agent: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    n_attempts: int | None = None
    n_concurrent: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    n_tasks: int | None = None
    seed: int | None = None
    max_retries: int | None = None
    network: str | None = None
    allow: tuple[str, ...] = ()
    timeout_multiplier: float | None = None
    agent_timeout_multiplier: float | None = None
    verifier_timeout_multiplier: float | None = None
    setup_timeout_multiplier: float | None = None
    build_timeout_multiplier: float | None = None
