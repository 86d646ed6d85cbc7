"""What others wrote is shown without its tricks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.text import safe


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
