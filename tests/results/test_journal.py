"""The journal has every start and end on disk, whatever happens to hbench."""

import json
import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hbench.errors import ResumeError, SealError
from hbench.results.journal import Journal, parse, read

AT = "2026-01-02T03:04:05Z"


def test_events_come_back_in_the_order_written(tmp_path: Path) -> None:
    """Each line carries the format."""
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.start("a", 1, AT)
        journal.begun("a", 1, AT)
        journal.end("a", 1, "AgentTimeoutError", 0.5, AT)
    with Journal(path) as journal:
        journal.start("b", 1, AT)
    assert [(e.event, e.trial, e.start, e.exception_type, e.reward) for e in read(path)] == [
        ("start", "a", 1, None, None),
        ("begun", "a", 1, None, None),
        ("end", "a", 1, "AgentTimeoutError", 0.5),
        ("start", "b", 1, None, None),
    ]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert {line["format"] for line in lines} == {"hbench/journal@1"}


def test_threads_do_not_tear_each_others_lines(tmp_path: Path) -> None:
    with Journal(tmp_path / "j") as journal, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: journal.start(f"trial-{n}", 1, AT), range(200)))
    assert sorted(e.trial or "" for e in read(tmp_path / "j")) == sorted(f"trial-{n}" for n in range(200))


def test_a_line_torn_by_a_kill_is_cut_away_and_reported_on_resume(tmp_path: Path) -> None:
    """What was acknowledged stays."""
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.start("a", 1, AT)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:30])
    with pytest.raises(SealError, match=r"j:2: the last line has no end"):
        read(path)
    assert [e.event for e in read(path, torn_ok=True)] == ["start"]
    with Journal(path) as journal:
        journal.start("a", 2, AT)
    assert [e.event for e in read(path)] == ["start", "torn", "start"]
    assert path.read_bytes().startswith(whole)


GOOD = {"format": "hbench/journal@1", "event": "start", "trial": "a", "start": 1, "at": AT}


@pytest.mark.parametrize(
    "line",
    [
        *("", "{", "[]", "{}", json.dumps(GOOD) + json.dumps(GOOD), '{"start": 1, ' + json.dumps(GOOD)[1:]),
        *(json.dumps({key: value for key, value in GOOD.items() if key != left_out}) for left_out in GOOD),
        *(json.dumps(GOOD | {"format": one}) for one in ("hbench/journal@2", 1)),
        *(json.dumps(GOOD | {"event": one}) for one in ("sart", "torn", None)),
        *(json.dumps(GOOD | {"start": one}) for one in (0, -1, True, "1", 1.5, None)),
        *(json.dumps(GOOD | {"at": one}) for one in ("yesterday", "2026-01-02T03:04:05", 0)),
        *(json.dumps(GOOD | more) for more in ({"reward": 1.0}, {"exception_type": "X"}, {"colour": "red"})),
        json.dumps(GOOD | {"event": "end", "reward": float("nan")}),
    ],
)
def test_any_other_bad_line_is_named(line: str) -> None:
    """Also with `torn_ok`, which forgives only an end that is missing."""
    good = json.dumps(GOOD).encode() + b"\n"
    assert len(parse(good, where="j")) == 1
    with pytest.raises(SealError, match=r"^j:2: "):
        parse(good + line.encode() + b"\n" + good, where="j", torn_ok=True)


def test_only_one_hbench_writes_a_journal(tmp_path: Path) -> None:
    """Two resumes of one batch would run every trial twice."""
    with Journal(tmp_path / "j"):
        with pytest.raises(ResumeError, match="another hbench"):
            Journal(tmp_path / "j")
        assert read(tmp_path / "j") == []
    Journal(tmp_path / "j").close()


def test_a_full_disk_leaves_whole_lines_only(tmp_path: Path) -> None:
    """The line that has no room is taken back."""
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.start("a", 1, AT)
        before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, limits[1]))
        try:
            with pytest.raises(SealError, match="j: cannot be written"):
                journal.start("b", 1, AT)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        journal.start("b", 1, AT)
    assert [e.trial for e in read(path)] == ["a", "b"]


def test_a_link_in_the_journals_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "j").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(SealError, match="j: cannot be opened"):
        Journal(tmp_path / "j")
