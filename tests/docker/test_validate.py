"""`hbench validate` on a real engine: each way to judge badly is caught, with its reason."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest
from typer.testing import CliRunner

from hbench.cli.app import app
from hbench.results.verify import verify
from tests.docker.bad_tasks import BAD, write_bad, write_sound

pytestmark = pytest.mark.docker

CAUGHT = {
    "weak-verifier": ["shortcut_works"],
    "buggy-set-e": ["no_reward"],
    "solution-fails": ["solution_fails"],
    "solved-already": ["nop_earns"],
    "no-solution": ["no_solution"],
    "own-shortcut": ["shortcut_works"],
    "not-valid": ["invalid_task"],
    "literal": ["shortcut_works"],
    "visible-tests": ["shortcut_works"],
    "git-history": ["shortcut_works"],
}


@pytest.fixture(scope="module")
def validated(tmp_path_factory: pytest.TempPathFactory, docker_api: docker.APIClient) -> Iterator[dict[str, Any]]:
    """The document about all of the tasks, in one batch; their images are removed in the end."""
    folder = tmp_path_factory.mktemp("validate")
    write_sound(folder / "tasks" / "sound")
    for name in BAD:
        write_bad(folder / "tasks" / name, name)
    arguments = ["validate", str(folder / "tasks"), "-n", "2", "-q", "--json", "-o", str(folder / "jobs")]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    document = json.loads(done.stdout)
    assert document["exit_code"] == done.exit_code
    yield document
    for image in images_of(Path(document["batch"])):
        docker_api.remove_image(image, force=True)


def images_of(batch: Path) -> set[str]:
    locks = [json.loads(path.read_text()) for path in batch.glob("*/lock.json")]
    return {task["image"]["id"] for lock in locks for task in lock["tasks"] if task["image"] is not None}


@pytest.fixture
def about(validated: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """What the document says about a task."""
    tasks = {task["name"]: task for task in validated["tasks"]}
    return lambda name: tasks[name]


def rewards(task: dict[str, Any]) -> dict[str, float | None]:
    return {trial["harness"]: trial["reward"] for trial in task["trials"]}


def test_the_sound_task_is_admitted(about: Callable[[str], dict[str, Any]]) -> None:
    """Its own shortcut earns nothing either; what its image holds is a warning."""
    sound = about("sound")
    assert (sound["verdict"], sound["reasons"]) == ("admitted", [])
    found = rewards(sound)
    assert found.pop("oracle") == 1.0
    assert set(found) == {"nop", "lazy-asserts", "lazy-copy", "lazy-history", "lazy-literals", "baselines/unsorted.sh"}
    assert set(found.values()) == {0.0}
    assert [warning.partition("(")[2].partition(":")[0] for warning in sound["warnings"]] == ["hidden_paths_removed"]


@pytest.mark.parametrize("name", sorted(BAD))
def test_each_bad_task_is_caught_with_its_reason(about: Callable[[str], dict[str, Any]], name: str) -> None:
    """And with no other."""
    task = about(name)
    assert [reason["code"] for reason in task["reasons"]] == CAUGHT[name]
    assert task["verdict"] == ("invalid" if name == "not-valid" else "refused")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("weak-verifier", "lazy-copy earns 1: copying an input file"),
        ("literal", "lazy-literals earns 1: writing what the instruction quotes"),
        ("visible-tests", "lazy-asserts earns 1: making the asserts"),
        ("git-history", "lazy-history earns 1: checking out the other commits"),
        ("own-shortcut", "baselines/unsorted.sh earns 1: "),
        ("solution-fails", "the solution earns 0, not 1; its end was NonZeroAgentExitCodeError: exit status 2; sort: "),
        ("solved-already", "nop earns 1: the task is solved before anyone began"),
        ("not-valid", "task.toml:2: "),
    ],
)
def test_the_reason_names_what_to_mend(about: Callable[[str], dict[str, Any]], name: str, said: str) -> None:
    """In words that stand by themselves."""
    assert about(name)["reasons"][0]["what"].startswith(said)


def test_a_weak_verifier_passes_the_gate_of_oracle_and_nop(about: Callable[[str], dict[str, Any]]) -> None:
    """Which is why the lazy baselines are there."""
    found = rewards(about("weak-verifier"))
    assert (found["oracle"], found["nop"], found["lazy-copy"]) == (1.0, 0.0, 1.0)


def test_a_verifier_that_breaks_off_has_no_zero(about: Callable[[str], dict[str, Any]]) -> None:
    """The oracle passes; nop and the shortcuts have no reward at all, and the line at fault is named (T15)."""
    task = about("buggy-set-e")
    found = rewards(task)
    assert (found["oracle"], found["nop"]) == (1.0, None)
    said = task["reasons"][0]["what"]
    assert said.startswith("nop, ")
    assert "no reward, which is no zero: RewardFileNotFoundError: " in said
    assert "`set -e` in tests/test.sh:1 ends the script" in said
    assert any(warning.startswith("tests/test.sh:1: ") for warning in task["warnings"])


def test_an_instruction_that_speaks_of_its_checker_is_a_warning(about: Callable[[str], dict[str, Any]]) -> None:
    """With its line (T17)."""
    assert about("visible-tests")["warnings"][0].startswith('instruction.md:1: mentions "checker"')


def test_the_evidence_is_sealed_and_where_the_reasons_say(validated: dict[str, Any]) -> None:
    """A verdict can be checked afterwards."""
    assert validated["exit_code"] == 1
    assert verify(Path(validated["batch"])) == []
    for task in validated["tasks"]:
        assert all(Path(reason["look"]).is_dir() for reason in task["reasons"])
        assert all((Path(trial["folder"]) / "result.json").is_file() for trial in task["trials"])
