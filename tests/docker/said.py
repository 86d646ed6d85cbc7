"""What commands print in a container."""

from threading import Event

from hbench.container.docker_engine import DockerEngine
from hbench.container.engine import Command, Finished


class Said:
    """Runs scripts in a container and keeps what they print."""

    def __init__(self, engine: DockerEngine, container: str) -> None:
        self.engine = engine
        self.container = container
        self.output = b""

    def run(self, *argv: str, cancel: Event | None = None, **fields: object) -> Finished:
        pieces: list[bytes] = []
        command = Command(argv=argv, output=pieces.append, **fields)  # type: ignore[arg-type]
        try:
            return self.engine.run(self.container, command, cancel or Event())
        finally:
            self.output = b"".join(pieces)

    def sh(self, script: str, **fields: object) -> Finished:
        return self.run("sh", "-c", script, **fields)  # type: ignore[arg-type]
