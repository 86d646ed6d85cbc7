"""The end of what a process says, for a message about it."""


class Tail:
    """Keeps the last bytes of all that it is called with; a hostile process may say any amount."""

    def __init__(self, *, keep_bytes: int) -> None:
        self._keep_bytes = keep_bytes
        self._end = bytearray()

    def __call__(self, data: bytes) -> None:
        self._end += data[-self._keep_bytes :]
        del self._end[: -self._keep_bytes]

    def text(self) -> str:
        """The end, decoded; what is not UTF-8, or was cut in two, is U+FFFD."""
        return self._end.decode(errors="replace")
