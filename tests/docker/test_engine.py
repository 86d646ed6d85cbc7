"""What hbench asks of Docker, one operation after the other, on a real engine."""

import contextlib
import io
import tarfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import docker
import pytest

from hbench.container import archive, owner
from hbench.container.asking import ask
from hbench.container.docker_engine import DockerEngine, connect
from hbench.container.engine import Command, ImageFacts
from hbench.container.errors import GoneError, RefusedError
from hbench.errors import EngineError
from tests.docker.said import Said

pytestmark = pytest.mark.docker

MEGABYTE = 1 << 20


# What the engine is and has


def test_the_facts_are_the_engines_own(engine: DockerEngine, docker_api: docker.APIClient) -> None:
    """They stand in the lock."""
    info, facts = docker_api.info(), engine.facts()
    assert (facts.os, facts.arch) == (info["OSType"], info["Architecture"])
    assert facts.version == info["ServerVersion"]
    assert facts.builder == "classic" or facts.builder.startswith("buildx ")


def test_an_engine_that_is_not_there_is_an_error_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a trial's ending: nothing can run."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(EngineError, match="no Docker engine answers") as refused:
        connect()
    assert "DOCKER_HOST" in str(refused.value)
    assert refused.value.exit_code == 4


def test_an_image_that_is_not_there_is_none(engine: DockerEngine) -> None:
    """Asked for by its name."""
    assert engine.image("hbench-test-nowhere:1") is None


def test_an_images_facts_say_where_and_as_whom_it_runs(engine: DockerEngine, image: Callable[..., ImageFacts]) -> None:
    """WORKDIR and USER, and the defaults where it sets none."""
    made = image("FROM debian:bookworm-slim\nWORKDIR /srv/app\nUSER 1234:5678\n")
    assert (made.workdir, made.user, made.repo_digests) == ("/srv/app", "1234:5678", ())
    assert made.id.startswith("sha256:")
    plain = engine.image("debian:bookworm-slim")
    assert plain is not None
    assert (plain.workdir, plain.user) == ("/", "")


def test_an_image_that_cannot_be_pulled_is_refused(engine: DockerEngine) -> None:
    """With the engine's own words."""
    with pytest.raises(RefusedError):
        engine.pull("127.0.0.1:9/nothing:1", timeout_s=20, cancel=Event())


# Containers


def test_a_container_has_the_limits_it_was_given(
    engine: DockerEngine, created: Callable[..., str], docker_api: docker.APIClient
) -> None:
    """No swap beyond the memory, an init process, no privileges, and nothing mounted."""
    one = created(cpus=0.5, memory_mb=123, pids=45, env={"A": "b"}, workdir="/srv")
    found = docker_api.inspect_container(one)
    host = found["HostConfig"]
    assert (host["NanoCpus"], host["Memory"], host["MemorySwap"]) == (500_000_000, 123 << 20, 123 << 20)
    assert (host["PidsLimit"], host["Init"], host["Privileged"], host["CapAdd"]) == (45, True, False, None)
    assert host["RestartPolicy"]["Name"] in ("", "no")
    assert found["Mounts"] == []
    assert "A=b" in found["Config"]["Env"]
    assert found["Config"]["WorkingDir"] == "/srv"


def test_a_name_that_is_taken_is_refused(created: Callable[..., str], batch_id: str) -> None:
    """And the message says so."""
    name = f"hbench-test-{batch_id[:8]}-taken"
    created(name=name)
    with pytest.raises(RefusedError, match="already in use"):
        created(name=name)


def test_an_image_that_is_gone_cannot_be_created_from(created: Callable[..., str]) -> None:
    """A refusal, whatever the engine has to say."""
    with pytest.raises(RefusedError, match="No such image"):
        created(image="sha256:" + "0" * 64)


def test_a_container_runs_until_it_is_removed(engine: DockerEngine, fresh: str) -> None:
    """What ended it is said in words; removing it twice is no error."""
    assert engine.why_stopped(fresh) is None
    assert len(engine.processes(fresh)) >= 1
    engine.remove(fresh)
    assert engine.why_stopped(fresh) == "the container was removed"
    engine.remove(fresh)


def test_a_container_that_ends_says_with_what_status(engine: DockerEngine, fresh: str) -> None:
    """Also after a kill from outside."""
    Said(engine, fresh).sh("kill -TERM 1", timeout_s=10)
    for _ in range(50):
        if engine.why_stopped(fresh) is not None:
            break
        time.sleep(0.1)
    assert engine.why_stopped(fresh) == "the container stopped with exit status 143"


