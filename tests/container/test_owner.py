"""Telling batches that run from batches that were killed."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hbench.container.owner import BATCH_LABEL, MACHINE_LABEL, alive, is_alive, labels, machine_mark
from hbench.errors import ResumeError

HOLDS_IT = "import sys, time\nfrom hbench.container.owner import alive\nwith alive('b'):\n    print('up', flush=True)\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_a_batch_is_alive_while_its_block_runs_and_not_before_or_after() -> None:
    """Nothing stays behind that could make it look alive."""
    assert not is_alive("b")
    with alive("b"):
        assert is_alive("b")
        assert not is_alive("c")
    assert not is_alive("b")


def test_a_batch_ends_with_an_error_in_its_block() -> None:
    """However the run ends."""
    with pytest.raises(RuntimeError), alive("b"):
        raise RuntimeError
    assert not is_alive("b")


def test_a_batch_of_another_process_is_alive_until_that_process_is_killed() -> None:
    """The kernel lets go of the lock, whatever the process had no time for."""
    child = subprocess.Popen([sys.executable, "-c", HOLDS_IT + "    time.sleep(60)"], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "up\n"
        assert is_alive("b")
        child.kill()
        child.wait(10)
        assert not is_alive("b")
        with alive("b"):
            assert is_alive("b")
    finally:
        child.kill()
        child.communicate()


def test_a_batch_runs_once_at_a_time() -> None:
    """A second `--resume` of it is refused, and does not wait where Ctrl-C cannot reach it."""
    with alive("b"):
        with pytest.raises(ResumeError, match="another hbench is running this batch"), alive("b"):
            pass
        assert is_alive("b")


def test_looking_at_a_batch_does_not_keep_it_from_starting() -> None:
    """`hbench clean` may look at any moment."""
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            is_alive("b")

    watchers = [threading.Thread(target=look) for _ in range(3)]
    for one in watchers:
        one.start()
    try:
        for _ in range(50):
            with alive("b"):
                pass
    finally:
        over.set()
        for one in watchers:
            one.join()


def test_the_mark_stays_and_differs_between_cache_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user's lock files cannot be seen, so another user's batches are not judged."""
    first = machine_mark()
    assert machine_mark() == first
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert machine_mark() != first


def test_all_who_ask_for_the_mark_at_once_get_the_same(cache: Path) -> None:
    """Two first runs at the same moment."""
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(lambda _: machine_mark(), range(64)))) == 1
    assert [path.name for path in (cache / "hbench" / "batches").iterdir()] == ["mark"]


def test_every_container_of_a_batch_says_whose_it_is() -> None:
    """In two labels, by which it is found again."""
    assert labels("b") == {BATCH_LABEL: "b", MACHINE_LABEL: machine_mark()}


def test_a_name_that_is_a_path_makes_no_file_elsewhere(cache: Path) -> None:
    """The batch id comes from a file that may have been changed."""
    with alive("../../escape"):
        assert is_alive("../../escape")
        assert [path.suffix for path in (cache / "hbench" / "batches").iterdir()] == [".lock"]
