"""Builds with BuildKit, by the plugin `docker buildx` of the Docker CLI."""

import contextlib
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hbench.container import context
from hbench.container.building import TICK_S, Build

_VERSION_LIMIT_S = 20
_GRACE_S = 5
_PIECE_BYTES = 1 << 16
# The default builder is the engine's own: it sees the engine's images and its result is an image of the engine.
_BUILD = ("docker", "buildx", "build", "--builder", "default", "--load", "--progress", "plain", "--file", "-")


def version() -> str | None:
    """The plugin's version; None if the CLI or the plugin is missing, or DOCKER_BUILDKIT=0 turns BuildKit off."""
    if os.environ.get("DOCKER_BUILDKIT") == "0":
        return None
    try:
        said = subprocess.run(
            ["docker", "buildx", "version"], capture_output=True, text=True, timeout=_VERSION_LIMIT_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    words = said.split()
    return words[1] if len(words) > 1 else said.strip() or None


def run(build: Build) -> str | None:
    """Build the image; returns that it went wrong, or None. What went wrong is in the output.

    Raises:
        Cancelled, TimeoutError: The build was given up, and the builder has ended.
    """
    with tempfile.TemporaryDirectory(prefix="hbench-build-") as folder, tempfile.TemporaryFile() as instructions:
        context.lay_out(context.entries(build.folder), Path(folder))
        instructions.write(build.instructions)
        instructions.seek(0)
        labels = [f"--label={name}={value}" for name, value in build.labels.items()]
        process = subprocess.Popen(
            [*_BUILD, "--tag", build.tag, *labels, folder],
            stdin=instructions,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "BUILDX_NO_DEFAULT_ATTESTATIONS": "1"},
            start_new_session=True,
        )
        with _ended(process):
            status = _follow(process, build)
    return None if status == 0 else f"docker buildx build ended with status {status}"


def _follow(process: subprocess.Popen[bytes], build: Build) -> int:
    """Pass on what the builder says until it ends; returns its exit status."""
    assert process.stdout is not None  # noqa: S101 - it was asked for
    output = process.stdout.fileno()
    while True:
        build.check()
        readable, _, _ = select.select([output], [], [], TICK_S)
        if not readable:
            continue
        piece = os.read(output, _PIECE_BYTES)
        if not piece:
            break
        build.output(piece)
    while process.poll() is None:
        build.check()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(TICK_S)
    return process.returncode


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """A build that is given up leaves no process: asked to end first, then made to, with all it started."""
    try:
        yield
    except BaseException:
        for sent in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, sent)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
                break
        raise
    finally:
        if process.stdout is not None:
            process.stdout.close()
