"""What every task of hbench-core@1 promises, checked without Docker."""

import re
import tomllib
from pathlib import Path

import pytest

from hbench.adapter.find import baseline
from hbench.shipped import shipped
from hbench.task.load import load_task

FOLDERS = sorted(file.parent for file in shipped("tasks").glob("*/task.toml"))
COMMON = (
    "FROM debian:bookworm-slim\n"
    "RUN apt-get update && apt-get install -y --no-install-recommends python3 && rm -rf /var/lib/apt/lists/*\n"
)

every_task = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def test_there_are_six_tasks_and_nothing_else() -> None:
    """A folder without task.toml would be left out in silence."""
    assert len(FOLDERS) == 6
    assert sorted(path for path in shipped("tasks").iterdir() if path.name != ".keep") == FOLDERS


@every_task
def test_it_loads_without_a_warning(folder: Path) -> None:
    """No unknown key, no old one, and its name is its folder's."""
    task = load_task(folder)
    assert task.warnings == ()
    assert task.name == f"hbench/{folder.name}"
    assert task.solution == folder / "solution"


@every_task
def test_it_has_every_part(folder: Path) -> None:
    """A person who opens the folder finds what the task is and why."""
    for part in ("README.md", "environment/Dockerfile", "solution/solve.sh", "tests/test.sh"):
        assert (folder / part).read_text(encoding="utf-8").strip()
    data = tomllib.loads((folder / "task.toml").read_text(encoding="utf-8"))
    assert data["schema_version"] == "1.4"
    assert data["task"]["description"]
    assert {"difficulty", "category", "tags"} <= data["metadata"].keys()


@every_task
def test_its_limits_are_small(folder: Path) -> None:
    """The whole suite runs on a laptop."""
    task = load_task(folder)
    assert 120 <= task.agent.timeout_s <= 300
    assert task.verifier.timeout_s == 120
    assert task.environment.memory_mb in (512, 1024)


@every_task
def test_its_image_begins_like_the_others(folder: Path) -> None:
    """The same first layers are built once for all tasks."""
    dockerfile = (folder / "environment/Dockerfile").read_text(encoding="utf-8")
    assert dockerfile.startswith(COMMON)
    assert dockerfile.count("\nFROM ") == 0
    for line in dockerfile.splitlines():
        assert "apt-get install" not in line or line.endswith("rm -rf /var/lib/apt/lists/*")


@every_task
def test_its_instruction_names_paths_and_nothing_of_how_it_is_graded(folder: Path) -> None:
    """Who works on the task learns what is to be done and where, as from a colleague."""
    text = (folder / "instruction.md").read_text(encoding="utf-8")
    assert re.search(r"`/app/\S+`", text)
    words = r"\b(tests?|tested|checker|verifier|solution|benchmark|graded?|grader|reward|score|hidden|agent|hbench)\b"
    assert re.findall(words, text, re.IGNORECASE) == []


@every_task
def test_its_verifier_always_writes_a_reward(folder: Path) -> None:
    """A test that fails must not end the script, so nothing makes the shell stop at the first failure."""
    script = (folder / "tests/test.sh").read_text(encoding="utf-8")
    commands = [line for line in script.splitlines() if not line.startswith("#")]
    assert not any(re.match(r"\s*set\s+(-\w*e|-o\s+errexit)", line) for line in commands)
    assert re.search(r"/logs/verifier/reward\.(txt|json)", script)


@every_task
def test_its_verifier_trusts_nothing_that_can_be_left_in_the_work_folder(folder: Path) -> None:
    """Python is named by its whole path and reads neither the user's settings nor installed packages."""
    script = (folder / "tests/test.sh").read_text(encoding="utf-8")
    assert re.findall(r"\S*python\S*", script) == ["/usr/bin/python3"]
    assert "/usr/bin/python3 -I -S /tests/check.py" in script


@every_task
def test_its_image_is_built_from_nothing_that_gives_the_answer(folder: Path) -> None:
    """No file of tests/ or solution/ is in the build context, except inputs that the work is compared with."""
    inputs = {path.read_bytes() for path in (folder / "environment").rglob("*") if path.is_file()}
    given = [path for path in (folder / "tests").rglob("*") if path.is_file() and path.read_bytes() in inputs]
    assert [path.name for path in given] in ([], ["customers.csv"])
    assert not any(path.read_bytes() in inputs for path in (folder / "solution").rglob("*") if path.is_file())


@every_task
def test_it_has_a_baseline_of_its_own_that_can_be_run(folder: Path) -> None:
    """A shortcut that only this task offers."""
    scripts = load_task(folder).baselines
    assert scripts
    for script in scripts:
        assert baseline(script).spec.command == ["sh", f"/hbench/harness/{script.name}"]
        assert script.read_text(encoding="utf-8").startswith("#!/bin/sh\n# ")


@every_task
def test_its_files_are_utf8_without_windows_line_ends(folder: Path) -> None:
    """They are read by shells and by people."""
    for path in folder.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            content = path.read_bytes()
            assert b"\r" not in content
            assert content.decode("utf-8").endswith("\n") or not content


def test_only_the_task_about_a_service_declares_one() -> None:
    """A service that is left running counts only where the task asks for it."""
    declared = {folder.name for folder in FOLDERS if load_task(folder).metadata.get("service_graded")}
    assert declared == {"link-service"}
