"""A job is sealed when it is complete and everything in it follows; else it says what does not."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.errors import SealError
from hbench.results.files import dump_json
from hbench.results.seal import seal
from hbench.results.traces import Needles
from hbench.results.verify import verify

Edit = Callable[[Path, Callable[[Any], object]], None]
NOBODY = Needles()


def refusal(job: Path, needles: Needles = NOBODY) -> str:
    """Why it is not sealed; no manifest is left behind."""
    with pytest.raises(SealError) as caught:
        seal(job, needles=needles)
    assert not (job / "manifest.json").exists()
    return str(caught.value)


def test_a_complete_job_is_sealed_and_verifies(finished_job: Path) -> None:
    """The manifest has every other file with size and digest, sorted, in the style of all JSON here."""
    (finished_job / "alpha__1" / "artifacts" / 'größe "x" \\.txt').write_text("x", encoding="utf-8")
    manifest = seal(finished_job, needles=NOBODY)
    assert verify(finished_job) == []
    written = json.loads((finished_job / "manifest.json").read_text(encoding="utf-8"))
    assert written == manifest.model_dump(mode="json")
    assert dump_json(written, where="x") == manifest.as_bytes() == (finished_job / "manifest.json").read_bytes()
    files = [p for p in finished_job.rglob("*") if p.is_file() and p.name != "manifest.json"]
    assert list(written["files"]) == sorted(str(path.relative_to(finished_job)) for path in files)
    for path in files:
        data = path.read_bytes()
        entry = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
        assert written["files"][str(path.relative_to(finished_job))] == entry


def test_the_root_can_be_worked_out_with_other_tools(finished_job: Path) -> None:
    """As docs/job-folder.md describes it."""
    manifest = json.loads(seal(finished_job, needles=NOBODY).as_bytes())
    text = f"hbench/manifest@1 {manifest['job_id']} {manifest['sealed_at']}\n"
    for path in sorted(manifest["files"]):
        text += f"{manifest['files'][path]['sha256']} {manifest['files'][path]['size']} {path}\n"
    assert manifest["root"] == hashlib.sha256(text.encode()).hexdigest()


def test_sealing_again_changes_nothing(finished_job: Path) -> None:
    """An exact rerun is idempotent, a divergent one fails (R29)."""
    first = seal(finished_job, needles=NOBODY)
    before = (finished_job / "manifest.json").read_bytes()
    assert seal(finished_job, needles=NOBODY) == first
    assert (finished_job / "manifest.json").read_bytes() == before
    (finished_job / "alpha__1" / "agent" / "stdout.txt").write_text("other", encoding="utf-8")
    with pytest.raises(SealError, match=r"has a seal that does not hold:\n  alpha__1/agent/stdout\.txt: was changed"):
        seal(finished_job, needles=NOBODY)


@pytest.mark.parametrize(
    "name", ["lock.json", "result.json", "journal.jsonl", "beta__1/lock.json", "beta__1/result.json"]
)
def test_a_job_that_lacks_a_file_is_not_sealed(finished_job: Path, name: str) -> None:
    """Every planned trial has result and lock."""
    (finished_job / name).unlink()
    assert f"{name}: is missing" in refusal(finished_job)


def test_a_job_that_lacks_a_trial_is_not_sealed(finished_job: Path) -> None:
    shutil.rmtree(finished_job / "beta__1")
    assert "beta__1/result.json: is missing" in refusal(finished_job)


def test_a_cancelled_trial_is_not_sealed(tmp_path: Path, make_job: Callable[..., Path], given: Any) -> None:
    """It has a record, but it has not run."""
    job = make_job(tmp_path / "job", (given(task="alpha", exception="CancelledError"),))
    assert "alpha__1/result.json: was cancelled; a resume runs it" in refusal(job)


def test_a_trial_that_is_there_twice_is_not_sealed(finished_job: Path) -> None:
    """Under another name it is foreign, in another's place it is not that trial."""
    shutil.copytree(finished_job / "alpha__1", finished_job / "alpha__3")
    assert "alpha__3: is not the folder of a planned trial" in refusal(finished_job)
    shutil.rmtree(finished_job / "alpha__3")
    shutil.copy(finished_job / "alpha__1" / "result.json", finished_job / "beta__2" / "result.json")
    assert "beta__2/result.json: id: is the same as that of alpha__1" in refusal(finished_job)


