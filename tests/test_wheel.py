"""hbench outside a checkout: the wheel carries what a run needs; an editable install takes it from the checkout."""

import subprocess
import sys
from pathlib import Path

import pytest

from hbench.shipped import shipped

ROOT = Path(__file__).parent.parent
FOLDERS = ("tasks", "adapters", "docker", "suites")


def run(*argv: str | Path, cwd: Path, python_path: str = "") -> str:
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": python_path, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *argv], cwd=cwd, env=env, check=True, capture_output=True, text=True, timeout=120
    ).stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the wheel, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    run("-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder / "site", wheel, cwd=folder)
    return folder / "site"


@pytest.mark.parametrize("name", FOLDERS)
def test_the_wheel_carries_the_folders_of_the_checkout(installed: Path, name: str) -> None:
    """Every file that git tracks there, byte for byte and with the same right to be executed."""
    tracked = subprocess.run(["git", "ls-files", "-z", name], cwd=ROOT, check=True, capture_output=True, text=True)
    for path in filter(None, tracked.stdout.split("\0")):
        if not (ROOT / path).is_file():
            continue  # removed, not committed yet
        there = installed / "hbench" / "_shipped" / path
        assert there.read_bytes() == (ROOT / path).read_bytes()
        assert there.stat().st_mode & 0o111 == (ROOT / path).stat().st_mode & 0o111


def test_an_installed_hbench_finds_what_it_ships(installed: Path, tmp_path: Path) -> None:
    """From a folder that is no checkout."""
    ask = "from hbench.shipped import shipped; print(shipped('suites'))"
    found = Path(run("-c", ask, cwd=tmp_path, python_path=str(installed)).strip())
    assert found == installed / "hbench" / "_shipped" / "suites"
    assert found.is_dir()


def test_the_installed_command_starts(installed: Path, tmp_path: Path) -> None:
    """The entry point names something that is there."""
    assert "validate" in run(installed / "bin" / "hbench", "--help", cwd=tmp_path, python_path=str(installed))


def test_a_checkout_uses_its_own_folders() -> None:
    """Nothing was copied into the package: a task edited here is the task that runs here."""
    assert [shipped(name) for name in FOLDERS] == [ROOT / name for name in FOLDERS]
