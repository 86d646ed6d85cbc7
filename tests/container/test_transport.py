"""How requests reach a local engine; no engine is asked."""

import docker
import pytest

from hbench.container.transport import OnePoolAdapter, spare


@pytest.fixture
def local() -> docker.APIClient:
    api = docker.APIClient(base_url="unix:///nowhere.sock", version="1.41")
    spare(api, connections=3)
    return api


def test_every_url_of_a_local_engine_shares_one_pool(local: docker.APIClient) -> None:
    """A URL holds a container's id, so a pool for each would hold one connection that nobody uses again."""
    adapter = local.get_adapter(local.base_url)
    assert isinstance(adapter, OnePoolAdapter)
    assert adapter.get_connection(f"{local.base_url}/a") is adapter.get_connection(f"{local.base_url}/b")
    assert not local.trust_env


def test_an_engine_elsewhere_is_reached_as_docker_py_does() -> None:
    """A proxy may lie before it."""
    api = docker.APIClient(base_url="tcp://127.0.0.1:1", version="1.41")
    before = api.get_adapter(api.base_url)
    spare(api, connections=3)
    assert api.get_adapter(api.base_url) is before
    assert api.trust_env
