"""TLS behind a re-signing proxy, from a build and from a running container. Only such a network can show it."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event

import docker
import pytest

from hbench.container import archive, ca, context
from hbench.container.build import build
from hbench.container.ca import CaBundle
from hbench.container.engine import BuildSpec
from hbench.container.errors import BuildFailed
from tests.docker.registry import pypi

pytestmark = pytest.mark.docker

BASE = "debian:bookworm-slim"
OWN_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"


@pytest.fixture(scope="module")
def bundle() -> CaBundle:
    """What this host trusts besides the public authorities."""
    found = ca.find_ca_bundle(suite=None, environ=os.environ)
    if found is None:
        pytest.skip("nothing re-signs TLS on this host's network")
    return found


def _built(api: docker.APIClient, folder: Path, dockerfile: str, bundle: CaBundle | None) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "Dockerfile").write_text(dockerfile)
    tag = context.image_tag(folder, bundle)
    said: list[bytes] = []
    spec = BuildSpec(context=folder, tag=tag, ca=bundle, timeout_s=300, output=said.append)
    build(api, spec, Event())
    return tag


@pytest.fixture(scope="module")
def toolbox(docker_api: docker.APIClient, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An image with the usual programs that has never heard of the proxy; Debian's packages need no TLS."""
    install = "apt-get update && apt-get install -y --no-install-recommends"
    text = f"FROM {BASE}\nRUN {install} ca-certificates curl git python3-pip wget\n"
    tag = _built(docker_api, tmp_path_factory.mktemp("toolbox") / "environment", text, None)
    yield tag
    docker_api.remove_image(tag, force=True)


class Box:
    """A running container."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        self.api = api
        self.container = container

    def put(self, *entries: archive.Entry) -> None:
        with archive.pack(entries) as packed:
            assert self.api.put_archive(self.container, "/", packed)

    def get(self, path: str) -> bytes | None:
        return archive.only_file(self.api.get_archive(self.container, path)[0])

    def run(self, script: str, env: Mapping[str, str]) -> tuple[int, str]:
        """Exit status and output."""
        made = self.api.exec_create(self.container, ["sh", "-c", script], environment=dict(env))["Id"]
        said = self.api.exec_start(made).decode(errors="replace")
        return int(self.api.exec_inspect(made)["ExitCode"]), said


@pytest.fixture
def box(docker_api: docker.APIClient, toolbox: str) -> Iterator[Box]:
    """A container of the toolbox."""
    made = docker_api.create_container(toolbox, ["sleep", "600"], labels={"hbench.test": "yes"})["Id"]
    docker_api.start(made)
    yield Box(docker_api, made)
    docker_api.remove_container(made, force=True, v=True)


PROGRAMS = {
    "curl": "curl -fsS -o /dev/null {index}/pip/",
    "wget": "wget -nv -O /dev/null {index}/pip/",
    "python": "python3 -c \"import urllib.request as u; u.urlopen('{index}/pip/').read(1)\"",
    "pip": "pip download -q --no-cache-dir --no-deps --index-url {index}/ -d /tmp/pip six",
    "git": "git ls-remote {index}/pip/ 2>&1 | tee /tmp/git; grep -q 'not found' /tmp/git",
    "apt": (
        "sed 's/http:/https:/' /etc/apt/sources.list > /tmp/https.list && "
        "apt-get update -o Dir::Etc::sourcelist=/tmp/https.list -o APT::Update::Error-Mode=any"
    ),
    "openssl": "openssl s_client -verify_return_error -brief -connect {host}:443 < /dev/null",
}


def _script(program: str) -> str:
    index = pypi()
    return PROGRAMS[program].format(index=index, host=index.split("/")[2])


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_trusts_the_proxy_with_the_bundle_and_not_without(
    bundle: CaBundle, box: Box, program: str
) -> None:
    """By the files and variables alone; the image's own store is left as it is."""
    script = _script(program)
    status, said = box.run(script, {})
    assert status != 0
    assert "certificate" in said.lower()
    box.put(*ca.container_files(bundle))
    status, said = box.run(script, ca.container_env(bundle))
    assert status == 0, said


def test_programs_that_read_only_the_images_store_trust_the_proxy_with_the_merged_one(
    bundle: CaBundle, box: Box
) -> None:
    """Such as wget, or whatever a task runs with an environment of its own."""
    own = ca.merged(box.get(OWN_BUNDLE), bundle)
    assert own is not None
    box.put(archive.file(OWN_BUNDLE, own))
    for program in ("curl", "wget", "apt", "python", "openssl"):
        status, said = box.run(_script(program), {})
        assert (program, status) == (program, 0), said


def test_updating_the_images_store_keeps_the_company_in_it(bundle: CaBundle, box: Box) -> None:
    """An agent that installs certificates of its own runs this, and must not lose the connection by it."""
    box.put(*ca.container_files(bundle))
    assert box.run("update-ca-certificates", {})[0] == 0
    status, said = box.run(_script("wget"), {})
    assert status == 0, said


def test_a_build_reaches_the_registry(bundle: CaBundle, docker_api: docker.APIClient, tmp_path: Path) -> None:
    """An ordinary Dockerfile: nothing in it speaks of a company's certificates, and its own store gets them too."""
    text = (
        f"FROM {BASE}\n"
        "RUN apt-get update && apt-get install -y --no-install-recommends curl ca-certificates\n"
        f"RUN curl -fsS -o /dev/null {pypi()}/pip/\n"
        f"RUN env -u CURL_CA_BUNDLE -u SSL_CERT_FILE curl -fsS -o /dev/null {pypi()}/pip/\n"
    )
    docker_api.remove_image(_built(docker_api, tmp_path / "environment", text, bundle), force=True)


def test_a_build_without_the_bundle_does_not(
    bundle: CaBundle, docker_api: docker.APIClient, toolbox: str, tmp_path: Path
) -> None:
    """Which shows that it is the bundle that makes the difference."""
    with pytest.raises(BuildFailed, match="certificate"):
        _built(docker_api, tmp_path / "environment", f"FROM {toolbox}\nRUN curl -fsS {pypi()}/pip/\n", None)
