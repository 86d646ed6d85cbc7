"""A batch's folders say before the first trial what each job will run on."""

from pathlib import Path
from typing import Any

import pytest

from hbench.container.ca import CaBundle
from hbench.container.fake import image_facts
from hbench.errors import ResumeError
from hbench.job.folder import create, reopen, write_batch, write_locks
from hbench.results.files import read_model
from hbench.results.lock import JobLock
from hbench.results.moment import instant
from hbench.trial.bench import Prepared

BUNDLE = CaBundle(pem=b"two", extra=(b"one",), sha256="ab" * 32, found="host")


@pytest.fixture
def lock(world: Any) -> JobLock:
    """Of the first job, as it lies on disk; alpha's image was built, beta's could not be had."""
    plan = world.plan()
    batch = create(plan, world.folder / "jobs", base=world.folder, skip_invalid=False, force_build=False)
    images = {
        "alpha": Prepared(image=image_facts("alpha"), source="fallback"),
        "beta": Prepared(image=None, source="pull", problem="no such image"),
    }
    locks = write_locks(batch, plan, images=images, facts=world.engine.facts(), ca_bundle=BUNDLE)
    written = read_model(batch.job(plan.jobs[0]) / "lock.json", JobLock)
    assert written == locks[plan.jobs[0].arm.folder]
    assert batch.path.name == f"small-{instant(written.created_at):%Y%m%dT%H%M%SZ}"
    return written


def test_an_image_stands_with_its_source_and_what_built_it(lock: JobLock) -> None:
    """A task without an image has null there."""
    alpha, beta = (task.image for task in lock.tasks)
    assert alpha is not None
    assert (alpha.id, alpha.source, alpha.builder) == ("sha256:alpha", "fallback", "classic")
    assert beta is None


def test_certificates_are_named_by_their_digest(lock: JobLock) -> None:
    """Which they were can be checked later, without their being there."""
    assert lock.ca_bundle is not None
    assert lock.ca_bundle.model_dump() == {"sha256": "ab" * 32, "certificates": 1, "found": "host"}


def test_a_batch_is_opened_again_as_it_was_asked_for(world: Any) -> None:
    """Its suite is read from the folder, and runs as it did then."""
    plan = world.plan()
    batch = create(plan, world.folder / "jobs", base=world.folder, skip_invalid=True, force_build=True)
    write_batch(batch, plan, state="cancelled")
    assert reopen(batch.path) == batch


@pytest.mark.parametrize("text", ["{}", "[", '{"format": "hbench/batch@2"}'])
def test_a_batch_file_that_is_not_hbenchs_is_no_batch(tmp_path: Path, text: str) -> None:
    """Nothing of it is guessed at."""
    (tmp_path / "batch.json").write_text(text)
    with pytest.raises(ResumeError, match="Start a new run") as caught:
        reopen(tmp_path)
    assert caught.value.where == str(tmp_path / "batch.json")
