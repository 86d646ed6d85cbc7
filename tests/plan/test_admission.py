"""Which trials `hbench validate` plans."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hbench.adapter.find import built_in_names
from hbench.errors import NothingToRunError, SuiteError, TaskError
from hbench.plan.admission import Admission, admission
from hbench.plan.lock import planned_lock
from hbench.plan.model import Plan
from hbench.shipped import shipped
from hbench.suite.load import parse_suite

FILES: Mapping[str, str | None] = {
    "instruction.md": "Write hello into /app/hello.txt.\n",
    "task.toml": "",
    "environment/Dockerfile": "FROM debian:bookworm-slim\n",
    "tests/test.sh": "echo 0 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "echo hello > /app/hello.txt\n",
}
LAZY = [name for name in built_in_names() if name.startswith("lazy-")]
WriteTask = Callable[..., Path]


@pytest.fixture
def write_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteTask:
    """Writes a valid task below the current folder; keywords replace files, None leaves one out."""
    monkeypatch.chdir(tmp_path)

    def write(folder: str, files: Mapping[str, str | None] | None = None) -> Path:
        for name, text in {**FILES, **(files or {})}.items():
            if text is not None:
                path = tmp_path / folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
        return Path(folder)

    return write


def asked(*paths: Path | str, concurrency: int = 4) -> Admission:
    return admission([Path(path) for path in paths], concurrency=concurrency, agent_timeout_multiplier=1.0)


def planned(asked: Admission) -> Plan:
    assert asked.plan is not None
    return asked.plan


def harnesses(plan: Plan, task: str) -> list[str]:
    return sorted(trial.arm.configuration.adapter.spec.name for trial in plan.trials if trial.task.name == task)


def test_without_a_path_hbenchs_own_tasks_are_tried() -> None:
    """Each with oracle, nop and all lazy baselines."""
    own = asked()
    plan = planned(own)
    assert plan.dataset_name == "hbench-core@1"
    assert len(own.candidates) == len([path for path in shipped("tasks").iterdir() if path.is_dir()])
    for candidate in own.candidates:
        assert {"oracle", "nop", *LAZY} <= set(harnesses(plan, candidate.name))
        assert (candidate.fault, candidate.baselines != ()) == (None, True)


def test_a_path_is_a_task_or_a_folder_of_tasks(write_task: WriteTask) -> None:
    """The dataset is called by the folder's name."""
    write_task("set/alpha")
    write_task("set/beta")
    assert [one.name for one in asked("set").candidates] == ["alpha", "beta"]
    assert [one.name for one in asked("set/beta").candidates] == ["beta"]
    assert planned(asked("set")).dataset_name == "set"


def test_a_tasks_own_baselines_run_on_it_alone(write_task: WriteTask) -> None:
    """Another task's shortcut means nothing elsewhere."""
    write_task("set/alpha", {"baselines/guess.sh": "echo 1\n"})
    write_task("set/beta", {"baselines/guess.sh": "echo 2\n"})
    write_task("set/gamma")
    plan = planned(asked("set"))
    common = ["nop", "oracle", *LAZY]
    assert harnesses(plan, "alpha") == harnesses(plan, "beta") == sorted([*common, "guess"])
    assert harnesses(plan, "gamma") == sorted(common)
    jobs = [job for job in plan.jobs if job.arm.configuration.adapter.spec.name == "guess"]
    assert [[trial.task.name for trial in job.trials] for job in jobs] in ([["alpha"], ["beta"]], [["beta"], ["alpha"]])
    assert [task["name"] for task in planned_lock(plan, jobs[0])["tasks"]] == [jobs[0].trials[0].task.name]


def test_the_same_baseline_in_two_tasks_is_one_harness(write_task: WriteTask) -> None:
    """Its name is made of its bytes."""
    for name in ("alpha", "beta"):
        write_task(f"set/{name}", {"baselines/guess.sh": "echo 1\n"})
    [job] = [job for job in planned(asked("set")).jobs if not job.arm.configuration.adapter.built_in]
    assert sorted(trial.task.name for trial in job.trials) == ["alpha", "beta"]


def test_oracle_is_not_sent_to_a_task_without_a_solution(write_task: WriteTask) -> None:
    """The other harnesses still tell something; a job without trials is none."""
    write_task("set/alpha", {"solution/solve.sh": None})
    plan = planned(asked("set"))
    assert harnesses(plan, "alpha") == sorted(["nop", *LAZY])
    assert "oracle" not in {job.arm.label for job in plan.jobs}
    write_task("set/beta")
    assert [trial.task.name for trial in planned(asked("set")).trials if trial.arm.label == "oracle"] == ["beta"]


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({"task.toml": "[agent]\ntimeout_sec = 'long'\n"}, "task.toml:2: "),
        ({"task.toml": "[metadata]\nbaseline_reward = 2\n"}, "task.toml:2: "),
        ({"tests/test.sh": None}, "the task has no tests/test.sh"),
        ({"baselines/No Name.sh": "true\n"}, "baselines/No Name.sh: "),
    ],
)
def test_a_task_that_is_not_valid_keeps_no_other_from_its_trials(
    write_task: WriteTask, files: dict[str, str | None], fault: str
) -> None:
    """It is told with file and line, relative to the task, and the lock lists it."""
    write_task("set/alpha")
    write_task("set/broken", files)
    found = asked("set")
    plan = planned(found)
    assert {trial.task.name for trial in plan.trials} == {"alpha"}
    [broken] = [one for one in found.candidates if one.task is None]
    assert broken.name == "broken"
    assert broken.fault is not None
    assert broken.fault.startswith(fault)
    assert plan.skipped == {"broken": broken.fault}
    assert asked("set/broken").plan is None


def test_several_paths_are_one_batch(write_task: WriteTask) -> None:
    """A task that is named twice counts once, and the suite says which tasks they were."""
    write_task("set/alpha")
    write_task("set/beta")
    write_task("set/gamma")
    plan = planned(asked("set/alpha", "set/gamma", "set/./alpha"))
    assert {trial.task.name for trial in plan.trials} == {"alpha", "gamma"}
    said = parse_suite(plan.suite_text, base=Path(), name="suite.toml").suite.dataset
    assert (said.path, said.include) == ("set", ["alpha", "gamma"])


def test_two_tasks_of_one_name_are_refused(write_task: WriteTask) -> None:
    """Nobody could tell their trials apart."""
    for folder in ("one", "two"):
        write_task(f"{folder}/greet", {"tests/test.sh": f"echo {folder}\n"})
    with pytest.raises(TaskError, match='"greet" is also the name'):
        asked("one", "two")


def test_each_tasks_network_is_as_the_task_says(write_task: WriteTask) -> None:
    """The suite adds no limit of its own: mode open leaves a task's own list in force."""
    write_task("set/alpha")
    suite = planned(asked("set", concurrency=3)).suite
    assert (suite.network.mode, suite.suite.name, suite.suite.concurrency) == ("open", "validate", 3)


def test_paths_that_hold_no_task_are_errors(write_task: WriteTask, tmp_path: Path) -> None:
    """Each of its class."""
    write_task("set/alpha")
    with pytest.raises(SuiteError, match="no such folder"):
        asked("absent")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToRunError, match="no task here"):
        asked("empty")
    with pytest.raises(SuiteError, match="concurrency"):
        asked("set", concurrency=0)
