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
from hbench.results.files import read_model, write_json
from hbench.results.job import job_result
from hbench.results.lock import JobLock
from hbench.results.record import TrialRecord
from hbench.results.seal import seal
from hbench.results.traces import Needles
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


# From here on the seal is made anew after the change, as a forger would.


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Callable[[Any], None]]]:
    """(dotted key, change it) of every leaf of a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in items:
        here = f"{key}[{name}]" if isinstance(value, list) else f"{key}.{name}".lstrip(".")
        if isinstance(inner, dict | list) and inner:
            yield from leaves(inner, here)
        else:
            yield here, lambda holder=value, name=name: holder.__setitem__(name, other_than(holder[name]))  # type: ignore[misc]


def other_than(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    return "x" if not isinstance(value, str) else value + "x"


def test_any_figure_of_the_job_that_does_not_follow_is_named_by_its_key(sealed_job: Path, seal_anew: SealAnew) -> None:
    """Every leaf of result.json, one after the other."""
    path = sealed_job / "result.json"
    original = path.read_bytes()
    keys = [key for key, _ in leaves(json.loads(original))]
    assert {"mean", "per_task[0].rewards[1]", "exceptions.AgentTimeoutError", "buckets.passed", "usage.input"} <= set(
        keys
    )
    for number, key in enumerate(keys):
        value = json.loads(original)
        list(leaves(value))[number][1]()  # type: ignore[call-arg]
        write_json(path, value)
        seal_anew(sealed_job)
        assert [str(f) for f in verify(sealed_job) if str(f).startswith(f"result.json: {key}: says ")], key


def test_figures_that_are_missing_or_made_up_are_named(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    edit(sealed_job / "result.json", lambda result: result.pop("mean"))
    edit(sealed_job / "result.json", lambda result: result.update(elo=1500))
    edit(sealed_job / "result.json", lambda result: result["buckets"].update(magic=1))
    seal_anew(sealed_job)
    assert [line.split(";")[0] for line in told(sealed_job)] == [
        "result.json: buckets.magic: should not be there",
        "result.json: elo: should not be there",
        "result.json: mean: is missing",
    ]


def test_a_reward_that_the_verifier_did_not_write_is_named(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    """Though totals, journal and seal were made to fit it."""
    trial = sealed_job / "beta__2"
    edit(trial / "result.json", lambda record: record["verifier_result"]["rewards"].update(reward=1.0))
    text = (sealed_job / "journal.jsonl").read_text(encoding="utf-8")
    (sealed_job / "journal.jsonl").write_text(text.replace('"reward": 0.0', '"reward": 1.0'), encoding="utf-8")
    refit(sealed_job)
    seal_anew(sealed_job)
    assert told(sealed_job) == [
        "beta__2/result.json: verifier_result.rewards.reward: says 1.0, verifier/ gives 0.0",
    ]


def refit(job: Path) -> None:
    """Make the totals follow from the trials again."""
    lock = read_model(job / "lock.json", JobLock)
    records = [read_model(job / trial.folder / "result.json", TrialRecord) for trial in lock.trials]
    write_json(job / "result.json", job_result(lock, records).model_dump(mode="json"))


@pytest.mark.parametrize(
    ("trial", "name", "text", "what"),
    [
        ("alpha__1", "reward.txt", "0\n", "verifier_result.rewards.reward: says 1.0, verifier/ gives 0.0"),
        ("alpha__1", "reward.txt", "", "verifier_result.rewards: the trial's verifier/ gives no reward"),
        ("alpha__1", "reward.txt", None, "verifier_result.rewards: the trial's verifier/ gives no reward"),
        ("alpha__1", "reward.json", "{}", "verifier_result.rewards: the trial's verifier/ gives no reward"),
        ("alpha__2", "reward.json", '{"speed": 0.25, "right": 0.5}', "rewards.speed: says 0.5, verifier/ gives 0.25"),
        ("alpha__2", "reward.json", '{"reward": 0.375, "speed": 0.5}', "rewards.right: should not be there"),
        (
            "beta__1",
            "reward.txt",
            "1\n",
            "exception_type: says RewardFileNotFoundError, the trial's verifier/ gives the",
        ),
        ("beta__1", "reward.txt", "", "says RewardFileNotFoundError, the trial's verifier/ gives RewardFileEmptyError"),
        ("gamma__2", "reward.txt", None, "verifier/ gives RewardFileNotFoundError"),
    ],
)
def test_a_verifiers_file_that_does_not_fit_the_result_is_named(
    sealed_job: Path, seal_anew: SealAnew, trial: str, name: str, text: str | None, what: str
) -> None:
    """Changed, added or removed; whether there was a reward or not."""
    path = sealed_job / trial / "verifier" / name
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")
    seal_anew(sealed_job)
    assert any(line.startswith(f"{trial}/result.json: ") and what in line for line in told(sealed_job))


def test_files_of_a_verifier_that_did_not_end_prove_nothing(
    tmp_path: Path, make_job: Callable[..., Path], given: Any
) -> None:
    """Stopped at its limit or tampered with, it may have left a reward file that was rightly not taken."""
    trials = tuple(
        given(task=name, files={"reward.txt": "1"}, exception=exception)
        for name, exception in [("a", "VerifierTimeoutError"), ("b", "RewardTamperedError"), ("c", "EngineError")]
    )
    job = make_job(tmp_path / "job", trials)
    seal(job, needles=Needles())
    assert verify(job) == []


def test_a_flag_that_was_taken_away_is_named(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    edit(sealed_job / "alpha__2" / "result.json", lambda record: record.update(flags=[]))
    seal_anew(sealed_job)
    assert told(sealed_job) == [
        'alpha__2/result.json: flags: lacks "reward_is_mean_of_keys", which verifier/ gives',
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("trial_id", "alpha/oracle/2"),
        ("trial_name", "alpha__2"),
        ("task_name", "beta"),
        ("task_checksum", "f" * 64),
        ("attempt", 2),
        ("agent_info", {"name": "codex", "version": "1", "model_info": None}),
        ("agent_info", {"name": "oracle", "version": "2", "model_info": None}),
        ("agent_info", {"name": "oracle", "version": "1", "model_info": {"name": "m", "provider": None}}),
        ("exception_info", {"exception_type": "AgentTimeoutError", "exception_message": ""}),
        ("starts", 2),
        ("verifier_result", None),
        ("verifier_result", {"rewards": {}}),
        ("verifier_result", {"rewards": {"speed": 1.0, "reward": 1.0}}),
        ("verifier_result", {"rewards": {"reward": True}}),
        ("verifier_result", {"rewards": {"reward": "1"}}),
        ("verifier_result", {"rewards": {"reward": 7.0}}),
        ("started_at", "yesterday"),
        ("starts", 0),
        ("format", "hbench/trial-result@2"),
        ("id", None),
        ("colour", "red"),
    ],
)
def test_a_trials_result_that_is_not_the_planned_trials_or_not_valid_is_named(
    sealed_job: Path, edit: Edit, seal_anew: SealAnew, key: str, value: Any
) -> None:
    """Each key that lock, journal or verifier know too, and each that a reader relies on."""
    edit(sealed_job / "alpha__1" / "result.json", lambda record: record.update({key: value}))
    seal_anew(sealed_job)
    assert [f for f in verify(sealed_job) if f.path in {"alpha__1/result.json", "journal.jsonl", "result.json"}]


@pytest.mark.parametrize("key", ["format", "id", "trial_id", "verifier_result", "exception_info", "started_at"])
def test_a_trials_result_without_one_of_its_keys_is_named(
    sealed_job: Path, edit: Edit, seal_anew: SealAnew, key: str
) -> None:
    edit(sealed_job / "alpha__1" / "result.json", lambda record: record.pop(key))
    seal_anew(sealed_job)
    assert any(line.startswith(f"alpha__1/result.json: {key}") for line in told(sealed_job))


def test_a_key_that_stands_twice_is_named(sealed_job: Path, seal_anew: SealAnew) -> None:
    """One reader would take the first, another the last."""
    path = sealed_job / "beta__2" / "result.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"reward": 0.0', '"reward": 1.0,\n"reward": 0.0'), encoding="utf-8")
    seal_anew(sealed_job)
    assert any(
        "beta__2/result.json: is not valid JSON: the key 'reward' stands twice" in line for line in told(sealed_job)
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("job_id", "another"),
        ("trial_id", "alpha/oracle/2"),
        ("folder", "alpha__2"),
        ("task", "beta"),
        ("attempt", 2),
        ("task_digest", "0" * 64),
        ("image_id", "sha256:other"),
        ("image_id", None),
    ],
)
def test_a_trials_lock_that_differs_from_the_jobs_is_named(
    sealed_job: Path, edit: Edit, seal_anew: SealAnew, key: str, value: Any
) -> None:
    edit(sealed_job / "alpha__1" / "lock.json", lambda lock: lock.update({key: value}))
    seal_anew(sealed_job)
    assert [line for line in told(sealed_job) if line.startswith(f"alpha__1/lock.json: {key}: says ")]


def test_a_limit_of_one_trial_that_differs_from_its_tasks_is_named(
    sealed_job: Path, edit: Edit, seal_anew: SealAnew
) -> None:
    edit(sealed_job / "alpha__1" / "lock.json", lambda lock: lock["limits"].update(agent_timeout_s=9999.0))
    seal_anew(sealed_job)
    assert told(sealed_job) == ["alpha__1/lock.json: limits.agent_timeout_s: says 9999.0, the job's lock gives 120.0"]


def test_a_trial_that_was_taken_out_is_named(sealed_job: Path, seal_anew: SealAnew) -> None:
    """A failed attempt may not just vanish."""
    shutil.rmtree(sealed_job / "gamma__2")
    seal_anew(sealed_job)
    assert "gamma__2/result.json: is missing" in told(sealed_job)


def test_a_trial_taken_out_of_the_lock_too_is_named(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    """Trials are tasks times attempts."""
    shutil.rmtree(sealed_job / "gamma__2")
    edit(sealed_job / "lock.json", lambda lock: lock["trials"].pop())
    seal_anew(sealed_job)
    assert "lock.json: the whole: the trials of 'gamma' are not its 2 attempts, each once" in told(sealed_job)


def test_a_trial_that_was_brought_in_is_named(sealed_job: Path, seal_anew: SealAnew) -> None:
    shutil.copytree(sealed_job / "alpha__1", sealed_job / "delta__1")
    seal_anew(sealed_job)
    assert told(sealed_job) == ["delta__1: is not the folder of a planned trial"]


def test_a_trial_put_in_anothers_place_is_named(sealed_job: Path, seal_anew: SealAnew) -> None:
    """A pass copied over a failure."""
    shutil.rmtree(sealed_job / "beta__2")
    shutil.copytree(sealed_job / "alpha__1", sealed_job / "beta__2")
    seal_anew(sealed_job)
    found = told(sealed_job)
    assert "beta__2/result.json: id: is the same as that of alpha__1" in found
    assert "beta__2/result.json: trial_id: says 'alpha/oracle/1', the job's lock gives 'beta/oracle/2'" in found


def test_any_line_taken_out_of_the_journal_is_missed(sealed_job: Path, seal_anew: SealAnew) -> None:
    """But the end of a start that was run again: such an end may be lacking, because hbench was killed."""
    path = sealed_job / "journal.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    unmissed = []
    for number in range(len(lines)):
        path.write_text("".join(lines[:number] + lines[number + 1 :]), encoding="utf-8")
        seal_anew(sealed_job)
        if not any(fault.path == "journal.jsonl" for fault in verify(sealed_job)):
            unmissed.append(json.loads(lines[number]))
    assert [(e["event"], e["trial"], e["start"]) for e in unmissed] == [("end", "alpha__2", 1)]


def test_any_line_that_stands_twice_in_the_journal_is_named(sealed_job: Path, seal_anew: SealAnew) -> None:
    path = sealed_job / "journal.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number in range(len(lines)):
        path.write_text("".join([*lines[:number], lines[number], *lines[number:]]), encoding="utf-8")
        seal_anew(sealed_job)
        assert any(fault.path == "journal.jsonl" for fault in verify(sealed_job)), number


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"trial": "beta__1"', '"trial": "zeta__1"', "trial zeta__1: is not planned"),
        ('"RewardFileNotFoundError"', '"EngineError"', "trial beta__1: ended with EngineError and reward None"),
        ('"reward": 0.375', '"reward": 1.0', "trial alpha__2: ended with None and reward 1.0"),
        ('"trial": "alpha__2", "start": 2', '"trial": "alpha__2", "start": 3', "trial alpha__2: has the starts [1, 3]"),
        ('{"format"', '{"farmat"', "line 1: "),
    ],
)
def test_a_journal_that_tells_another_story_is_named(
    sealed_job: Path, seal_anew: SealAnew, old: str, new: str, what: str
) -> None:
    path = sealed_job / "journal.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    seal_anew(sealed_job)
    assert any(line.startswith(f"journal.jsonl: {what}") for line in told(sealed_job))


def test_events_in_an_order_that_cannot_be_are_named(sealed_job: Path, seal_anew: SealAnew) -> None:
    """An agent that begins after the end, or in a start that was not."""
    for event in ({"event": "begun", "start": 1}, {"event": "begun", "start": 2}, {"event": "end", "start": 2}):
        path = sealed_job / "journal.jsonl"
        before = path.read_bytes()
        line = {"format": "hbench/journal@1", "trial": "alpha__1", "at": "2026-01-02T03:04:05Z"} | event
        path.write_bytes(before + json.dumps(line).encode() + b"\n")
        seal_anew(sealed_job)
        assert [line for line in told(sealed_job) if line.startswith("journal.jsonl: trial alpha__1: has a stray")]
        path.write_bytes(before)


def test_a_start_that_was_cut_off_leaves_a_good_job(finished_job: Path, edit: Edit) -> None:
    """hbench was killed after the agent had begun; the trial ran again, and both starts are counted."""
    path = finished_job / "journal.jsonl"
    events = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    cut_off = [events[0], events[0] | {"event": "begun"}]
    again = [event | ({"start": 2} if event["trial"] == "alpha__1" else {}) for event in events]
    path.write_text("".join(json.dumps(event) + "\n" for event in [*cut_off, *again]), encoding="utf-8")
    edit(finished_job / "alpha__1" / "result.json", lambda record: record.update(starts=2))
    refit(finished_job)
    seal(finished_job, needles=Needles())
    assert verify(finished_job) == []


def test_a_lock_that_is_not_valid_is_named_by_its_key(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    edit(sealed_job / "lock.json", lambda lock: lock["suite"].update(attempts="2"))
    seal_anew(sealed_job)
    assert any(line.startswith("lock.json: suite.attempts: ") for line in told(sealed_job))


def test_a_seal_of_another_job_is_named(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    """Also where every trial's lock was changed with it."""
    for name in ("lock.json", *(f"{p.parent.name}/lock.json" for p in sealed_job.glob("*/lock.json"))):
        edit(sealed_job / name, lambda lock: lock.update(job_id="another"))
    refit(sealed_job)
    seal_anew(sealed_job)
    assert told(sealed_job) == [
        "manifest.json: job_id: says '8f14e45f-ceea-467f-a0f5-4b1f2d3c4e5a', lock.json says 'another'"
    ]


