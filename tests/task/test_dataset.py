"""Which tasks a suite's [dataset] selects."""

import hashlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.errors import HbenchError, NothingToRunError, SuiteError, TaskError
from hbench.shipped import shipped
from hbench.suite.model import DatasetTable
from hbench.task.dataset import CATALOG, Selection, select

MakeTask = Callable[..., Path]

NAMES = ("alpha", "beta", "gamma-1", "gamma-2", "org/delta")


@pytest.fixture
def base(make_task: MakeTask, tmp_path: Path) -> Path:
    """A folder with the dataset `set` of five valid tasks, and things beside them that are no tasks."""
    for name in NAMES:
        toml = f'[task]\nname = "{name}"' if "/" in name else ""
        make_task(f"set/{name.replace('/', '-')}", toml=toml)
    (tmp_path / "set/.git").mkdir()
    (tmp_path / "set/README.md").write_text("about")
    return tmp_path


def selected(base: Path, *, seed: int = 0, skip_invalid: bool = False, **dataset: Any) -> Selection:
    table = DatasetTable.model_validate({"path": "set", **dataset})
    return select(table, seed=seed, base=base, skip_invalid=skip_invalid)


def names(selection: Selection) -> list[str]:
    return [task.name for task in selection.tasks]


def fault(kind: type[HbenchError], base: Path, **dataset: Any) -> HbenchError:
    with pytest.raises(kind) as caught:
        selected(base, **dataset)
    assert type(caught.value) is kind
    return caught.value


def test_a_folder_of_tasks_gives_them_all_sorted_by_name(base: Path) -> None:
    """Relative to the suite's folder, and called by its own name."""
    selection = selected(base)
    assert (names(selection), selection.name) == (list(NAMES), "set")
    assert selection.skipped == {}


def test_one_task_folder_is_a_dataset_of_one(base: Path) -> None:
    """`path` may be the task itself."""
    selection = selected(base, path="set/alpha")
    assert (names(selection), selection.name) == (["alpha"], "alpha")


def test_the_digest_covers_names_and_contents_of_the_selected_tasks(base: Path) -> None:
    """Another task, or another byte in one, is another dataset."""
    selection = selected(base, include=["gamma*"])
    lines = "".join(f"{task.name}\0{task.digests.hbench}\n" for task in selection.tasks)
    assert selection.digest == hashlib.sha256(lines.encode()).hexdigest()
    (base / "set/gamma-1/tests/test.sh").write_text("echo 0")
    assert selected(base, include=["gamma*"]).digest != selection.digest


@pytest.mark.parametrize(
    ("include", "exclude", "left"),
    [
        (["gamma-*"], [], ["gamma-1", "gamma-2"]),
        (["delta"], [], ["org/delta"]),
        (["org/*"], [], ["org/delta"]),
        (["alpha", "*-2"], [], ["alpha", "gamma-2"]),
        (["*"], ["gamma-?", "org/delta"], ["alpha", "beta"]),
        (["[ab]*"], ["beta"], ["alpha"]),
    ],
)
def test_globs_match_the_whole_name_or_its_last_part(
    base: Path, include: list[str], exclude: list[str], left: list[str]
) -> None:
    """`delta` means `org/delta`."""
    assert names(selected(base, include=include, exclude=exclude)) == left


@pytest.mark.parametrize("key", ["include", "exclude"])
@pytest.mark.parametrize("pattern", ["gama-1", "Alpha", "*.x"])
def test_a_pattern_that_matches_nothing_is_an_error(base: Path, key: str, pattern: str) -> None:
    """A misspelt name would silently change what is measured; upper and lower case are told apart."""
    error = fault(SuiteError, base, **{key: [pattern]})
    assert error.what == f'{key}: "{pattern}" matches no task'


def test_a_misspelt_pattern_brings_the_nearest_name(base: Path) -> None:
    """So that it can be corrected at once."""
    assert "gamma-1" in str(fault(SuiteError, base, include=["gama-1"]).hint)


def test_patterns_that_leave_nothing_have_their_own_exit_code(base: Path) -> None:
    """There is nothing to run, though nothing is wrong."""
    assert fault(NothingToRunError, base, include=["alpha"], exclude=["alpha"]).exit_code == 3


def test_a_sample_is_drawn_by_the_seed_from_the_sorted_names(base: Path) -> None:
    """The documented draw, the same for every arm and every machine."""
    for seed in range(5):
        expected = sorted(random.Random(seed).sample(sorted(NAMES), 3))  # noqa: S311
        assert names(selected(base, sample=3, seed=seed)) == expected
    assert len({tuple(names(selected(base, sample=3, seed=seed))) for seed in range(8)}) > 1


def test_a_sample_larger_than_the_dataset_is_an_error(base: Path) -> None:
    """Fewer tasks than were asked for would be another experiment."""
    assert "6 is more than the 5 tasks" in fault(SuiteError, base, sample=6).what
    assert len(selected(base, sample=5).tasks) == 5


