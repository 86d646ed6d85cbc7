"""Ending a command's processes from a container beside the trial's, so that nothing of the trial's image takes part."""

import contextlib
import time
from collections.abc import Iterator
from importlib import resources
from threading import Event

import docker

from hbench.container.asking import ask
from hbench.container.errors import Cancelled, GoneError, RefusedError

HELPER_IMAGE = "debian:bookworm-slim"
"""Has a Perl of its own (an essential package there)."""

_TICK_S = 0.05
_TAKES_S = 30.0


def stop_processes(
    api: docker.APIClient, container: str, pid: str, *, signal: str, grace_s: float, cancel: Event
) -> None:
    """End the process `pid` of `container`, its session and descendants, from a container outside its cgroup.

    The container is held still until that one is up, so that the time this takes is nobody's to work in.
    """
    with contextlib.ExitStack() as stack:
        with _held_still(api, container):
            helper = stack.enter_context(_helper(api, container, pid, signal, grace_s))
        until = time.monotonic() + grace_s + _TAKES_S
        while (state := ask(lambda: api.inspect_container(helper))["State"])["Running"]:
            if cancel.wait(_TICK_S):
                raise Cancelled
            if time.monotonic() > until:
                raise RefusedError("the helper container does not end")
        if state["ExitCode"] != 0:
            said = ask(lambda: api.logs(helper)).decode(errors="replace").strip()
            raise RefusedError(f"processes of the trial could not be stopped: {said[-500:]}")


@contextlib.contextmanager
def _held_still(api: docker.APIClient, container: str) -> Iterator[None]:
    try:
        ask(lambda: api.pause(container))
    except GoneError:
        raise
    except RefusedError:  # an engine without the right to (rootless, old control groups)
        yield
        return
    try:
        yield
    finally:
        ask(lambda: api.unpause(container))


@contextlib.contextmanager
def _helper(api: docker.APIClient, container: str, pid: str, signal: str, grace_s: float) -> Iterator[str]:
    """The helper container, started; gone after the block."""
    script = resources.files("hbench.container").joinpath("stop.pl").read_text(encoding="utf-8")
    labels = ask(lambda: api.inspect_container(container))["Config"]["Labels"] or {}
    host = api.create_host_config(
        pid_mode=f"container:{container}",
        network_mode="none",
        cap_drop=["ALL"],
        cap_add=["KILL", "SYS_PTRACE", "DAC_READ_SEARCH"],
        security_opt=["no-new-privileges"],
        read_only=True,
    )
    helper = str(
        ask(
            lambda: api.create_container(
                HELPER_IMAGE,
                ["/usr/bin/perl", "-e", script, pid, signal, str(grace_s)],
                entrypoint="",
                labels={key: value for key, value in labels.items() if key.startswith("hbench.")},
                host_config=host,
            )
        )["Id"]
    )
    try:
        ask(lambda: api.start(helper))
        yield helper
    finally:
        ask(lambda: api.remove_container(helper, force=True, v=True))
