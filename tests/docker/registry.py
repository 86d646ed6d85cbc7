"""The package registries that this machine's clients are set up with; none is named in the repository."""

import subprocess
import sys

_PIP_DEFAULT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"


def pypi() -> str:
    """The URL of pip's index."""
    for line in _said("-m", "pip", "config", "list"):
        name, _, value = line.partition("=")
        if name in (":env:.index-url", "global.index-url", "user.index-url", "site.index-url"):
            return value.strip("'").rstrip("/")
    return _said("-c", _PIP_DEFAULT)[0].rstrip("/")


def _said(*words: str) -> list[str]:
    return subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=60, check=True
    ).stdout.split("\n")
