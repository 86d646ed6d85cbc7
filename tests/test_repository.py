"""What the repository promises about itself: no traces of one machine, links that resolve, versions that agree."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from hbench.version import VERSION

ROOT = Path(__file__).parent.parent

# Written in pieces, so that this file passes its own test.
REGISTRIES = [
    ("pypi", "org"),
    ("files", "pythonhosted", "org"),
    ("registry", "npmjs", "org"),
    ("deb", "debian", "org"),
    ("security", "debian", "org"),
    ("archive", "ubuntu", "com"),
    ("crates", "io"),
    ("proxy", "golang", "org"),
    ("rubygems", "org"),
]
MACHINE_PATHS = [
    ("/work", "/(main|shared)"),
    ("/work", r"/\."),
    ("/tmp", "/venv"),
    ("/opt", "/(pypi|wheels)"),
    (r"/root/\.", "(pyenv|cache)"),
    ("/Users", "/[a-z]"),
]


def tracked_files() -> list[Path]:
    """What git tracks or would track."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name]
    return [file for file in files if file.is_file() and not file.is_symlink()]


def files_with(pattern: str) -> list[str]:
    sought = re.compile(pattern.encode())
    return [str(file.relative_to(ROOT)) for file in tracked_files() if sought.search(file.read_bytes())]


@pytest.mark.parametrize("host", REGISTRIES, ids="-".join)
def test_no_file_names_the_host_of_a_package_registry(host: tuple[str, ...]) -> None:
    """Where packages come from is each machine's setting; hbench asks the clients, and writes `registry:<client>`."""
    assert files_with(r"\b" + re.escape(".".join(host)) + r"\b") == []


@pytest.mark.parametrize("path", MACHINE_PATHS, ids=lambda path: path[0].strip("/"))
def test_no_file_names_a_path_of_a_developers_machine(path: tuple[str, ...]) -> None:
    """What works here works elsewhere."""
    assert files_with("".join(path)) == []


def test_every_link_to_a_file_resolves() -> None:
    """In every Markdown page, whether relative to the page or to a heading in another."""
    pages = [file for file in tracked_files() if file.suffix == ".md" and "data" not in file.relative_to(ROOT).parts]
    links = [(page, link) for page in pages for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8"))]
    files = [(page, link.split("#")[0]) for page, link in links if not re.match(r"[a-z]+:|#", link)]
    broken = [f"{page.relative_to(ROOT)}: {link}" for page, link in files if not (page.parent / link).exists()]
    assert broken == []
    assert files, "no page links to any file"


def test_every_package_is_mirrored_in_the_tests() -> None:
    """tests/<package>/ tests hbench/<package>/."""
    packages = {init.parent.name for init in (ROOT / "hbench").glob("*/__init__.py")}
    mirrored = {file.parent.name for file in (ROOT / "tests").glob("*/test_*.py")}
    assert packages - mirrored == set()


def test_the_changelog_begins_with_this_version() -> None:
    """A release is described before it is made."""
    first = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert first
    assert first[1] == VERSION


def test_every_script_can_be_executed() -> None:
    """A file of script/ or .ci/ with a shebang has the mode for it, in git and here."""
    scripts = [file for file in tracked_files() if file.relative_to(ROOT).parts[0] in {"script", ".ci"}]
    begun = [file for file in scripts if file.read_bytes().startswith(b"#!")]
    assert [file.name for file in begun if not os.access(file, os.X_OK)] == []
    assert {"run", "test", "smoke"} <= {file.name for file in begun}


def test_every_package_that_is_imported_is_declared() -> None:
    """Not left to come along with another one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    declared = {Requirement(text).name.replace("-", "_") for text in project["dependencies"]}
    imported = {
        name.split(".")[0]
        for file in (ROOT / "hbench").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_bytes()))
        for name in imported_by(node)
    }
    assert imported - sys.stdlib_module_names - {"hbench"} <= declared


def imported_by(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


def lock_entries() -> dict[str, str]:
    """Each pinned requirement of the lock, once per marker -> its hashes and comments."""
    parts = re.split(r"^(?=[a-z0-9])", (ROOT / "requirements-dev.lock").read_text("utf-8"), flags=re.MULTILINE)[1:]
    return {part.split(" \\\n")[0]: part for part in parts}


def test_everything_locked_has_a_version_and_a_hash() -> None:
    """And comes from wherever pip is set up to look: the lock names no index, address or path."""
    for requirement, text in lock_entries().items():
        assert re.match(r"[a-z0-9-]+==\S+( ; .+)?$", requirement)
        assert "--hash=sha256:" in text
    lock = (ROOT / "requirements-dev.lock").read_text("utf-8")
    assert not re.search(r"://|^-|--(index|find|extra)|\.\./", lock, re.MULTILINE)


def test_the_lock_satisfies_the_project() -> None:
    """Every direct dependency is locked at a version that pyproject.toml allows; `script/lock` makes it so."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [Requirement(text) for text in project["dependencies"] + project["optional-dependencies"]["dev"]]
    locked: dict[str, list[str]] = {}
    for entry in map(Requirement, lock_entries()):
        locked.setdefault(canonicalize_name(entry.name), []).append(str(entry.specifier).removeprefix("=="))
    for requirement in wanted:
        versions = locked[canonicalize_name(requirement.name)]
        assert all(requirement.specifier.contains(version) for version in versions)