def test_totals_that_do_not_follow_are_not_sealed(finished_job: Path, edit: Edit) -> None:
    edit(finished_job / "result.json", lambda result: result.update(mean=0.5))
    assert "result.json: mean: says 0.5, the trials give 0.22916" in refusal(finished_job)


@pytest.mark.parametrize("place", ["link", "alpha__1/agent/link", "alpha__1/artifacts/folder"])
def test_a_link_is_refused_by_name(finished_job: Path, place: str) -> None:
    """Sealing it would seal what is somewhere else."""
    (finished_job / place).symlink_to("/etc")
    assert f"{place}: is a symbolic link" in refusal(finished_job)


def test_a_pipe_is_refused_by_name(finished_job: Path) -> None:
    os.mkfifo(finished_job / "alpha__1" / "artifacts" / "pipe")
    assert "alpha__1/artifacts/pipe: is not a regular file" in refusal(finished_job)


def test_what_a_killed_writer_left_is_swept(finished_job: Path) -> None:
    """In the folders that only hbench writes to; an agent's files stay whatever their names."""
    (finished_job / ".result.json.12ab34cd.hbench-part").touch()
    (finished_job / "alpha__1" / ".lock.json.12ab34cd.hbench-part").touch()
    (finished_job / "alpha__1" / "artifacts" / ".mine.hbench-part").touch()
    seal(finished_job, needles=NOBODY)
    left = [str(p.relative_to(finished_job)) for p in finished_job.rglob("*.hbench-part")]
    assert left == ["alpha__1/artifacts/.mine.hbench-part"]


@pytest.mark.parametrize("name", ["alpha__1/trial.log", "alpha__1/attempts/1/trial.log"])
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ok\nsee /srv/bench/jobs/x\n", "line 2 contains a folder of this machine"),
        ("ok\nanna@here\n", "line 2 contains a user name of this machine"),
        ("ok\non annas-pc\n", "line 2 contains the host name of this machine"),
    ],
)
def test_hbenchs_own_files_do_not_tell_whose_machine_it_was(
    finished_job: Path, name: str, text: str, what: str
) -> None:
    """What agent and tests printed is theirs and stays."""
    needles = Needles(folders=("/srv/bench/jobs",), users=("anna",), hosts=("annas-pc",))
    (finished_job / "alpha__1" / "agent" / "stdout.txt").write_text(text, encoding="utf-8")
    (finished_job / name).parent.mkdir(parents=True, exist_ok=True)
    (finished_job / name).write_text(text, encoding="utf-8")
    assert f"{name}: {what}" in refusal(finished_job, needles)
    (finished_job / name).write_text("ok\n", encoding="utf-8")
    seal(finished_job, needles=needles)


def test_a_message_in_a_result_does_not_tell_either(finished_job: Path, edit: Edit) -> None:
    """Right after a line end, which JSON writes as two characters."""

    def message(record: Any) -> None:
        record["exception_info"]["exception_message"] = "failed\nannas-pc"

    edit(finished_job / "beta__1" / "result.json", message)
    assert "beta__1/result.json: line" in refusal(finished_job, Needles(hosts=("annas-pc",)))


def test_file_names_are_in_the_seal_and_do_not_tell_either(finished_job: Path) -> None:
    (finished_job / "alpha__1" / "artifacts" / "annas-pc.log").touch()
    assert "alpha__1/artifacts/annas-pc.log: has the host name" in refusal(finished_job, Needles(hosts=("annas-pc",)))


def test_many_faults_are_named_up_to_ten(finished_job: Path) -> None:
    for number in range(10):
        (finished_job / f"link-{number:02d}").symlink_to("/etc")
    assert "more" not in refusal(finished_job)
    for number in range(10, 15):
        (finished_job / f"link-{number:02d}").symlink_to("/etc")
    told = refusal(finished_job)
    assert "link-09" in told
    assert "link-10" not in told
    assert "and 5 more" in told


def test_this_machine_is_what_is_looked_for_by_default(finished_job: Path) -> None:
    (finished_job / "alpha__1" / "trial.log").write_text(f"in {finished_job}\n", encoding="utf-8")
    with pytest.raises(SealError, match="contains a folder of this machine"):
        seal(finished_job)
