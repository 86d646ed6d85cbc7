"""Where two JSON values are not the same."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.results.difference import ABSENT, differences

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)


def test_every_leaf_that_differs_is_named_by_its_key() -> None:
    """Lists of one length item by item, others as a whole; a key that one lacks is named, too."""
    one = {"a": {"b": 1, "c": [1, 2]}, "gone": 0, "list": [1]}
    other = {"a": {"b": True, "c": [1, 3]}, "new": 0, "list": [1, 1]}
    assert set(map(repr, differences(one, other))) == {
        repr(("a.b", 1, True)),
        repr(("a.c[1]", 2, 3)),
        repr(("gone", 0, ABSENT)),
        repr(("new", ABSENT, 0)),
        repr(("list", [1], [1, 1])),
    }


@settings(deadline=None)
@given(VALUES, VALUES)
def test_two_values_differ_where_their_spellings_do(one: Any, other: Any) -> None:
    """But for numbers that are equal and written otherwise, such as 1 and 1.0."""
    found = list(differences(one, other))
    assert not list(differences(one, one))
    if json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True):
        assert not found
    elif one != other:
        assert found
