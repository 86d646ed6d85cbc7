"""Whatever is changed in a sealed job is found and named; with a new seal, whatever can be worked out again."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hbench.errors import SealError
from hbench.results.fault import Fault
from hbench.results.files import write_json
from hbench.results.verify import verify

Edit = Callable[[Path, Callable[[Any], object]], None]
SealAnew = Callable[[Path], None]


def files_of(job: Path) -> list[str]:
    return sorted(str(path.relative_to(job)) for path in job.rglob("*") if path.is_file())


def told(job: Path) -> list[str]:
    return [str(fault) for fault in verify(job)]


def test_a_sealed_job_has_no_fault(sealed_job: Path) -> None:
    """Wherever it is copied to."""
    assert verify(sealed_job) == []


def _damages(data: bytes) -> Iterator[bytes]:
    """One bit at the start, in the middle and at the end; a byte less, a byte more, nothing left."""
    for index in {0, len(data) // 2, len(data) - 1}:
        yield data[:index] + bytes([data[index] ^ 1]) + data[index + 1 :]
    yield data[:-1]
    yield data + b"\n"
    yield b""


def test_any_changed_file_is_named(sealed_job: Path) -> None:
    """Whichever file, whichever byte."""
    for name in files_of(sealed_job):
        path = sealed_job / name
        original = path.read_bytes()
        for damaged in _damages(original):
            path.write_bytes(damaged)
            assert name in {fault.path for fault in verify(sealed_job)}
        path.write_bytes(original)
    assert verify(sealed_job) == []


def test_any_missing_file_is_named(sealed_job: Path) -> None:
    for name in files_of(sealed_job):
        hidden = (sealed_job / name).rename(sealed_job.parent / "hidden")
        assert name in {fault.path for fault in verify(sealed_job)}
        hidden.rename(sealed_job / name)


@pytest.mark.parametrize(
    "name", ["x", ".DS_Store", "alpha__1/x", "alpha__1/agent/.x", "beta__1/verifier/reward.txt", "new/deep/x"]
)
def test_any_added_file_is_named(sealed_job: Path, name: str) -> None:
    """Empty, hidden or deep."""
    (sealed_job / name).parent.mkdir(parents=True, exist_ok=True)
    (sealed_job / name).touch()
    assert Fault(name, "was added after sealing") in verify(sealed_job)


def test_a_file_replaced_by_something_else_is_named(sealed_job: Path) -> None:
    """By a link to the same bytes, a pipe, or a folder; and no pipe makes it wait."""
    same = shutil.copy(sealed_job / "lock.json", sealed_job.parent / "same.json")
    (sealed_job / "lock.json").unlink()
    (sealed_job / "lock.json").symlink_to(same)
    log = sealed_job / "alpha__1" / "trial.log"
    log.unlink()
    os.mkfifo(log)
    stdout = sealed_job / "beta__1" / "agent" / "stdout.txt"
    stdout.unlink()
    stdout.mkdir()
    found = told(sealed_job)
    assert "lock.json: is a symbolic link" in found
    assert "alpha__1/trial.log: is not a regular file" in found
    assert "beta__1/agent/stdout.txt: is sealed and missing" in found


def test_a_folder_replaced_by_a_link_to_its_like_is_named(sealed_job: Path) -> None:
    moved = (sealed_job / "alpha__1").rename(sealed_job.parent / "elsewhere")
    (sealed_job / "alpha__1").symlink_to(moved)
    assert "alpha__1: is a symbolic link" in told(sealed_job)


def test_every_byte_of_the_seal_counts(sealed_job: Path) -> None:
    """Digits, white space, order: there is one way to write it."""
    path = sealed_job / "manifest.json"
    original = path.read_bytes()
    for index in range(0, len(original), 23):
        path.write_bytes(original[:index] + bytes([original[index] ^ 1]) + original[index + 1 :])
        assert any(fault.path == "manifest.json" for fault in verify(sealed_job)), index
    value = json.loads(original)
    value["files"] = dict(reversed(value["files"].items()))
    write_json(path, value)
    assert told(sealed_job) == ["manifest.json: is not written as hbench writes it"]


def test_a_job_that_was_never_sealed_says_so(finished_job: Path) -> None:
    assert told(finished_job) == ["manifest.json: is missing: the job is not sealed"]


def test_a_name_that_plays_with_the_terminal_is_shown_escaped(sealed_job: Path) -> None:
    (sealed_job / "a\x1b[2J\nOK").touch()
    assert [fault.path for fault in verify(sealed_job)] == ["a\\x1b[2J\\nOK"]


@pytest.mark.parametrize(
    "hostile", [b"[" * 200_000, b"\x00" * 1000, b'"\\ud800"', b"[]", b"null", b"1e999", b'{"a":1,"a":1}']
)
def test_whatever_stands_in_a_file_a_fault_is_all_that_comes_of_it(sealed_job: Path, hostile: bytes) -> None:
    """Every file that is read, and no exception."""
    for name in files_of(sealed_job):
        if name.endswith((".json", ".jsonl", "reward.txt")):
            original = (sealed_job / name).read_bytes()
            (sealed_job / name).write_bytes(hostile)
            assert name in {fault.path for fault in verify(sealed_job)}
            (sealed_job / name).write_bytes(original)


def write_batch(batch: Path, *jobs: str) -> None:
    said: dict[str, Any] = {"format": "hbench/batch@1", "batch_id": "1c2e", "created_at": "2026-03-01T12:00:00Z"}
    said |= {"hbench_version": "0.3.0", "state": "done", "suite": "nightly", "suite_digest": "0" * 64, "base": "."}
    write_json(batch / "batch.json", {**said, "skip_invalid": False, "force_build": False, "jobs": list(jobs)})


def test_a_batch_is_verified_job_by_job(sealed_job: Path) -> None:
    """Paths then begin with the job's folder."""
    batch = sealed_job.parent
    (batch / "suite.toml").write_bytes(b"[suite]\n")
    (batch / "builds").mkdir()
    shutil.copytree(sealed_job, batch / "second")
    write_batch(batch, sealed_job.name, "second")
    assert verify(batch) == []
    (batch / "second" / "beta__1" / "agent" / "stdout.txt").unlink()
    assert told(batch) == ["second/beta__1/agent/stdout.txt: is sealed and missing"]


