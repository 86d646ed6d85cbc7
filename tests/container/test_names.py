import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.container.names import Admitted, RefusedNameError, checked, matches, parts_of


@given(st.binary(max_size=300))
def test_a_name_that_passes_can_lead_nowhere_but_below(name: bytes) -> None:
    """Whatever bytes a container chose, what is let through is plain components."""
    try:
        parts = checked(parts_of(name), depth=8)
    except RefusedNameError:
        return
    assert all(part not in ("", ".", "..") and "/" not in part and "\0" not in part for part in parts)
    assert all(part.isprintable() or " " not in part for part in parts)
    assert len(parts) <= 8


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (b"../x", ".."),
        (b"a/../../x", ".."),
        (b"a/..", ".."),
        (b"a\x1b[2Jb", "control"),
        (b"a\nb", "control"),
        (b"a\0b", "control"),
        ("a\u202eb".encode(), "hidden"),
        ("a\u2028b".encode(), "hidden"),
        (b"a\xffb", "UTF-8"),
        (b"x" * 256, "too long"),
        (b"/".join([b"x" * 200] * 6), "too long"),
        (b"/".join([b"x"] * 9), "deep"),
    ],
)
def test_each_name_that_is_refused_says_why(name: bytes, reason: str) -> None:
    """The reason goes into what a person reads."""
    with pytest.raises(RefusedNameError, match=reason):
        checked(parts_of(name), depth=8)


def test_dots_and_doubled_slashes_mean_nothing() -> None:
    """As everywhere else."""
    assert checked(parts_of(b"./a//b/./c/"), depth=8) == ("a", "b", "c")


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("a/b.pyc", "*.pyc", True),
        ("b.pyc", "*.pyc", True),
        ("a/node_modules/x/y", "node_modules", True),
        ("node_modules.txt", "node_modules", False),
        ("a/b/c", "b/c", True),
        ("a/b/c", "a/b", True),
        ("a/b/c", "a/c", False),
        ("a/b/c", "a/*", True),
        ("cache/x", "cache/", True),
        ("Cache/x", "cache", False),
        ("", "*.pyc", False),
    ],
)
def test_patterns_mean_what_they_mean_to_tar(path: str, pattern: str, *, expected: bool) -> None:
    """As GNU tar's --exclude: at any depth, a folder with all below it."""
    assert matches(path, [pattern]) is expected


def _admit(*paths: tuple[str, bool]) -> list[str]:
    """The paths that are let in."""
    admitted, taken = Admitted(), []
    for path, is_folder in paths:
        try:
            admitted.admit(path.split("/"), is_folder=is_folder)
        except RefusedNameError:
            continue
        taken.append(path)
    return taken


def test_names_that_differ_in_case_or_form_only_collide_at_every_level() -> None:
    """On macOS and Windows they would be one file, so that one would overwrite the other."""
    assert _admit(("README", False), ("readme", False)) == ["README"]
    assert _admit(("A/x", False), ("a/y", False)) == ["A/x"]
    assert _admit(("caf\u00e9", False), ("cafe\u0301", False)) == ["caf\u00e9"]
    assert _admit(("Stra\u00dfe", True), ("strasse", True)) == ["Stra\u00dfe"]


def test_a_file_stays_what_it_was() -> None:
    """It does not come twice, does not become a folder, and nothing lies below it."""
    assert _admit(("a", False), ("a", False), ("a", True), ("a/b", False)) == ["a"]
    assert _admit(("a/b", False), ("a", False)) == ["a/b"]


def test_a_folder_may_come_as_often_as_it_likes() -> None:
    """By itself, and as what others lie in."""
    paths = [("a", True), ("a/b", False), ("a", True), ("a/c/d", False), ("a/c", True)]
    assert _admit(*paths) == [path for path, _ in paths]
