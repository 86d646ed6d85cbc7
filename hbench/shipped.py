"""Where tasks, adapters, images and suites are, in a checkout and in an installed wheel."""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def shipped(*parts: str) -> Path:
    """The path of something that ships with hbench, such as `shipped("tasks")`."""
    installed = _PACKAGE / "_shipped"
    root = installed if installed.is_dir() else _PACKAGE.parent
    return root.joinpath(*parts)
