"""One engine for the session, and a lab that runs trials on it."""

import io
import itertools
import tarfile
import uuid
from collections.abc import Callable, Iterator

import docker
import pytest

from hbench.container import owner
from hbench.container.docker_engine import DockerEngine, connect
from hbench.container.engine import ContainerSpec, ImageFacts
from hbench.job.undertaker import Undertaker
from tests.docker.lab import BASE, Lab, Texts
from tests.docker.said import Said


@pytest.fixture(scope="session")
def engine() -> DockerEngine:
    """The real one."""
    return connect()


@pytest.fixture(scope="session")
def docker_api() -> Iterator[docker.APIClient]:
    """A client beside hbench's own, to see what the engine has really got."""
    client = docker.APIClient(timeout=60)
    yield client
    client.close()


@pytest.fixture(scope="session")
def base(engine: DockerEngine) -> ImageFacts:
    """The image that tests run in: small, with bash and Perl, without Python or curl."""
    found = engine.image(BASE)
    assert found is not None, f"the engine has no {BASE}: docker pull {BASE}, or script/base-image"
    return found


@pytest.fixture(scope="session")
def batch_id() -> Iterator[str]:
    """What the session's containers are labelled with; alive, so that no hbench on this machine sweeps them."""
    name = str(uuid.uuid4())
    with owner.alive(name):
        yield name


@pytest.fixture(scope="session")
def bury(engine: DockerEngine, batch_id: str) -> Iterator[Undertaker]:
    """Removes containers in the background; all are gone when the session ends."""
    problems: list[str] = []
    with Undertaker(engine, problems.append) as undertaker:
        yield undertaker
    assert problems == []
    assert engine.labelled(f"{owner.BATCH_LABEL}={batch_id}") == {}


@pytest.fixture(scope="module")
def lab(
    engine: DockerEngine,
    bury: Undertaker,
    base: ImageFacts,
    batch_id: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Lab:
    return Lab(engine=engine, bury=bury, folder=tmp_path_factory.mktemp("lab"), batch_id=batch_id, base=base)


@pytest.fixture(scope="session")
def created(engine: DockerEngine, bury: Undertaker, base: ImageFacts, batch_id: str) -> Iterator[Callable[..., str]]:
    """Creates containers, not yet started, that are removed in the end."""
    numbers = itertools.count()
    made = []

    def create(**other: object) -> str:
        fields = {
            "image": base.id,
            "name": f"hbench-test-{batch_id[:8]}-{next(numbers)}",
            "labels": owner.labels(batch_id),
            "env": {},
            "workdir": None,
            "cpus": 1.0,
            "memory_mb": 256,
            "pids": 64,
            **other,
        }
        made.append(engine.create(ContainerSpec(**fields)))  # type: ignore[arg-type]
        return made[-1]

    yield create
    for one in made:
        bury(one)


@pytest.fixture(scope="module")
def container(engine: DockerEngine, created: Callable[..., str]) -> str:
    """A running container that a module's tests share."""
    one = created()
    engine.start(one)
    return one


@pytest.fixture
def said(engine: DockerEngine, container: str) -> Said:
    return Said(engine, container)


@pytest.fixture
def fresh(engine: DockerEngine, created: Callable[..., str]) -> str:
    """A running container of the test's own."""
    one = created()
    engine.start(one)
    return one


@pytest.fixture(scope="session")
def image(engine: DockerEngine, docker_api: docker.APIClient) -> Iterator[Callable[..., ImageFacts]]:
    """Builds images from a Dockerfile and files beside it; they are removed in the end."""
    made = []

    def build(dockerfile: str, files: Texts | None = None) -> ImageFacts:
        tag = f"hbench-test-{uuid.uuid4().hex[:12]}:1"
        context = {"Dockerfile": dockerfile, **(files or {})}
        for _ in docker_api.build(fileobj=tar(context), custom_context=True, tag=tag, rm=True, forcerm=True):
            pass
        made.append(tag)
        found = engine.image(tag)
        assert found is not None
        return found

    yield build
    for tag in made:
        docker_api.remove_image(tag, force=True)


def tar(files: Texts) -> io.BytesIO:
    """An archive of regular files."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            data = text.encode() if isinstance(text, str) else text
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o755
            archive.addfile(info, io.BytesIO(data))
    packed.seek(0)
    return packed
