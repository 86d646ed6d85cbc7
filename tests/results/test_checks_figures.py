"""A figure or a reward that does not follow is named, though the seal was made anew as a forger would."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hbench.results.files import write_json
from hbench.results.seal import seal
from hbench.results.traces import Needles
from hbench.results.verify import verify

Edit = Callable[[Path, Callable[[Any], object]], None]
OnJob = Callable[[Path], None]


def told(job: Path) -> list[str]:
    return [str(fault) for fault in verify(job)]


Place = tuple[Any, str | int]


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Place]]:
    """(dotted key, where it is held and under which name) of every leaf of a JSON value."""
    for name, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        here = f"{key}[{name}]" if isinstance(value, list) else f"{key}.{name}".lstrip(".")
        if isinstance(inner, dict | list) and inner:
            yield from leaves(inner, here)
        else:
            yield here, (value, name)


def other_than(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)  # equal in Python, and not the same in JSON
    return value + 1 if isinstance(value, int | float) else f"{value or ''}x"


def test_any_figure_of_the_job_that_does_not_follow_is_named_by_its_key(sealed_job: Path, seal_anew: OnJob) -> None:
    """Every leaf of result.json, one after the other."""
    path = sealed_job / "result.json"
    value = json.loads(path.read_bytes())
    places = dict(leaves(value))
    assert {"mean", "per_task[0].rewards[1]", "exceptions.AgentTimeoutError", "usage.input"} <= set(places)
    for key, (holder, name) in places.items():
        original = holder[name]
        holder[name] = other_than(original)
        write_json(path, value)
        seal_anew(sealed_job)
        assert [line.split(": says ")[0] for line in told(sealed_job)] == [f"result.json: {key}"]
        holder[name] = original


def test_figures_that_are_missing_or_made_up_are_named(sealed_job: Path, edit: Edit, seal_anew: OnJob) -> None:
    edit(sealed_job / "result.json", lambda result: result.pop("mean"))
    edit(sealed_job / "result.json", lambda result: result.update(elo=1500))
    edit(sealed_job / "result.json", lambda result: result["buckets"].update(magic=1))
    seal_anew(sealed_job)
    assert [line.split(";")[0] for line in told(sealed_job)] == [
        "result.json: buckets.magic: should not be there",
        "result.json: elo: should not be there",
        "result.json: mean: is missing",
    ]


def test_a_reward_that_the_verifier_did_not_write_is_named(
    sealed_job: Path, edit: Edit, seal_anew: OnJob, refit: OnJob
) -> None:
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
    sealed_job: Path, seal_anew: OnJob, trial: str, name: str, text: str | None, what: str
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


def test_a_flag_that_was_taken_away_is_named(sealed_job: Path, edit: Edit, seal_anew: OnJob) -> None:
    edit(sealed_job / "alpha__2" / "result.json", lambda record: record.update(flags=[]))
    seal_anew(sealed_job)
    assert told(sealed_job) == [
        'alpha__2/result.json: flags: lacks "reward_is_mean_of_keys", which verifier/ gives',
    ]
