"""The order of trials is drawn once and for all."""

from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.plan.order import shuffled


def test_an_order_is_the_same_on_every_machine() -> None:
    """By digest, from `printf '7\\0001\\000b' | sha256sum` and so on: b is 1e8f, a 5066, c 996b."""
    assert shuffled("abc", str, 7, 1) == ["b", "a", "c"]


@settings(deadline=None)
@given(st.sets(st.text()), st.integers(), st.integers())
def test_an_order_depends_on_names_and_salt_alone(names: set[str], seed: int, attempt: int) -> None:
    """Not on the order in which they came."""
    ordered = shuffled(names, str, seed, attempt)
    assert ordered == shuffled(sorted(names, reverse=True), str, seed, attempt)
    assert set(ordered) == names


def test_another_seed_is_another_order() -> None:
    orders = {tuple(shuffled("abcdef", str, seed)) for seed in range(20)}
    assert len(orders) > 15
