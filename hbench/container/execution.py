"""One command in a container, from its start to its end or its limit."""

import contextlib
import time
from collections.abc import Mapping
from threading import Event
from typing import Any

import docker

from hbench.container.asking import ask, raise_for_status
from hbench.container.engine import Command, Finished
from hbench.container.errors import Cancelled, GoneError, RefusedError
from hbench.container.stopping import stop_processes
from hbench.container.stream import AfterFirstLine, Connection, Frames
from hbench.errors import EngineError

_WITH_PID = ("/bin/sh", "-c", 'echo $$; exec "$@"', "hbench")
_NEVER_RAN = (126, 127)
_TICK_S = 0.2
_LOOK_EVERY_S = 1.0
_QUIET_S = 0.3
_DRAIN_S = 0.7
_STARTS_WITHIN_S = 5.0


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
        self._output = AfterFirstLine(command.output)
        self._frames = Frames()

    def to_end(self) -> Finished:
        started = time.monotonic()
        limit = self._command.timeout_s
        with contextlib.closing(self._connect()) as connection:
            ended = self._read(connection, None if limit is None else started + limit)
            duration = time.monotonic() - started
            if not ended:
                self._stop(connection)
                self._drain(connection)
        exit_code = self._exit_code()
        if exit_code in _NEVER_RAN and self._pid() is None:
            said = (self._output.first_line or b"").decode(errors="replace").strip()
            self._raise_if_gone(said)
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
        look_at = time.monotonic() + _LOOK_EVERY_S
        while until is None or time.monotonic() < until:
            if self._cancel.is_set():
                raise Cancelled
            left_s = _TICK_S if until is None else min(_TICK_S, max(0.0, until - time.monotonic()))
            if self._pass_on(connection, left_s) == b"":
                return True
            if time.monotonic() > look_at:
                # A process left in the background may hold the output open after the command itself has ended.
                if not self._inspect()["Running"]:
                    self._drain(connection)
                    return True
                look_at = time.monotonic() + _LOOK_EVERY_S
        return False

    def _drain(self, connection: Connection) -> None:
        """Pass on what a command that is over has left in the pipes."""
        until = time.monotonic() + _DRAIN_S
        while time.monotonic() < until and not self._cancel.is_set():
            if not self._pass_on(connection, _QUIET_S):
                return

    def _pass_on(self, connection: Connection, wait_s: float) -> bytes | None:
        data = connection.read(wait_s)
        for stream, piece in self._frames.feed(data or b""):
            self._output(stream, piece)
        return data

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

    def _raise_if_gone(self, said: str) -> None:
        if not ask(lambda: self._api.inspect_container(self._container))["State"]["Running"]:
            raise GoneError(said)

    def _pid(self) -> bytes | None:
        """The process id in the container's own numbering."""
        line = self._output.first_line
        return line if line is not None and line.isdigit() else None

    def _stop(self, connection: Connection) -> None:
        """End the command at its limit.

        Raises:
            GoneError: The container is no more, so neither is the command.
            EngineError: It may still run, and nothing may be judged while it does.
        """
        until = time.monotonic() + _STARTS_WITHIN_S
        while self._pid() is None and time.monotonic() < until:  # the limit may be reached before it got going
            if self._pass_on(connection, _TICK_S) == b"":
                return
        try:
            self._stop_from(self._pid())
        except RefusedError as problem:
            self._raise_if_gone(str(problem))
            raise EngineError(f"what reached its limit could not be stopped: {problem}") from problem

    def _stop_from(self, pid: bytes | None) -> None:
        if pid is None:
            raise RefusedError("its process is not known")
        stop_processes(
            self._api,
            self._container,
            pid.decode(),
            signal=self._command.stop_signal,
            grace_s=self._command.stop_grace_s,
            cancel=self._cancel,
        )
