"""The three digests of a task folder."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.errors import TaskError
from hbench.task.digest import digests

MakeTask = Callable[..., Path]

BASE = {
    "task.toml": 'version = "1.0"\n',
    "instruction.md": "Do\r\nit.\n",
    "environment/Dockerfile": "FROM x\n",
    "tests/test.sh": "echo 1\r\n",
    "solution/solve.sh": "x",
}
LEFTOVERS = {
    **BASE,
    "README.md": "about",
    "trajectory.json": "{}",
    "other.txt": "not packaged",
    "baselines/a.sh": "not packaged",
    "steps/one/instruction.md": "step",
    "tests/__pycache__/a.cpython-313.pyc": "1",
    "tests/data/b.pyc": "1",
    "tests/a.py~": "1",
    "environment/.DS_Store": "1",
    "environment/.x.swp": "1",
    "environment/y.swo": "1",
}
GITIGNORE = {
    **LEFTOVERS,
    ".gitignore": "*.log\r\n!keep.log\n/environment/build/\ntests/tmp*\n\\#odd\n  \n# c\nfoo/**/bar\nREADME.md\n",
    "environment/a.log": "1",
    "environment/keep.log": "1",
    "environment/build/x": "1",
    "environment/sub/build/x": "1",
    "environment/foo/q/r/bar": "1",
    "environment/#odd": "1",
    "tests/tmp1/a": "1",
    "tests/x.log": "1",
}
BYTE_ORDER_MARK = {**BASE, ".gitignore": "\ufeff*.txt\n*.csv\n", "tests/a.txt": "A", "tests/a.csv": "A"}
NAMES = {
    **BASE,
    "environment/a-b": "1",
    "environment/a/b": "2",
    "environment/a.b": "3",
    "environment/Zoë 数据.txt": "4",
    "environment/\U0001f600": "5",
    "environment/\uffee": "6",
    "environment/.hidden": "7",
    "environment/ lead": "",
}
LINKS = {**BASE, "environment/a.txt": "A", "environment/sub/x": "X"}
LINK_TARGETS = {
    "environment/file": "a.txt",
    "environment/folder": "sub",
    "tests/dangling": "nowhere",
    "solution/up.txt": "../environment/a.txt",
    "README.md": "instruction.md",
}

# What Harbor 0.26.0 says of these folders: Packager.compute_content_hash(folder)[0] and Task(folder).checksum.
HARBOR: list[tuple[Mapping[str, str], Mapping[str, str], str, str]] = [
    (
        BASE,
        {},
        "bbc67879de72b0419109b0158c49f0f74ec215a61ad16d055630d4d629a9825c",
        "07a12aecc2142a281fd4b436515eb5eb7de8b6baee0577e87e5865a9620e0c80",
    ),
    (
        LEFTOVERS,
        {},
        "fae459021219e5c03cd1e750a73eadef462ef744739085acece76eb4d91df4eb",
        "f0af374982d371ab93ee228875eba0b815b9809c355d39504f9f238e6dcc445a",
    ),
    (
        GITIGNORE,
        {},
        "babacd316a7b2a25a4c0a8c2c95fd4d00e574ae6bfa72b8a5a4fd6ef286fd8c9",
        "93a9c8b72b7b82a859c13f821b78fa5dd6e1f347085241950d933306c51aa45d",
    ),
    (
        BYTE_ORDER_MARK,
        {},
        "9e7fd9c845de8e2f787bb20d7556047ca6a100957b21c82e6a0ea99c01d34721",
        "2e981f5ad4b588d7dd1a8f16b2465510f74843fe703a45cbbef931cc94815002",
    ),
    (
        NAMES,
        {},
        "f80893d534cca23e8b014bd66cab187c7d71c3d5496af8770f9b2b40a0b60243",
        "36e9a97281cb71eb4ed560e753718e7f6a035dabe203d79bc827e762980b2361",
    ),
    (
        LINKS,
        LINK_TARGETS,
        "d6bfb2c0aba6d0e9b38fea9f5d5be51d30ebea8e198750688906095eeb7bd7d0",
        "c41ffc5f80f43b7bb645acd883b35da78f40d711319ad9fd61f04eb861c1d454",
    ),
]


def write(folder: Path, files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode())
    for path, target in (links or {}).items():
        (folder / path).symlink_to(target)
    return folder


@pytest.mark.parametrize(("files", "links", "harbor", "dirhash"), HARBOR)
def test_harbors_digests_are_what_harbor_says(
    tmp_path: Path, files: Mapping[str, str], links: Mapping[str, str], harbor: str, dirhash: str
) -> None:
    """Leftovers, .gitignore, odd names and links included."""
    got = digests(write(tmp_path / "task", files, links))
    assert (got.harbor, got.dirhash) == (harbor, dirhash)


def test_our_digest_is_the_documented_text_hashed_by_sha256sum(tmp_path: Path) -> None:
    """Recorded from `printf ... | sha256sum`, for one plain and one executable file and a link."""
    folder = write(tmp_path / "task", {"a": "1\n", "b/c": ""}, {"b/l": "../a"})
    (folder / "a").chmod(0o755)
    assert digests(folder).hbench == "0dc9641740810ee94c89adaef739067409a5d48604c3daee2a88d5f35cd8f670"


CHANGES: dict[str, Callable[[Path], object]] = {
    "a byte": lambda folder: (folder / "tests/test.sh").write_bytes(b"echo 2\r\n"),
    "a new file": lambda folder: (folder / "new").write_text(""),
    "a file fewer": lambda folder: (folder / "solution/solve.sh").unlink(),
    "a name": lambda folder: (folder / "solution/solve.sh").rename(folder / "solution/solved.sh"),
    "the execute bit": lambda folder: (folder / "tests/test.sh").chmod(0o755),
    "the set-user-id bit": lambda folder: (folder / "tests/test.sh").chmod(0o4644),
    "a link in place of its file": lambda folder: replace_by_link(folder / "tests/test.sh", folder / "real.sh"),
    "what a link says": lambda folder: relink(folder / "environment/link", "./Dockerfile"),
    "an ignored file": lambda folder: write(folder, {"tests/__pycache__/a.pyc": ""}),
}


def replace_by_link(place: Path, moved: Path) -> None:
    place.rename(moved)
    place.symlink_to(f"../{moved.name}")


def relink(link: Path, target: str) -> None:
    link.unlink()
    link.symlink_to(target)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_our_digest_changes_with(tmp_path: Path, change: Callable[[Path], object]) -> None:
    """Whatever can change how the task runs."""
    folder = write(tmp_path / "task", BASE, {"environment/link": "Dockerfile"})
    before = digests(folder).hbench
    change(folder)
    assert digests(folder).hbench != before


def test_our_digest_does_not_depend_on_the_umask_or_on_empty_folders(tmp_path: Path) -> None:
    """The same commit checked out by two people is the same task."""
    folder = write(tmp_path / "task", BASE)
    before = digests(folder)
    (folder / "tests/test.sh").chmod(0o600)
    (folder / "instruction.md").chmod(0o664)
    (folder / "environment/empty").mkdir()
    os.utime(folder / "task.toml", (0, 0))
    assert digests(folder) == before


TREES = st.dictionaries(st.text("ab0", min_size=1, max_size=4), st.text("ab0\n\0", max_size=4), min_size=1, max_size=4)


@settings(max_examples=30, deadline=None)
@given(first=TREES, second=TREES)
def test_two_folders_with_other_files_have_other_digests(
    tmp_path_factory: pytest.TempPathFactory, first: dict[str, str], second: dict[str, str]
) -> None:
    """However content and names are cut."""
    one, two = (digests(write(tmp_path_factory.mktemp("task"), files)).hbench for files in (first, second))
    assert (one == two) == (first == second)


@pytest.mark.parametrize(("content", "said"), [("!\n", "pattern"), (b"\xff", "utf-8")])
def test_a_gitignore_that_cannot_be_read_is_an_error(make_task: MakeTask, content: str | bytes, said: str) -> None:
    """Harbor's digest could not be told."""
    folder = make_task(files={".gitignore": content})
    with pytest.raises(TaskError, match=said) as caught:
        digests(folder)
    assert caught.value.where == str(folder / ".gitignore")


def test_all_three_are_plain_sha256_hex(make_task: MakeTask) -> None:
    """Without a prefix."""
    got = digests(make_task())
    for digest in (got.hbench, got.harbor, got.dirhash):
        assert len(digest) == 64
        assert int(digest, 16) >= 0