def test_removing_a_container_that_is_being_removed_is_no_error(engine: DockerEngine, fresh: str) -> None:
    """Two that clean up may meet."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: engine.remove(fresh), range(8)))
    assert engine.why_stopped(fresh) == "the container was removed"


def test_a_container_that_is_held_still_can_be_removed(
    engine: DockerEngine, fresh: str, docker_api: docker.APIClient
) -> None:
    """As it is when hbench is killed while it stops an agent."""
    docker_api.pause(fresh)
    engine.remove(fresh)
    assert engine.why_stopped(fresh) == "the container was removed"


def test_containers_are_found_by_their_labels(engine: DockerEngine, created: Callable[..., str], batch_id: str) -> None:
    """Also before they are started."""
    one = created(labels={**owner.labels(batch_id), "hbench.trial": "x/y/1"})
    assert engine.labelled("hbench.trial=x/y/1")[one]["hbench.batch"] == batch_id
    assert one in engine.labelled(f"{owner.BATCH_LABEL}={batch_id}")
    assert one not in engine.labelled("hbench.trial=another")


@pytest.mark.parametrize("operation", ["start", "run", "put", "processes", "image"])
def test_what_is_gone_is_told_apart_from_what_is_refused(engine: DockerEngine, operation: str) -> None:
    """A trial whose container was lost ends otherwise than one whose container never came up."""
    gone = "0" * 64
    calls: dict[str, Callable[[], object]] = {
        "start": lambda: engine.start(gone),
        "run": lambda: engine.run(gone, Command(argv=("true",)), Event()),
        "put": lambda: engine.put(gone, io.BytesIO(b"\0" * 1024)),
        "processes": lambda: engine.processes(gone),
        "image": lambda: ask(lambda: engine._api.inspect_image(gone)),  # type: ignore[no-untyped-call]
    }
    with pytest.raises(GoneError):
        calls[operation]()


def test_running_in_a_container_that_is_not_started_is_gone(engine: DockerEngine, created: Callable[..., str]) -> None:
    """It is not running any more, or not yet."""
    with pytest.raises(GoneError, match="is not running"):
        engine.run(created(), Command(argv=("true",)), Event())


# Files in and out


def test_files_go_in_before_the_start_and_come_out_after(engine: DockerEngine, created: Callable[..., str]) -> None:
    """With names that are no ASCII, and a folder's mode."""
    one = created()
    with archive.pack([archive.folder("/höhle", mode=0o700), archive.file("/höhle/日本 1.txt", b"x\0y")]) as packed:
        engine.put(one, packed)
    assert engine.exists(one, "/höhle/日本 1.txt")
    assert not engine.exists(one, "/höhle/日本 2.txt")
    chunks = engine.get(one, "/höhle")
    assert chunks is not None
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as got:
        assert got.getmember("höhle").mode & 0o777 == 0o700
        extracted = got.extractfile("höhle/日本 1.txt")
        assert extracted is not None
        assert extracted.read() == b"x\0y"


def test_what_is_not_there_comes_out_as_none(engine: DockerEngine, container: str) -> None:
    """Also where its folder is not there, and where the container is gone."""
    assert engine.get(container, "/nothing/at/all") is None
    assert engine.get("0" * 64, "/etc") is None
    assert not engine.exists("0" * 64, "/etc")


def test_a_copy_that_is_given_up_lets_go_of_its_connection(engine: DockerEngine, said: Said) -> None:
    """After a cap the rest is not read."""
    said.sh("truncate -s 20G /huge", timeout_s=20)
    for _ in range(5):
        chunks = engine.get(said.container, "/huge")
        assert chunks is not None
        with contextlib.closing(chunks):
            assert len(next(chunks)) > 0
    said.sh("rm /huge")
    assert engine.exists(said.container, "/etc")


def test_a_link_is_not_followed_on_the_way_out(engine: DockerEngine, said: Said) -> None:
    """It comes out as the link it is."""
    said.sh("ln -s /etc/passwd /leak")
    chunks = engine.get(said.container, "/leak")
    assert chunks is not None
    with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as got:
        assert got.getmember("leak").issym()


def test_files_put_in_do_not_depend_on_a_clock_or_an_owner(engine: DockerEngine, said: Said, tmp_path: Path) -> None:
    """Root's, dated alike."""
    (tmp_path / "run.sh").write_text("echo\n")
    with archive.pack(archive.tree(tmp_path, "/put")) as packed:
        engine.put(said.container, packed)
    said.run("stat", "-c", "%u:%g %Y", "/put/run.sh")
    assert said.output == f"0:0 {archive.MTIME}\n".encode()
