"""What may lie in a task folder."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.errors import TaskError
from hbench.task.tree import entries

MakeTask = Callable[..., Path]


def fault(folder: Path) -> TaskError:
    with pytest.raises(TaskError) as caught:
        entries(folder)
    return caught.value


def test_files_and_links_are_listed_sorted_by_path(make_task: MakeTask) -> None:
    """Folders count by what is in them; a link is listed with its text, not followed."""
    folder = make_task(files={"environment/a/b": "12", "environment/a.b": "1"})
    (folder / "environment/link").symlink_to("./a")
    (folder / "environment/empty").mkdir()
    listed = {entry.path: (entry.size, entry.target) for entry in entries(folder)}
    assert list(listed) == [
        "environment/Dockerfile",
        "environment/a.b",
        "environment/a/b",
        "environment/link",
        "instruction.md",
        "solution/solve.sh",
        "task.toml",
        "tests/test.sh",
    ]
    assert listed["environment/a/b"] == (2, None)
    assert listed["environment/link"][1] == "./a"


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../outside", "../..", "../tests/../../hello/task.toml", "nowhere/../../../x"]
)
def test_a_link_that_leaves_the_task_is_refused(make_task: MakeTask, target: str) -> None:
    """It would bring a file of the host into the container, or another one on each machine."""
    folder = make_task()
    (folder.parent / "outside").write_text("secret")
    (folder / "environment/link").symlink_to(target)
    error = fault(folder)
    assert error.where == str(folder / "environment/link")
    assert "leaves the task folder" in error.what


def test_a_link_that_leaves_by_way_of_another_is_refused(make_task: MakeTask) -> None:
    """Each link is looked at where it really ends."""
    folder = make_task(files={"environment/deep/er/file": "x"})
    (folder / "up").symlink_to("environment/deep")
    (folder / "link").symlink_to("up/../../../outside")
    assert "leaves the task folder" in fault(folder).what


def test_links_inside_the_task_are_allowed(make_task: MakeTask) -> None:
    """Also to folders and to nothing: data sets and git checkouts have them."""
    folder = make_task(files={"environment/data/v1/x": "1"})
    (folder / "environment/data/latest").symlink_to("v1")
    (folder / "environment/gone").symlink_to("not-there")
    (folder / "tests/Dockerfile").symlink_to("../environment/Dockerfile")
    assert {entry.path for entry in entries(folder) if entry.target} == {
        "environment/data/latest",
        "environment/gone",
        "tests/Dockerfile",
    }


def test_a_link_to_itself_and_a_loop_of_links_are_refused(make_task: MakeTask) -> None:
    """Whoever walks the folder would not come back."""
    folder = make_task()
    (folder / "environment/self").symlink_to("self")
    assert fault(folder).where == str(folder / "environment/self")
    (folder / "environment/self").unlink()
    (folder / "environment/loop").symlink_to("..")
    assert "loop" in fault(folder).what
    (folder / "environment/loop").unlink()
    (folder / "environment/a").mkdir()
    (folder / "environment/b").mkdir()
    (folder / "environment/a/b").symlink_to("../b")
    (folder / "environment/b/a").symlink_to("../a")
    assert "loop" in fault(folder).what


def test_links_that_multiply_the_folders_without_end_are_refused(make_task: MakeTask) -> None:
    """Forty links that double a tree twenty times make a million folders to visit."""
    folder = make_task()
    for level in range(21):
        place = folder / f"environment/d{level}"
        place.mkdir()
        for copy in ("x", "y"):
            (place / copy).symlink_to(f"../d{level + 1}")
    (folder / "environment/d21").mkdir()
    assert "multiply" in fault(folder).what


def test_a_link_in_place_of_one_of_the_tasks_own_folders_is_refused(make_task: MakeTask) -> None:
    """Its files would have no digest under the name by which they are used."""
    folder = make_task()
    (folder / "tests").rename(folder / "checks")
    (folder / "tests").symlink_to("checks")
    assert "must be a folder itself" in fault(folder).what


def test_a_pipe_is_refused_without_opening_it(make_task: MakeTask) -> None:
    """Reading one waits for ever."""
    folder = make_task(files={"instruction.md": None})
    os.mkfifo(folder / "instruction.md")
    error = fault(folder)
    assert error.where == str(folder / "instruction.md")
    assert "device, pipe or socket" in error.what


@pytest.mark.parametrize("name", [b"a\nb", b"\x1b[2J", b"\xff", b"\x7f", b"a\xe2\x80\xaeb", b"a\xc2\x85b"])
def test_a_name_that_is_not_plain_text_is_refused(make_task: MakeTask, name: bytes) -> None:
    """It would be printed, logged and hashed."""
    folder = make_task()
    Path(os.fsdecode(os.fsencode(folder) + b"/tests/" + name)).write_text("x")
    error = fault(folder)
    assert str(error).replace("\n", "").isprintable()
    assert "cannot be used" in error.what


@pytest.mark.parametrize("name", ["ünï 数据.v1.2", "-rf", ".hidden", "a b", "😀", "'", "$HOME", "a\\b", "x" * 255])
def test_an_unusual_name_is_no_reason_to_refuse_a_task(make_task: MakeTask, name: str) -> None:
    """Non-ASCII, dots and blanks are ordinary."""
    folder = make_task(files={f"environment/{name}": "x"})
    assert f"environment/{name}" in {entry.path for entry in entries(folder)}


def test_folders_more_than_a_hundred_deep_are_refused(make_task: MakeTask) -> None:
    """Recursive readers end in an error of their own."""
    folder = make_task(files={"/".join(["d"] * 99) + "/x": "1"})
    assert entries(folder)
    (folder / "/".join(["d"] * 130)).mkdir(parents=True)
    assert "deep" in fault(folder).what


def test_more_than_ten_gib_is_refused(make_task: MakeTask) -> None:
    """Ten sparse GiB take no room here, but their hash takes minutes."""
    folder = make_task()
    with (folder / "environment/huge").open("wb") as file:
        file.truncate(10 * 2**30 + 1)
    assert "10 GiB" in fault(folder).what
