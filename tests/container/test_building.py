import time
from pathlib import Path
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.container.build import _stopped_at_a_base_image, builder_name
from hbench.container.building import Build, Recent
from hbench.container.errors import Cancelled


def _build(*, limit_s: float = 60, cancel: Event | None = None) -> Build:
    return Build(
        folder=Path(),
        instructions=b"",
        tag="",
        labels={},
        until=time.monotonic() + limit_s,
        cancel=cancel or Event(),
        output=lambda _: None,
    )


def test_a_build_goes_on_until_it_is_cancelled_or_late() -> None:
    """A person who cancels hears of that, even if it is late too."""
    _build().check()
    with pytest.raises(TimeoutError):
        _build(limit_s=-1).check()
    cancel = Event()
    cancel.set()
    with pytest.raises(Cancelled):
        _build(limit_s=-1, cancel=cancel).check()


@given(st.lists(st.text("ab \n\u00e9", max_size=40_000).map(str.encode), max_size=6))
def test_output_is_passed_on_whole_and_its_end_is_kept(pieces: list[bytes]) -> None:
    """In whatever pieces it comes, and however much."""
    seen: list[bytes] = []
    recent = Recent(seen.append)
    for piece in pieces:
        recent(piece)
    whole = b"".join(pieces)
    assert b"".join(seen) == whole
    expected = whole[-16384:].decode(errors="replace")
    assert len(recent.lines()) == sum(bool(line.strip()) for line in expected.splitlines())


def test_lines_for_a_message_are_short_and_harmless() -> None:
    """A build can print anything."""
    recent = Recent(lambda _: None)
    recent(b"\x1b[31mred\x1b[0m \x1b[2J\n\n" + b"x" * 5000 + b"\nlast")
    first, second, third = recent.lines()
    assert first == "red \ufffd[2J"
    assert len(second) == 300
    assert third == "last"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["Step 1/2 : FROM nosuch:1"], True),
        (["Step 1/3 : FROM a AS x", " ---> 12", "Step 2/3 : FROM nosuch:1"], True),
        (["Step 1/2 : FROM a", " ---> 12", "Step 2/2 : RUN false", " ---> Running in 34"], False),
        ([" > [internal] load metadata for docker.io/library/nosuch:1:"], True),
        ([" > FROM docker.io/library/nosuch:7:"], True),
        ([" > [stage-1 1/2] FROM docker.io/library/nosuch:7@sha256:ab:"], True),
        ([" > [2/2] RUN echo FROM here:"], False),
        ([], False),
    ],
)
def test_it_is_seen_whether_a_build_ended_at_a_base_image(lines: list[str], expected: bool) -> None:
    """By what both builders print when they get one (Docker 20.10, buildx 0.13)."""
    assert _stopped_at_a_base_image(lines) is expected


def _docker_that_says(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for Docker's CLI."""
    (folder / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    monkeypatch.delenv("DOCKER_BUILDKIT", raising=False)


def test_the_builder_is_named_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the plugin gives it; distributions and Docker write it with and without a v."""
    _docker_that_says(tmp_path, "echo github.com/docker/buildx v0.17.1 257815a", monkeypatch)
    assert builder_name() == "buildx v0.17.1"


@pytest.mark.parametrize("script", ["echo unknown command >&2; exit 1", "exit 0"])
def test_a_cli_without_the_plugin_means_the_classic_builder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    """Whatever it says instead."""
    _docker_that_says(tmp_path, script, monkeypatch)
    assert builder_name() == "classic"


def test_buildkit_can_be_turned_off_as_for_docker_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that people know."""
    _docker_that_says(tmp_path, "echo github.com/docker/buildx v0.17.1 257815a", monkeypatch)
    monkeypatch.setenv("DOCKER_BUILDKIT", "0")
    assert builder_name() == "classic"
