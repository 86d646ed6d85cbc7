"""Images built by both builders on a real engine."""

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import docker
import pytest

from hbench.container import context
from hbench.container.build import build, builder_name
from hbench.container.ca import BUNDLE_FILE, CaBundle
from hbench.container.engine import BuildSpec
from hbench.container.errors import BuildFailed, Cancelled
from tests.docker.buildx_plugin import NoPluginError, config_with_plugin

pytestmark = pytest.mark.docker

BASE = "debian:bookworm-slim"
BUNDLE = CaBundle(pem=b"the bundle\n", extra=(b"the extra one\n",), sha256="0" * 64, found="suite")


@pytest.fixture(params=["classic", "buildx"])
def builder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each of the two; BuildKit comes from the machine or from Debian's packages."""
    if request.param == "classic":
        monkeypatch.setenv("DOCKER_BUILDKIT", "0")
    elif builder_name() == "classic":
        try:
            cache = request.config.cache.mkdir("buildx")
            monkeypatch.setenv("DOCKER_CONFIG", str(config_with_plugin(cache)))
        except NoPluginError as problem:
            pytest.skip(f"no buildx plugin: {problem}")
    return str(request.param)


class Maker:
    """Builds a folder and removes what it built."""

    def __init__(self, api: docker.APIClient, folder: Path) -> None:
        self.api = api
        self.folder = folder
        self.made: set[str] = set()
        self.said: list[bytes] = []

    def __call__(
        self, dockerfile: str, *, ca: CaBundle | None = None, timeout_s: float = 120, cancel: Event | None = None
    ) -> str:
        """The image's name."""
        (self.folder / "Dockerfile").write_text(dockerfile)
        tag = context.image_tag(self.folder, ca)
        spec = BuildSpec(
            context=self.folder,
            tag=tag,
            ca=ca,
            timeout_s=timeout_s,
            output=self.said.append,
        )
        self.made |= {tag} if ca is None else {tag, context.ca_image_tag(ca)}
        build(self.api, spec, cancel or Event())
        return tag

    def run(self, image: str, script: str) -> str:
        """What a shell script prints in the image."""
        made = self.api.create_container(image, ["sh", "-c", script], labels={"hbench.test": "yes"})["Id"]
        try:
            self.api.start(made)
            assert self.api.wait(made, timeout=60)["StatusCode"] == 0
            return str(self.api.logs(made, stderr=False).decode())
        finally:
            self.api.remove_container(made, force=True, v=True)

    def config(self, image: str) -> Mapping[str, Any]:
        """What `docker inspect` says under Config."""
        found: Mapping[str, Any] = self.api.inspect_image(image)["Config"]  # type: ignore[no-untyped-call]
        return found

    def names(self, image: str) -> set[str]:
        """The files of an image that need not be able to run."""
        made = self.api.create_container(image, ["none"], labels={"hbench.test": "yes"})["Id"]
        try:
            return {line.strip("/") for line in _tar_names(self.api.export(made))}
        finally:
            self.api.remove_container(made, force=True, v=True)


def _tar_names(chunks: Iterator[bytes]) -> list[str]:
    from hbench.container.tarstream import TarStream

    stream, found = TarStream(chunks), []
    while (member := stream.next()) is not None:
        found.append(member.name.decode())
    return found


@pytest.fixture
def make(docker_api: docker.APIClient, tmp_path: Path) -> Iterator[Maker]:
    """Builds a folder; its images are gone afterwards."""
    folder = tmp_path / "environment"
    folder.mkdir()
    maker = Maker(docker_api, folder)
    yield maker
    for tag in maker.made:
        if docker_api.images(tag):
            docker_api.remove_image(tag, force=True)


def test_an_image_is_built_named_and_labelled(builder: str, make: Maker) -> None:
    """And the builder's words stream out as they come."""
    tag = make(f"FROM {BASE}\nRUN echo from inside\nCOPY . /x\n")
    labels = make.config(tag)["Labels"]
    assert labels == {"hbench.context": context.context_digest(make.folder, None)}
    assert b"from inside" in b"".join(make.said)
    assert builder_name().startswith(builder)


