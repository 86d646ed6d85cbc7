"""What others wrote is shown without its tricks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.text import escaped, is_absurd, safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("fix-race", "fix-race"),
        ("größe 文", "größe 文"),
        ("a\x1b[2Jb", "a�[2Jb"),
        ("a\nb\tc\r", "a�b�c�"),
        ("a\u202eb\u2028c\u200d", "a�b�c�"),
        ("\ud800", "�"),
    ],
)
def test_control_and_format_characters_are_replaced(text: str, shown: str) -> None:
    """Letters of any language stay; escape sequences, line ends and direction marks do not."""
    assert safe(text) == shown


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    assert safe("x" * 10, 10) == "x" * 10
    assert safe("x" * 11, 10) == "x" * 9 + "…"


@settings(deadline=None)
@given(st.text(), st.integers(1, 50))
def test_any_text_is_printable_and_fits(text: str, width: int) -> None:
    shown = safe(text, width)
    assert len(shown) <= width
    assert all(c.isprintable() or c == "\N{NO-BREAK SPACE}" or c.isspace() for c in shown)
    assert "\n" not in shown


@settings(deadline=None)
@given(st.text(), st.text())
def test_two_texts_that_differ_never_look_alike_when_escaped(one: str, other: str) -> None:
    """But for a backslash that is there as such; nothing is cut, nothing is obeyed."""
    assert escaped(one).isprintable()
    if "\\" not in one + other:
        assert (escaped(one) == escaped(other)) == (one == other)


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\udcff", "\x7f", "a\u202eb", "a\u2028b", "x" * 256, "ü" * 128])
def test_a_name_that_cannot_be_shown_or_stored_is_absurd(name: str) -> None:
    """File systems count 255 bytes, not characters."""
    assert is_absurd(name)


@pytest.mark.parametrize("name", ["ünï 数据.v1.2", "-rf", "a b", "👩\u200d💻", "x" * 255, "ü" * 127])
def test_a_name_in_any_language_is_not_absurd(name: str) -> None:
    """A joiner inside an emoji is a format character too."""
    assert not is_absurd(name)
