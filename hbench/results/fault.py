"""Something in a job folder that is not as it must be."""

from dataclasses import dataclass

from hbench.text import escaped


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
        return escaped(f"{self.path}: {self.what}")
