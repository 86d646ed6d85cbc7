"""The plan: data you can look at, and exactly what `hbench run` executes."""

from collections.abc import Mapping
from dataclasses import dataclass

from hbench.adapter.model import Configuration
from hbench.suite.model import ModelEntry, Suite
from hbench.task.model import Task


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one trial may use, after task, suite and multipliers are put together. Seconds, MiB, counts."""

    agent_timeout_s: float
    verifier_timeout_s: float
    build_timeout_s: float
    setup_timeout_s: float
    cpus: float
    memory_mb: int
    pids: int


@dataclass(frozen=True, kw_only=True)
class Arm:
    """A configuration with a model (None for a harness that calls none): what a job is made of.

    Attributes:
        label: The configuration's name in trial ids; unique in the suite.
        folder: The job folder's name, `<harness>--<model>--<8 hex of the arm's digest>`.
        digest: sha256 hex of everything that tells this arm from another.
    """

    label: str
    folder: str
    digest: str
    configuration: Configuration
    model: ModelEntry | None


@dataclass(frozen=True, kw_only=True)
class TrialPlan:
    """One configuration, model, task and attempt (1-based).

    Attributes:
        id: `task/configuration/attempt`.
        folder: The trial folder's name in the job folder, also Harbor's `trial_name`; unique in the job.
    """

    id: str
    folder: str
    arm: Arm
    task: Task
    attempt: int
    limits: Limits


@dataclass(frozen=True, kw_only=True)
class JobPlan:
    """All trials of one arm, in the order of the suite's run."""

    arm: Arm
    trials: tuple[TrialPlan, ...]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A suite expanded.

    Attributes:
        suite_text: The suite as a TOML document: the file as given, or what the flags amount to.
        suite_digest: sha256 hex of it.
        dataset_name: What the dataset is called in lock and report.
        dataset_digest: Over the digests of its selected tasks.
        trials: Every trial in the order it starts: attempt, then task, then arm; tasks and arms in seeded order.
        skipped: Invalid tasks left out with `--skip-invalid`: task name -> reason.
        notes: What a person should know before the run; task warnings among them.
    """

    suite: Suite
    suite_text: str
    suite_digest: str
    jobs: tuple[JobPlan, ...]
    trials: tuple[TrialPlan, ...]
    dataset_name: str
    dataset_digest: str
    skipped: Mapping[str, str]
    notes: tuple[str, ...]
