"""The kinds of values in a task.toml."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.task.values import host


@pytest.mark.parametrize(
    ("entry", "kept"),
    [
        (" Example.ORG. ", "example.org"),
        ("*.Example.com", "*.example.com"),
        ("localhost", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("198.51.100.0/24", "198.51.100.0/24"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("2001:db8::/32", "2001:db8::/32"),
    ],
)
def test_an_allowlist_entry_is_kept_in_one_form(entry: str, kept: str) -> None:
    """Two ways to write a host are one entry."""
    assert host(entry) == kept


@pytest.mark.parametrize(
    "entry",
    [
        "http://a.org",
        "a.org:80",
        "a.org/x",
        "*",
        "*.",
        "a.*.org",
        "*.192.0.2.1",
        "",
        ".",
        "10.0.0.1/8",
        "fe80::1%eth0",
        "-a.org",
        "a..org",
        "a_b.org",
        "[::1]",
        "a" * 64 + ".org",
    ],
)
def test_what_is_no_host_address_or_range_is_refused(entry: str) -> None:
    """A URL would look as if its port and path were checked too."""
    with pytest.raises(ValueError, match=r"."):
        host(entry)


@given(st.text(alphabet=string.ascii_letters + string.digits + ".-*:/%[] ", max_size=20))
def test_a_kept_entry_is_its_own_form(entry: str) -> None:
    """Reading what was kept changes nothing."""
    try:
        kept = host(entry)
    except ValueError:
        return
    assert host(kept) == kept
