"""Text that others wrote, made fit for a terminal and a one-line message."""

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def safe(text: str, width: int = 200) -> str:
    """`text` with every control, format and line-separating character as U+FFFD, cut to `width` characters.

    Names of tasks and harnesses are not ours: an escape sequence or a right-to-left mark in one must not rewrite what
    a person sees. A text that was cut ends in an ellipsis.
    """
    if text.isascii() and text.isprintable() and len(text) <= width:
        return text
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _HIDDEN else c for c in text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"
