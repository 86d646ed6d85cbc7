"""`batch.json`: what a batch is and how far it got. It lies outside every seal, and names folders of this machine."""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from hbench.results.lock import FolderName
from hbench.results.moment import Moment

BATCH = "batch.json"
SUITE = "suite.toml"
"""The two files of a batch that lie beside its jobs."""

BATCH_FORMAT: Final = "hbench/batch@1"


class BatchFile(BaseModel):
    """`batch.json`.

    Attributes:
        suite: The suite's name.
        base: The folder that the suite's relative paths are relative to.
        skip_invalid, force_build: What the run was asked for, so that a resume does the same.
        jobs: The job folders' names.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["hbench/batch@1"]
    batch_id: str
    created_at: Moment
    hbench_version: str
    state: Literal["running", "cancelled", "done"]
    suite: str
    suite_digest: str
    base: str
    skip_invalid: bool
    force_build: bool
    jobs: list[FolderName]
