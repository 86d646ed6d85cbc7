"""Something in a job folder that is not as it must be, and how a name from outside is shown."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        path: The file or folder, relative to the job folder, safe to print.
        what: What is wrong with it, as a phrase that follows the path; may quote a file, so print the whole as `str`.
    """

    path: str
    what: str

    def __str__(self) -> str:
        return shown(f"{self.path}: {self.what}")


def shown(text: str) -> str:
    """`text` with everything that is not printable escaped: names in a job folder are an agent's to choose."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
