"""Task folders that tests build."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

FILES = {
    "instruction.md": "Write hello into /app/hello.txt.\n",
    "task.toml": 'schema_version = "1.4"\n',
    "environment/Dockerfile": "FROM debian:bookworm-slim\n",
    "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "echo hello > /app/hello.txt\n",
}

MakeTask = Callable[..., Path]


@pytest.fixture
def make_task(tmp_path: Path) -> MakeTask:
    """A function that writes a small valid task; `files` replaces or adds files, None leaves one out."""

    def make(
        folder: str = "hello", toml: str | None = None, files: Mapping[str, str | bytes | None] | None = None
    ) -> Path:
        wanted = {**FILES, **({} if toml is None else {"task.toml": toml}), **(files or {})}
        for path, content in wanted.items():
            if content is not None:
                place = tmp_path / folder / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return tmp_path / folder

    return make
