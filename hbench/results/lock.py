"""`lock.json` of a job and of a trial: what was fixed before the first trial started."""

from collections import Counter, defaultdict
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hbench.results.moment import Moment
from hbench.results.tree import OWN_FILES, is_sealable

JOB_LOCK_FORMAT: Final = "hbench/job-lock@1"
TRIAL_LOCK_FORMAT: Final = "hbench/trial-lock@1"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _folder_name(name: str) -> str:
    if not is_sealable(name) or "/" in name or name in {"", ".", ".."} or name in OWN_FILES:
        raise ValueError("is not the name of a trial folder")
    return name


FolderName = Annotated[str, AfterValidator(_folder_name)]


class SuiteLock(_Part):
    name: str
    digest: str
    seed: int
    attempts: int
    concurrency: int


class DatasetLock(_Part):
    """`skipped`: invalid tasks left out with `--skip-invalid`, name -> reason."""

    name: str
    digest: str
    skipped: dict[str, str]
    build_fallback: bool


class ConfigurationLock(_Part):
    label: str
    harness: str
    version: str
    adapter_digest: str
    built_in: bool
    options: dict[str, Any]
    sees_solution: bool
    sees_tests: bool
    calls_model: bool


class ArmLock(_Part):
    folder: str
    digest: str


class ModelLock(_Part):
    name: str
    provider: str | None
    access: Literal["proxy", "direct"]
    host: str | None


class NetworkLock(_Part):
    mode: Literal["allowlist", "open", "none"]
    allow: list[str]


class VerifierLock(_Part):
    mode: Literal["live", "snapshot"]


class RetryLock(_Part):
    max_retries: int


class CaBundleLock(_Part):
    """The certificates handed into containers, and where they were found."""

    sha256: str
    certificates: int
    found: Literal["suite", "environment", "host"]


ImageSource = Literal["build", "pull", "local", "fallback"]
"""Where an image came from; `fallback`: built because it could not be pulled."""


class ImageLock(_Part):
    """`id` is the engine's image id; `builder` is null where nothing was built."""

    id: str
    repo_digests: list[str]
    source: ImageSource
    builder: str | None


class LimitsLock(_Part):
    """What one trial of the task may use: seconds, CPUs, MiB, processes."""

    agent_timeout_s: float
    verifier_timeout_s: float
    build_timeout_s: float
    setup_timeout_s: float
    cpus: float
    memory_mb: int
    pids: int


class TaskLock(_Part):
    """`digest` is hbench's, `harbor_digest` Harbor's package digest, `checksum` the `dirhash` sha256."""

    name: str
    attempts: int = Field(ge=1)
    digest: str
    harbor_digest: str
    checksum: str
    image: ImageLock | None
    limits: LimitsLock
    warnings: list[str]


class PlannedTrial(_Part):
    trial_id: str
    folder: FolderName
    task: str
    attempt: int = Field(ge=1)


class EngineLock(_Part):
    version: str
    api_version: str
    os: str
    arch: str
    builder: str | None


class MachineLock(_Part):
    """What the job ran on, without a name of the machine or of a person."""

    python: str
    platform: str
    engine: EngineLock
    packages: dict[str, str]


class JobLock(_Part):
    """`lock.json` of a job.

    Attributes:
        limits: The suite's `[limits]` as given; each task's own limits stand with the task.
        image: Null for a task whose image could not be had.
        trials: In the order they start.
    """

    format: Literal["hbench/job-lock@1"]
    hbench_version: str
    results_epoch: int
    job_id: str
    batch_id: str
    created_at: Moment
    suite: SuiteLock
    dataset: DatasetLock
    configuration: ConfigurationLock
    arm: ArmLock
    model: ModelLock | None
    limits: dict[str, int | float | None]
    network: NetworkLock
    verifier: VerifierLock
    retry: RetryLock
    ca_bundle: CaBundleLock | None
    tasks: list[TaskLock]
    trials: list[PlannedTrial]
    flags: list[str]
    asymmetries: list[str]
    prices: dict[str, Any] | None
    machine: MachineLock

    @model_validator(mode="after")
    def _every_attempt_is_planned_once(self) -> Self:
        """Rows equal tasks times attempts (R22)."""
        for what, names in (
            ("the task", [task.name for task in self.tasks]),
            ("the trial", [trial.trial_id for trial in self.trials]),
            ("the folder", [trial.folder for trial in self.trials]),
        ):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"{what} {twice[0]!a} stands twice")
        attempts: dict[str, list[int]] = defaultdict(list)
        for trial in self.trials:
            attempts[trial.task].append(trial.attempt)
        for task in self.tasks:
            planned = sorted(attempts.pop(task.name, []))
            if len(planned) != task.attempts or planned != list(range(1, len(planned) + 1)):
                raise ValueError(f"the trials of {task.name!a} are not its {task.attempts} attempts, each once")
        if attempts:
            raise ValueError(f"the task {next(iter(attempts))!a} of a trial is not among the tasks")
        return self


class TrialLock(_Part):
    """`lock.json` of a trial. `image_id` is null if the trial ended before it had an image."""

    format: Literal["hbench/trial-lock@1"]
    job_id: str
    trial_id: str
    folder: FolderName
    task: str
    attempt: int = Field(ge=1)
    task_digest: str
    image_id: str | None
    limits: LimitsLock