def test_a_job_that_a_batch_names_and_lacks_is_named(sealed_job: Path) -> None:
    batch = sealed_job.parent
    (batch / "suite.toml").write_bytes(b"[suite]\n")
    write_batch(batch, sealed_job.name, "gone")
    assert told(batch) == ["gone: is missing: batch.json names this job"]
    write_batch(batch, "../gone")
    with pytest.raises(SealError, match=r"batch\.json: jobs\.0"):
        verify(batch)


def test_a_suite_file_that_the_jobs_were_not_made_from_is_named(sealed_job: Path) -> None:
    """Changed or gone: it lies outside every seal, but its digest is in the locks."""
    batch = sealed_job.parent
    wanted = [f"suite.toml: is not the suite that {sealed_job.name}/lock.json was made from"]
    assert told(batch) == wanted
    (batch / "suite.toml").write_bytes(b"[suite]\n\n")
    assert told(batch) == wanted


def test_a_folder_that_is_neither_a_job_nor_a_batch_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SealError, match="is neither a job nor a batch"):
        verify(tmp_path)
    with pytest.raises(SealError, match="no such folder"):
        verify(tmp_path / "gone")


def test_a_job_that_the_batch_does_not_name_is_named(sealed_job: Path) -> None:
    """Such as a copy beside its original, good as its seal is."""
    batch = sealed_job.parent
    (batch / "suite.toml").write_bytes(b"[suite]\n")
    shutil.copytree(sealed_job, batch / "copy")
    write_batch(batch, sealed_job.name)
    assert told(batch) == ["copy: is not a job of this batch: batch.json does not name it"]