def test_both_builders_get_the_same_files(builder: str, make: Maker) -> None:
    """Names, modes, links, owners, times of files; what .dockerignore leaves out is not there."""
    (make.folder / ".dockerignore").write_text("*\n!src\n")
    (make.folder / "secret").write_text("x")
    (make.folder / "src" / "deep").mkdir(parents=True)
    (make.folder / "src" / "deep" / "run.sh").write_text("x")
    (make.folder / "src" / "deep" / "run.sh").chmod(0o750)
    (make.folder / "src" / "deep").chmod(0o700)
    (make.folder / "src" / "link").symlink_to("deep/run.sh")
    (make.folder / "src" / "out").symlink_to("/etc/hostname")
    (make.folder / "src").chmod(0o755)
    tag = make(f"FROM {BASE}\nCOPY . /x/\n")
    script = "cd /x && find . -mindepth 1 {} -printf '%P %m %U:%G {} %l\\n'"
    of_folders, of_others = script.format("-type d", ""), script.format("! -type d", "%TY")
    found = make.run(tag, f"({of_folders}; {of_others}) | LC_ALL=C sort")
    assert found.splitlines() == [
        "src 755 0:0  ",
        "src/deep 700 0:0  ",
        "src/deep/run.sh 750 0:0 2020 ",
        "src/link 777 0:0 2020 deep/run.sh",
        "src/out 777 0:0 2020 /etc/hostname",
    ]


def test_every_run_has_the_certificates_and_the_image_no_variable_of_it(builder: str, make: Maker) -> None:
    """In each stage, and without a trace in what the task's folder is copied to."""
    (make.folder / "main.py").write_text("x")
    tag = make(
        f"FROM {BASE} AS one\nRUN cat $SSL_CERT_FILE > /first\n"
        f"FROM {BASE}\nCOPY --from=one /first /first\nRUN cat $PIP_CERT > /second\nCOPY . /x\n",
        ca=BUNDLE,
    )
    config = make.config(tag)
    assert make.run(tag, "cat /first /second; ls /x") == "the bundle\nthe bundle\nDockerfile\nmain.py\n"
    assert not [line for line in config["Env"] if "hbench" in line]


def test_an_image_from_scratch_gets_them_too(builder: str, make: Maker) -> None:
    """It has no shell to fetch them with."""
    (make.folder / "tool").write_text("x")
    tag = make("FROM scratch\nCOPY tool /tool\n", ca=BUNDLE)
    extra = "usr/local/share/ca-certificates/hbench-ca-1.crt"
    assert {"tool", BUNDLE_FILE.strip("/"), extra} <= make.names(tag)


def test_a_failure_ends_with_what_the_builder_said_last(builder: str, make: Maker) -> None:
    """Twenty lines of it, without what could rewrite a terminal."""
    script = "exec >&2; for i in $(seq 100); do echo line $i; done; printf '\\033[31mred\\n'; exit 7"
    with pytest.raises(BuildFailed) as caught:
        make(f"FROM {BASE}\nRUN {script}\n")
    message = str(caught.value)
    assert message.startswith(f"{make.folder}/Dockerfile: the image cannot be built: ")
    assert "line 100" in message
    assert "line 50" not in message
    assert "red\n" in message
    assert "\x1b" not in message


def test_what_a_dockerfile_says_cannot_rewrite_the_message(builder: str, make: Maker) -> None:
    """Builders repeat the command that failed, whatever characters are in it."""
    with pytest.raises(BuildFailed) as caught:
        make(f"FROM {BASE}\nRUN false '\x1b[2J\u202e'\n")
    assert not {"\x1b", "\u202e"} & set(str(caught.value))


def test_a_base_image_that_cannot_be_pulled_is_named(builder: str, make: Maker) -> None:
    """With the command that shows why."""
    with pytest.raises(BuildFailed, match="base image that is not here and cannot be pulled") as caught:
        make("ARG TAG=never-there\nFROM localhost:9/hbench-test:$TAG\nRUN true\n")
    assert caught.value.hint == "See that this works: docker pull localhost:9/hbench-test:never-there"


