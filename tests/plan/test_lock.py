"""A lock says all that was fixed before the first trial, in the shape that its reader knows."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from hbench.adapter.model import Configuration
from hbench.plan.arms import arms
from hbench.plan.build import expand
from hbench.plan.lock import job_lock, planned_lock, trial_lock
from hbench.plan.model import Plan
from hbench.results.files import as_model
from hbench.results.lock import CaBundleLock, EngineLock, ImageLock, JobLock, MachineLock, TrialLock
from hbench.version import RESULTS_EPOCH, VERSION

Make = Callable[..., Any]

MACHINE = MachineLock(
    python="3.11.2",
    platform="Linux x86_64",
    engine=EngineLock(version="20.10", api_version="1.41", os="linux", arch="amd64", builder="classic"),
    packages={"hbench": VERSION},
)
IMAGE = ImageLock(id="sha256:1", repo_digests=["debian@sha256:2"], source="fallback", builder="classic")
SUITE = """
[suite]
name = "nightly"
attempts = 2
seed = 7
concurrency = 3
[limits]
agent_timeout_multiplier = 0.5
memory_mb = 512
max_turns = 9
[retry]
max_retries = 1
[dataset]
path = "x"
build = "fallback"
[[model]]
name = "m"
provider = "p"
base_url = "https://user:secret@api.example:8443/v1"
access = "direct"
"""


@pytest.fixture
def plan(make_task: Make, make_adapter: Make, make_suite: Make, selected: Make) -> Plan:
    """Two tasks and two arms: a foreign harness with a model, and a built-in that sees the solution."""
    suite = make_suite(SUITE)
    pi = make_adapter("pi", built_in=False, model=True, options={"effort": "string"})
    asked = [
        Configuration(adapter=pi, options={"effort": "low"}),
        Configuration(adapter=make_adapter("oracle", sees_solution=True)),
    ]
    tasks = selected(make_task("b/two", warnings=("task.toml:1: odd",)), make_task("one"), skipped={"bad": "no"})
    return expand(suite, arms(suite, asked), tasks)


def lock_of(plan: Plan, index: int, *, images: dict[str, ImageLock | None] | None = None) -> dict[str, Any]:
    lock = job_lock(
        plan,
        plan.jobs[index],
        job_id="7d9f",
        batch_id="1c2e",
        created_at="2026-03-01T12:00:00+00:00",
        images=images or {},
        machine=MACHINE,
        ca_bundle=CaBundleLock(sha256="0" * 64, certificates=3, found="host"),
    )
    return lock.model_dump(mode="json")


def test_a_job_lock_is_what_its_reader_reads(plan: Plan) -> None:
    """Through JSON and strictly, every key with its type, none missing and none besides."""
    for index in range(2):
        written = json.loads(json.dumps(lock_of(plan, index)))
        assert as_model(written, JobLock, where="lock.json").model_dump(mode="json") == written


def test_a_trial_lock_is_what_its_reader_reads(plan: Plan) -> None:
    trial = plan.trials[0]
    written = json.loads(json.dumps(trial_lock("7d9f", trial, image_id="sha256:1").model_dump(mode="json")))
    read = as_model(written, TrialLock, where="lock.json")
    assert (read.trial_id, read.folder, read.task_digest) == (trial.id, trial.folder, trial.task.digests.hbench)
    assert read.limits.memory_mb == 512
    assert trial_lock("7d9f", trial, image_id=None).image_id is None


def test_a_job_lock_names_the_arm_the_tasks_and_every_trial(plan: Plan) -> None:
    lock = lock_of(plan, 0)
    assert (lock["hbench_version"], lock["results_epoch"]) == (VERSION, RESULTS_EPOCH)
    assert lock["suite"] == {
        "name": "nightly",
        "digest": plan.suite_digest,
        "seed": 7,
        "attempts": 2,
        "concurrency": 3,
    }
    assert lock["dataset"] == {"name": "set", "digest": "d" * 64, "skipped": {"bad": "no"}, "build_fallback": True}
    assert (lock["configuration"]["label"], lock["configuration"]["options"]) == ("pi", {"effort": "low"})
    assert lock["arm"] == {"folder": plan.jobs[0].arm.folder, "digest": plan.jobs[0].arm.digest}
    assert [task["name"] for task in lock["tasks"]] == ["b/two", "one"]
    assert [trial["trial_id"] for trial in lock["trials"]] == [trial.id for trial in plan.jobs[0].trials]
    assert lock["tasks"][0]["warnings"] == ["task.toml:1: odd"]
    assert lock["tasks"][0]["limits"]["agent_timeout_s"] == 60.0


def test_of_a_models_address_the_lock_has_the_host_alone(plan: Plan) -> None:
    """A base URL may hold a password; a harness that calls no model has null."""
    assert lock_of(plan, 0)["model"] == {"name": "m", "provider": "p", "access": "direct", "host": "api.example"}
    assert lock_of(plan, 1)["model"] is None
    assert "secret" not in json.dumps(lock_of(plan, 0))


def test_limits_are_the_same_whether_a_default_is_written_or_not(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make
) -> None:
    """They are a part of the cell: a suite that spells a default out stays on the board of one that does not."""

    def limits(text: str) -> Any:
        suite = make_suite(text)
        plan = expand(suite, arms(suite, [Configuration(adapter=make_adapter("nop"))]), selected(make_task("t")))
        return planned_lock(plan, plan.jobs[0])["limits"]

    assert limits("") == limits("limits.agent_timeout_multiplier = 1.0") == limits("limits.build_timeout_multiplier=1")
    assert limits("") != limits("limits.memory_mb = 2048")


def test_flags_say_what_a_reader_should_know(plan: Plan) -> None:
    foreign, oracle = lock_of(plan, 0)["flags"], lock_of(plan, 1)["flags"]
    common = ["resources_changed", "skipped_invalid", "timeouts_changed"]
    assert foreign == ["foreign_adapter", *common]
    assert oracle == ["resources_changed", "sees_solution", "skipped_invalid", "timeouts_changed"]


def test_a_plain_suite_raises_no_flag(make_task: Make, make_adapter: Make, make_suite: Make, selected: Make) -> None:
    suite = make_suite("")
    plan = expand(suite, arms(suite, [Configuration(adapter=make_adapter("nop"))]), selected(make_task("t")))
    assert planned_lock(plan, plan.jobs[0])["flags"] == []


def test_a_limit_that_does_not_hold_for_an_arm_is_an_asymmetry(plan: Plan) -> None:
    """Written down, not dropped (R14)."""
    assert lock_of(plan, 0)["asymmetries"] == []
    assert lock_of(plan, 1)["asymmetries"] == ["max_turns: the harness calls no model, so there is nothing to limit"]


def test_a_tasks_limit_on_disk_space_is_an_asymmetry(
    make_task: Make, make_adapter: Make, make_suite: Make, selected: Make
) -> None:
    """The engine cannot hold a container to it, so the lock says which tasks asked for one."""
    tasks = selected(make_task("a", storage_mb=10), make_task("b"), make_task("c/d", storage_mb=10))
    suite = make_suite("")
    plan = expand(suite, arms(suite, [Configuration(adapter=make_adapter("nop"))]), tasks)
    asked = "storage_mb: the engine cannot limit a container's disk; asked for by a, c/d"
    assert planned_lock(plan, plan.jobs[0])["asymmetries"] == [asked]


def test_images_stand_with_their_tasks_and_a_fallback_is_flagged(plan: Plan) -> None:
    """Of the job's own tasks: another job's do not count."""
    lock = lock_of(plan, 1, images={"one": IMAGE, "b/two": None})
    assert {task["name"]: task["image"] for task in lock["tasks"]} == {"one": IMAGE.model_dump(), "b/two": None}
    assert "image_fallback" in lock["flags"]
    assert "image_fallback" not in lock_of(plan, 1, images={"other": IMAGE})["flags"]


def test_without_docker_a_lock_lacks_ids_time_machine_and_images_alone(plan: Plan) -> None:
    """What `hbench plan` prints is what the run will write."""
    known, full = planned_lock(plan, plan.jobs[0]), lock_of(plan, 0)
    assert set(full) - set(known) == {"job_id", "batch_id", "created_at", "machine", "ca_bundle"}
    assert {key: full[key] for key in known} == known