def test_two_tasks_of_one_name_are_an_error_that_names_both(base: Path, make_task: MakeTask) -> None:
    """Their results could not be told apart."""
    make_task("set/other", toml='[task]\nname = "org/delta"')
    error = fault(TaskError, base)
    assert '"org/delta"' in error.what
    assert str(base / "set/org-delta") in error.what
    assert f"\n  {base}/set/other: " in error.what


def test_two_tasks_of_one_name_hide_no_other_fault(base: Path, make_task: MakeTask) -> None:
    """Nor can they be left out: which of the two was meant?"""
    make_task("set/other", toml='[task]\nname = "org/delta"')
    make_task("set/bad", toml="[environment]\ncpus = 0")
    error = fault(TaskError, base)
    assert error.what.startswith("2 of 7 tasks cannot run:\n")
    assert "is also the name" in error.what
    assert "environment.cpus" in error.what
    with pytest.raises(TaskError, match="is also the name"):
        selected(base, skip_invalid=True)


@pytest.mark.parametrize(
    ("dataset", "place"),
    [
        ({"include": ["*", "zzz*"]}, "dataset.include.1"),
        ({"exclude": ["zzz*"]}, "dataset.exclude.0"),
        ({"sample": 99}, "dataset.sample"),
        ({"path": "nowhere"}, "dataset.path"),
        ({"path": None, "name": "terminal-bench@2.0"}, "dataset.name"),
        ({"include": ["alpha"], "exclude": ["alpha"]}, "dataset"),
    ],
)
def test_a_fault_of_the_suite_is_placed_at_its_key(base: Path, dataset: dict[str, Any], place: str) -> None:
    """So that file and line can be named."""
    table = DatasetTable.model_validate({"path": "set", **dataset})
    with pytest.raises(HbenchError) as caught:
        select(table, seed=0, base=base, skip_invalid=False, place=lambda loc: ".".join(map(str, loc)))
    assert caught.value.where == place


def test_all_invalid_tasks_are_reported_in_one_error(base: Path, make_task: MakeTask) -> None:
    """A person corrects them in one go: the folder, then each on a line of its own."""
    make_task("set/bad-1", toml="[environment]\ncpus = 0")
    make_task("set/bad-2", files={"instruction.md": None})
    error = fault(TaskError, base)
    assert error.where == f"{base}/set"
    assert error.what.startswith(f"2 of 7 tasks cannot run:\n  {base}/set/bad-1/task.toml:2: ")
    assert f"{base}/set/bad-2: the task has no instruction.md" in error.what
    assert "--skip-invalid" in str(error.hint)


def test_invalid_tasks_that_are_not_selected_do_not_matter(base: Path, make_task: MakeTask) -> None:
    """Someone who runs two tasks need not repair the others."""
    make_task("set/bad", toml="[environment]\ncpus = 0")
    assert names(selected(base, exclude=["bad"])) == list(NAMES)


def test_skipped_tasks_are_listed_with_a_reason_that_names_no_place_of_this_machine(
    base: Path, make_task: MakeTask
) -> None:
    """The list is written into the lock."""
    make_task("set/bad-1", toml='[task]\nname = "org/bad"\n[environment]\ncpus = 0')
    make_task("set/bad-2", files={"task.toml": None})
    make_task("set/bad\n3")
    selection = selected(base, skip_invalid=True)
    assert names(selection) == list(NAMES)
    assert selection.skipped["org/bad"].startswith('task.toml:4: "environment.cpus"')
    assert selection.skipped["bad-2"] == "the task has no task.toml"
    assert "cannot be used: it holds control" in selection.skipped["bad\\n3"]
    assert not any(str(base) in reason for reason in selection.skipped.values())


def test_a_dataset_of_invalid_tasks_alone_leaves_nothing_to_run(base: Path, make_task: MakeTask) -> None:
    """The reasons are said all the same."""
    make_task("bad/one", toml="[environment]\ncpus = 0")
    with pytest.raises(NothingToRunError, match=r"environment\.cpus"):
        selected(base, path="bad", skip_invalid=True)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones(base: Path) -> None:
    """With the nearest one."""
    error = fault(SuiteError, base, name="hbench-cor@1", path=None)
    assert 'Did you mean "hbench-core@1"?' in str(error.hint)


def test_a_name_of_the_catalog_is_a_folder_that_ships() -> None:
    """And every folder of the catalog is there."""
    assert CATALOG["hbench-core@1"] == ("tasks",)
    assert all(shipped(*parts).is_dir() for parts in CATALOG.values())


def test_a_folder_without_tasks_and_one_that_is_not_there_are_errors(base: Path) -> None:
    """Each says what is expected there."""
    assert "no task here" in fault(NothingToRunError, base, path=".").what
    assert "no such folder" in fault(SuiteError, base, path="nowhere").what
    assert "no such folder" in fault(SuiteError, base, path="set/README.md").what
