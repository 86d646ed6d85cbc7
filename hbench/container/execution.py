"""One command in a container, from its start to its end or its limit."""

import contextlib
import time
from collections.abc import Mapping
from importlib import resources
from threading import Event
from typing import Any

import docker

from hbench.container.asking import ask, raise_for_status
from hbench.container.engine import Cancelled, Command, Finished, RefusedError
from hbench.container.stream import Connection, Frames, Tail

HELPER_IMAGE = "debian:bookworm-slim"
"""Has a Perl of its own (an essential package there); stops processes from outside the trial's container."""

_WITH_PID = ("/bin/sh", "-c", 'echo $$; exec "$@"', "hbench")
_NEVER_RAN = (126, 127)
_TICK_S = 0.2
_DRAIN_S = 2.0


def run_to_end(api: docker.APIClient, container: str, command: Command, cancel: Event) -> Finished:
    """Run the command; its first line of output is its process id, which no agent has touched yet."""
    exec_id = ask(
        lambda: api.exec_create(
            container,
            [*_WITH_PID, *command.argv],
            environment=dict(command.env),
            user=command.user or "",
            workdir=command.workdir,
            stdin=command.stdin is not None,
        )
    )["Id"]
    return _Run(api, container, exec_id, command, cancel).to_end()


class _Run:
    """One command from its start to its end: reads its output, watches clock and cancel, stops it at its limit."""

    def __init__(self, api: docker.APIClient, container: str, exec_id: str, command: Command, cancel: Event) -> None:
        self._api = api
        self._container = container
        self._exec_id = exec_id
        self._command = command
        self._cancel = cancel
        self._tail = Tail(command.output)
        self._frames = Frames()

    def to_end(self) -> Finished:
        started = time.monotonic()
        limit = self._command.timeout_s
        with contextlib.closing(self._connect()) as connection:
            ended = self._read(connection, None if limit is None else started + limit)
            duration = time.monotonic() - started
            if not ended:
                self._stop()
                self._read(connection, time.monotonic() + _DRAIN_S)
        exit_code = self._exit_code()
        if exit_code in _NEVER_RAN and not (self._tail.first_line or b"").isdigit():
            said = (self._tail.first_line or b"").decode(errors="replace").strip()
            raise RefusedError(said or "is there such a user, working directory and /bin/sh?")
        return Finished(exit_code=exit_code, timed_out=not ended, duration_s=duration)

    def _connect(self) -> Connection:
        url = f"{self._api.base_url}/v{self._api.api_version}/exec/{self._exec_id}/start"
        headers = {"Connection": "Upgrade", "Upgrade": "tcp"}
        reply = ask(
            lambda: self._api.post(
                url, json={"Tty": False, "Detach": False}, headers=headers, stream=True, timeout=self._api.timeout
            )
        )
        ask(lambda: raise_for_status(reply))
        return Connection(reply, self._command.stdin)

    def _read(self, connection: Connection, until: float | None) -> bool:
        """Pass output on until the command ends (True) or `until` is reached (False)."""
        quiet_since, patience_s = time.monotonic(), 1.0
        while until is None or time.monotonic() < until:
            if self._cancel.is_set():
                raise Cancelled
            data = connection.read(_TICK_S if until is None else min(_TICK_S, max(0.0, until - time.monotonic())))
            if data == b"":
                return True
            if data is not None:
                for piece in self._frames.feed(data):
                    self._tail(piece)
                quiet_since, patience_s = time.monotonic(), 1.0
            elif time.monotonic() - quiet_since > patience_s:
                # A process left in the background may hold the output open after the command itself has ended.
                if not self._inspect()["Running"]:
                    return True
                patience_s = min(patience_s * 2, 16.0)
        return False

    def _inspect(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = ask(lambda: self._api.exec_inspect(self._exec_id))
        return found

    def _exit_code(self) -> int | None:
        for pause_s in (0.0, 0.01, 0.05, 0.2, 0.5, 1.0):
            time.sleep(pause_s)
            state = self._inspect()
            if not state["Running"]:
                code = state["ExitCode"]
                return None if code is None else int(code)
        return None

    def _stop(self) -> None:
        pid = self._tail.first_line
        if pid is None or not pid.isdigit():
            return
        stop_processes(
            self._api,
            self._container,
            pid.decode(),
            signal=self._command.stop_signal,
            grace_s=self._command.stop_grace_s,
        )


def stop_processes(api: docker.APIClient, container: str, pid: str, *, signal: str, grace_s: float) -> None:
    """End the process `pid` of `container`, its session and descendants, from a container outside its cgroup."""
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
    helper = ask(
        lambda: api.create_container(
            HELPER_IMAGE,
            ["/usr/bin/perl", "-e", script, pid, signal, str(grace_s)],
            entrypoint="",
            labels={key: value for key, value in labels.items() if key.startswith("hbench.")},
            host_config=host,
        )
    )["Id"]
    try:
        ask(lambda: api.start(helper))
        status = ask(lambda: api.wait(helper, timeout=int(grace_s) + 60))["StatusCode"]
        if status != 0:
            said = ask(lambda: api.logs(helper)).decode(errors="replace").strip()
            raise RefusedError(f"processes of the trial could not be stopped: {said[-500:]}")
    finally:
        ask(lambda: api.remove_container(helper, force=True, v=True))
