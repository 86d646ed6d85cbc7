"""Docker's buildx plugin for tests, from Debian's packages where the machine has none of its own."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_RELEASE = "trixie"  # the first Debian release with a package of it
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_LIMIT_S = 120


class NoPluginError(Exception):
    """The plugin is not to be had; the message says why."""


def config_with_plugin(folder: Path) -> Path:
    """A DOCKER_CONFIG folder, made in `folder` once, whose CLI has the plugin."""
    config = folder / "config"
    plugin = config / "cli-plugins" / "docker-buildx"
    if not plugin.exists():
        plugin.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            package = _downloaded(Path(scratch))
            _run("dpkg-deb", "--extract", str(package), f"{scratch}/unpacked")
            shutil.move(next(Path(scratch).rglob("cli-plugins/docker-buildx")), plugin)
    return config


def _downloaded(folder: Path) -> Path:
    """The package, fetched by apt from this machine's own mirror, with lists of its own."""
    if shutil.which("apt-get") is None:
        raise NoPluginError("no apt-get to fetch docker-buildx with")
    lists = folder / "apt"
    for name in ("lists/partial", "cache/archives/partial"):
        (lists / name).mkdir(parents=True, exist_ok=True)
    (lists / "status").touch()
    signed = f"[signed-by={_KEYRING}] " if _KEYRING.exists() else ""
    (lists / "sources.list").write_text(f"deb {signed}{_mirror()} {_RELEASE} main\n")
    settings = {
        "Dir::Etc::sourcelist": lists / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::lists": lists / "lists",
        "Dir::State::status": lists / "status",
        "Dir::Cache": lists / "cache",
        "APT::Sandbox::User": "",
    }
    options = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    _run("apt-get", *options, "update")
    _run("apt-get", *options, "download", "docker-buildx", folder=folder)
    return next(folder.glob("docker-buildx_*.deb"))


def _mirror() -> str:
    words = ("Created-By: Packages", "Component: main", "Origin: Debian", "Label: Debian")
    found = _run("apt-get", "indextargets", "--format", "$(REPO_URI)", *words).split()
    if not found:
        raise NoPluginError("this machine's apt has no Debian mirror")
    return found[0]


def _run(*argv: str, folder: Path | None = None) -> str:
    try:
        return subprocess.run(
            argv,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=True,
        ).stdout
    except subprocess.CalledProcessError as problem:
        raise NoPluginError(f"{argv[0]}: {problem.stderr.strip()[-300:]}") from problem
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoPluginError(str(problem)) from problem
