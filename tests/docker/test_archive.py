"""Archives to and from a container that does its worst."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from hbench.container import archive

pytestmark = pytest.mark.docker

HOSTILE = r"""
umask 0
mkdir /logs && cd /logs
echo fine > fine.txt
mkdir -p deep/er && echo two > deep/er/two.txt
ln -s /etc/passwd link
echo x > hard && ln hard harder
mkfifo pipe
truncate -s 100M big
printf x > "$(printf 'a\033[2J\nb')"
printf x > "$(printf 'bad\377utf')"
long=$(printf 'n%.0s' $(seq 250))
printf long > "$long"
printf 1 > Reward.txt
printf 0 > reward.txt
mkdir -p $(printf 'd/%.0s' $(seq 60)) && printf x > $(printf 'd/%.0s' $(seq 60))x
"""


@pytest.fixture
def container(docker_api: docker.APIClient, request: pytest.FixtureRequest) -> Iterator[str]:
    """A container in which the test's script has run."""
    argv = ["bash", "-ec", request.param]
    made = docker_api.create_container("debian:bookworm-slim", argv, labels={"hbench.test": "yes"})["Id"]
    try:
        docker_api.start(made)
        assert docker_api.wait(made, timeout=60)["StatusCode"] == 0, docker_api.logs(made)
        yield made
    finally:
        docker_api.remove_container(made, force=True, v=True)


@pytest.mark.parametrize("container", [HOSTILE], indirect=True)
def test_what_a_bad_agent_leaves_comes_out_harmless(
    docker_api: docker.APIClient, container: str, tmp_path: Path
) -> None:
    """In the engine's own archive, not one that a test made up."""
    chunks, _ = docker_api.get_archive(container, "/logs")
    result = archive.unpack(chunks, tmp_path / "out")
    written = {path.relative_to(tmp_path / "out").as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert written == set(result.files) == {"fine.txt", "deep/er/two.txt", "hard", "n" * 250, "Reward.txt"}
    reasons = [(one.name.removeprefix("logs/")[:8], one.reason.split(" name as ")[0]) for one in result.skipped]
    assert sorted({reason for reason in reasons if not reason[0].startswith("d/")}) == [
        ("a\ufffd[2J\ufffdb", "has a control or hidden character in its name"),
        ("bad\ufffdutf", "has a name that is not UTF-8"),
        ("big", "is larger than 67108864 bytes"),
        ("harder", "is a hard link"),
        ("link", "is a symbolic link"),
        ("pipe", "is a named pipe"),
        ("reward.t", "is, but for case or Unicode form, the same"),
    ]
    assert result.capped == "a file of more than 67108864 bytes"


@pytest.mark.parametrize("container", ["mkdir /logs && echo x > /logs/a && truncate -s 1T /logs/b"], indirect=True)
def test_a_terabyte_of_nothing_is_not_waited_for(docker_api: docker.APIClient, container: str, tmp_path: Path) -> None:
    """It takes no room in the container, but would take hours on the way."""
    began = time.monotonic()
    chunks, _ = docker_api.get_archive(container, "/logs")
    with contextlib.closing(chunks):
        result = archive.unpack(chunks, tmp_path / "out")
    assert (result.files, result.capped) == (("a",), "more than 2147483648 bytes to read")
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("container", ["echo one > /only && ln -s /only /other"], indirect=True)
def test_a_single_file_is_asked_for_by_its_name(docker_api: docker.APIClient, container: str, tmp_path: Path) -> None:
    """And a link to it is none."""
    assert archive.only_file(docker_api.get_archive(container, "/only")[0]) == b"one\n"
    assert archive.only_file(docker_api.get_archive(container, "/other")[0]) is None
    archive.unpack(docker_api.get_archive(container, "/only")[0], tmp_path / "kept" / "as.txt")
    assert (tmp_path / "kept" / "as.txt").read_text() == "one\n"


@pytest.mark.parametrize("container", ["true"], indirect=True)
def test_what_is_put_in_is_roots_and_readable_by_all(
    docker_api: docker.APIClient, container: str, tmp_path: Path
) -> None:
    """Also the folders that the engine makes on the way."""
    entries = [archive.file("/new/er/a.txt", b"one"), archive.folder("/logs", mode=0o777)]
    with archive.pack(entries) as packed:
        docker_api.put_archive(container, "/", packed)
    image = docker_api.commit(container)["Id"]
    try:
        stat = ["stat", "-c", "%a %U %n", "/new", "/new/er", "/new/er/a.txt", "/logs"]
        made = docker_api.create_container(image, stat, labels={"hbench.test": "yes"})["Id"]
        docker_api.start(made)
        docker_api.wait(made, timeout=60)
        said = docker_api.logs(made).decode()
        docker_api.remove_container(made, force=True, v=True)
    finally:
        docker_api.remove_image(image, force=True)
    assert said.splitlines() == ["755 root /new", "755 root /new/er", "644 root /new/er/a.txt", "777 root /logs"]