def test_a_missing_file_is_not_blamed_on_the_base_image(builder: str, make: Maker) -> None:
    """The reason is the builder's own."""
    with pytest.raises(BuildFailed, match="cannot be built") as caught:
        make(f"FROM {BASE}\nCOPY nowhere /x\n")
    assert "nowhere" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "name"), [("RUN --mount=type=tmpfs,target=/x true", "RUN --mount"), ("RUN <<EOF\ntrue\nEOF", "RUN with")]
)
def test_the_classic_builder_says_what_needs_buildkit(
    make: Maker, monkeypatch: pytest.MonkeyPatch, line: str, name: str
) -> None:
    """And what to install."""
    monkeypatch.setenv("DOCKER_BUILDKIT", "0")
    with pytest.raises(BuildFailed, match=f"needs BuildKit .{name}") as caught:
        make(f"FROM {BASE}\n{line}\n")
    assert "buildx" in (caught.value.hint or "")


def test_buildkit_builds_what_needs_it(builder: str, make: Maker) -> None:
    """Where it is there."""
    if builder == "classic":
        pytest.skip("the classic builder cannot")
    tag = make(f"FROM {BASE}\nRUN --mount=type=tmpfs,target=/x touch /x/y && echo fine > /z\n")
    assert make.run(tag, "cat /z; ls /x") == "fine\n"


def _sleeps(seconds: str) -> list[str]:
    """Processes on this machine that sleep so long; none are seen where the engine runs in a machine of its own."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it ended just now
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(str(path))
    return found


def _wait_for(condition: Callable[[], bool], limit_s: float = 10) -> bool:
    until = time.monotonic() + limit_s
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    return condition()


def test_a_build_that_takes_too_long_is_stopped(builder: str, make: Maker) -> None:
    """On the engine as well, where it would go on using the machine."""
    seconds = f"47.{os.getpid()}"
    began = time.monotonic()
    with pytest.raises(BuildFailed, match="was not built after 4 s") as caught:
        make(f"FROM {BASE}\nRUN echo begun && sleep {seconds}\n", timeout_s=4)
    assert time.monotonic() - began < 12
    assert "begun" in str(caught.value)
    assert _wait_for(lambda: not _sleeps(seconds))


def test_a_cancelled_build_ends_at_once(builder: str, make: Maker) -> None:
    """Ctrl-C does not wait for it, and nothing of it goes on."""
    seconds = f"48.{os.getpid()}"
    cancel, cancelled_at = Event(), []

    def cancel_when_it_sleeps() -> None:
        assert _wait_for(lambda: b"begun\n" in b"".join(make.said), 60)
        cancelled_at.append(time.monotonic())
        cancel.set()

    watcher = threading.Thread(target=cancel_when_it_sleeps)
    watcher.start()
    try:
        with pytest.raises(Cancelled):
            make(f"FROM {BASE}\nRUN echo begun && sleep {seconds}\n", cancel=cancel)
    finally:
        watcher.join()
    assert time.monotonic() - cancelled_at[0] < 3
    assert _wait_for(lambda: not _sleeps(seconds))


@pytest.mark.parametrize("cancelled", [True, False])
def test_a_build_can_be_given_up_before_it_began(builder: str, make: Maker, *, cancelled: bool) -> None:
    """While its context still goes to the engine."""
    cancel = Event()
    if cancelled:
        cancel.set()
    with pytest.raises(Cancelled if cancelled else BuildFailed):
        make(f"FROM {BASE}\nRUN sleep 49\n", cancel=cancel, timeout_s=0)


def test_two_builds_at_once_do_not_mix_up(builder: str, make: Maker) -> None:
    """One is given up while the other, over the same client, goes on."""
    cancel, results = Event(), {}
    other = Maker(make.api, make.folder.parent / "other")
    other.folder.mkdir()

    def slow() -> None:
        try:
            other(f"FROM {BASE}\nRUN sleep 40 # {os.getpid()}\n", cancel=cancel)
        except Cancelled:
            results["slow"] = "cancelled"

    thread = threading.Thread(target=slow)
    thread.start()
    threading.Timer(1.5, cancel.set).start()
    tag = make(f"FROM {BASE}\nRUN sleep 3 && echo fine > /x\n")
    thread.join()
    assert make.run(tag, "cat /x") == "fine\n"
    assert results == {"slow": "cancelled"}


def test_without_the_docker_cli_the_classic_builder_is_used(monkeypatch: pytest.MonkeyPatch, make: Maker) -> None:
    """It needs nothing but the engine."""
    monkeypatch.setenv("PATH", str(make.folder))
    assert builder_name() == "classic"
    make(f"FROM {BASE}\nLABEL a=b\n")
