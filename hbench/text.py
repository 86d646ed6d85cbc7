"""Text that others wrote, made fit for a terminal and a one-line message."""

import unicodedata

_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_UNUSABLE = {"Cc", "Cs", "Zl", "Zp"}
_BIDIRECTIONAL = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LONGEST_NAME_BYTES = 255


def safe(text: str, width: int = 200) -> str:
    """`text` with every control, format and line-separating character as U+FFFD, cut to `width` characters.

    Names of tasks and harnesses are not ours: an escape sequence or a right-to-left mark in one must not rewrite what
    a person sees. A text that was cut ends in an ellipsis.
    """
    if text.isascii() and text.isprintable() and len(text) <= width:
        return text
    shown = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _HIDDEN else c for c in text[: width + 1])
    return shown if len(shown) <= width else shown[: width - 1] + "\N{HORIZONTAL ELLIPSIS}"


def escaped(text: str) -> str:
    """`text` with everything that is not printable as an escape sequence, whole: where each character is evidence."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def is_absurd(name: str) -> bool:
    """Whether a file's or task's name holds control or direction characters, is not text, or has over 255 bytes."""
    unusable = any(unicodedata.category(c) in _UNUSABLE or c in _BIDIRECTIONAL for c in name)
    return unusable or len(name.encode()) > _LONGEST_NAME_BYTES
