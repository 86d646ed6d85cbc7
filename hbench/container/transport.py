"""How requests reach a local engine: kept cheap, because a trial makes some twenty of them."""

from typing import Any

import docker
from docker.transport import UnixHTTPAdapter


class OnePoolAdapter(UnixHTTPAdapter):
    """Keeps one pool of connections, where docker-py makes one for each URL, and most URLs hold a container's id."""

    def get_connection(self, url: str | bytes, proxies: Any = None) -> Any:  # noqa: ARG002 - all URLs are one place
        return super().get_connection(_SCHEME, proxies)


_SCHEME = "http+docker://"


def spare(api: docker.APIClient, *, connections: int) -> None:
    """Reuse connections and look for no proxy, where the engine is on a local socket."""
    adapter = api.get_adapter(api.base_url)
    if type(adapter) is not UnixHTTPAdapter:
        return
    api.trust_env = False
    one_pool = OnePoolAdapter(f"http+unix://{adapter.socket_path}", adapter.timeout, max_pool_size=connections)
    api.mount(_SCHEME, one_pool)
