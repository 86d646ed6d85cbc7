"""Earlier starts of a trial, kept."""

from pathlib import Path

from hbench.job.attempts import set_aside


def tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_what_a_start_left_moves_as_a_whole(tmp_path: Path) -> None:
    """Folders and files, under the number of the start."""
    (tmp_path / "agent").mkdir()
    (tmp_path / "agent" / "stdout.txt").write_text("first")
    (tmp_path / "result.json").write_text("{}")
    set_aside(tmp_path)
    assert tree(tmp_path) == {"attempts/1/agent/stdout.txt": "first", "attempts/1/result.json": "{}"}


def test_each_start_gets_a_number_of_its_own(tmp_path: Path) -> None:
    """The tenth comes after the ninth."""
    for number in range(1, 12):
        (tmp_path / "result.json").write_text(str(number))
        set_aside(tmp_path)
    assert tree(tmp_path) == {f"attempts/{number}/result.json": str(number) for number in range(1, 12)}


def test_a_trial_that_has_not_started_has_nothing_to_set_aside(tmp_path: Path) -> None:
    """No folder is made for nothing, nor a number used."""
    set_aside(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "result.json").write_text("1")
    set_aside(tmp_path)
    set_aside(tmp_path)
    assert tree(tmp_path) == {"attempts/1/result.json": "1"}