def test_a_forgery_in_which_everything_fits_is_not_found(sealed_job: Path, edit: Edit, seal_anew: SealAnew) -> None:
    """The limit of verifying, as docs/job-folder.md says: nobody runs the trials again."""
    trial = sealed_job / "beta__2"
    (trial / "verifier" / "reward.txt").write_text("1", encoding="utf-8")
    edit(trial / "result.json", lambda record: record["verifier_result"]["rewards"].update(reward=1.0))
    text = (sealed_job / "journal.jsonl").read_text(encoding="utf-8")
    (sealed_job / "journal.jsonl").write_text(text.replace('"reward": 0.0', '"reward": 1.0'), encoding="utf-8")
    refit(sealed_job)
    seal_anew(sealed_job)
    assert verify(sealed_job) == []


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


def test_a_batch_is_verified_job_by_job(sealed_job: Path) -> None:
    """Paths then begin with the job's folder."""
    batch = sealed_job.parent
    (batch / "suite.toml").write_bytes(b"[suite]\n")
    (batch / "builds").mkdir()
    shutil.copytree(sealed_job, batch / "second")
    write_json(batch / "batch.json", {"format": "hbench/batch@1", "jobs": [sealed_job.name, "second"]})
    assert verify(batch) == []
    (batch / "second" / "beta__1" / "agent" / "stdout.txt").unlink()
    assert told(batch) == ["second/beta__1/agent/stdout.txt: is sealed and missing"]


def test_a_job_that_a_batch_names_and_lacks_is_named(sealed_job: Path) -> None:
    batch = sealed_job.parent
    (batch / "suite.toml").write_bytes(b"[suite]\n")
    write_json(batch / "batch.json", {"jobs": [sealed_job.name, "gone"]})
    assert told(batch) == ["gone: is missing: batch.json names this job"]
    write_json(batch / "batch.json", {"jobs": ["../gone"]})
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
