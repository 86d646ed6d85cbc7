"""Folder names are safe on every file system, and no two tasks share one."""

import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.plan.names import MAX_SLUG, cleaned, slugs

RESERVED = re.compile(r"(con|prn|aux|nul|com[1-9]|lpt[1-9])(\..*)?", re.IGNORECASE)


def slug(name: str) -> str:
    return slugs([name])[name]


@pytest.mark.parametrize("name", ["fix-git", "csv_dedupe", "sqlite-db-truncate", "v1.2.x", "42", "_x"])
def test_a_name_that_is_safe_stays(name: str) -> None:
    """Whoever looks into a job folder finds the task by its name."""
    assert slug(name) == name


def test_of_an_organisations_task_the_name_is_enough() -> None:
    assert slug("terminal-bench/fix-git") == "fix-git"


def test_two_organisations_may_have_a_task_of_one_name() -> None:
    """Then neither gets the short one."""
    found = slugs(["a/fix", "b/fix", "b/other"])
    assert found["a/fix"].startswith("a-fix-")
    assert found["b/fix"].startswith("b-fix-")
    assert found["b/other"] == "other"


def test_a_plain_task_keeps_its_name_from_an_organisations() -> None:
    found = slugs(["fix", "a/fix"])
    assert (found["fix"], found["a/fix"][:6]) == ("fix", "a-fix-")


def test_names_that_look_alike_get_different_folders() -> None:
    """OpenBench wrote a/b and a_b into one file (FEATURES 4.13)."""
    names = ["a/b", "a_b", "A/b", "A_b", "a-b", "a b", "a\\b", "a:b", "b", "B", "a//b", "a/b/", "/a/b"]
    assert len({found.lower() for found in slugs(names).values()}) == len(names)


def test_a_name_made_to_look_tagged_is_tagged_itself() -> None:
    """Nobody can call a task what another's folder will be called."""
    taken = slug("a b")
    assert slugs(["a b", taken])[taken] != taken


@pytest.mark.parametrize(
    ("name", "start"),
    [
        (".hidden", "hidden-"),
        ("..", "_-"),
        ("con", "_con-"),
        ("NUL.txt", "_NUL.txt-"),
        ("größe", "gr-e-"),
        ("文", "_-"),
        ("ends.", "ends-"),
        ("-rf", "rf-"),
        ("Fix-Git", "Fix-Git-"),
        ("a\x1b[2Jb\n", "a-2Jb-"),
    ],
)
def test_a_name_that_is_not_safe_is_made_so_and_tagged(name: str, start: str) -> None:
    """8 hex of the name's sha256 tell it from others."""
    assert re.fullmatch(re.escape(start) + "[0-9a-f]{8}", slug(name))


def test_the_tag_is_the_names_own_digest() -> None:
    """Checked against `printf 'a b' | sha256sum`."""
    assert slug("a b") == "a-b-c8687a08"


NAMES = st.text(max_size=100) | st.text(string.ascii_letters + "/_-. @", min_size=1, max_size=12)


@settings(deadline=None)
@given(st.sets(NAMES, max_size=12))
def test_any_set_of_names_gets_safe_and_distinct_folders(names: set[str]) -> None:
    found = slugs(names)
    assert len({slug.lower() for slug in found.values()}) == len(names)
    for one in found.values():
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", one)
        assert len(one) <= MAX_SLUG
        assert not one.endswith(".")
        assert not RESERVED.fullmatch(one)


@settings(deadline=None)
@given(st.sets(NAMES, max_size=12))
def test_the_order_of_the_names_does_not_matter(names: set[str]) -> None:
    assert slugs(sorted(names)) == slugs(sorted(names, reverse=True))


@settings(deadline=None)
@given(NAMES, st.integers(2, 80))
def test_a_cleaned_name_fits_and_is_never_empty(name: str, width: int) -> None:
    assert 0 < len(cleaned(name, width)) <= width
