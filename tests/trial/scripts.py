"""What scripted commands do in the fake engine's containers."""

from collections.abc import Callable


def writes_reward(text: str, *, exit_code: int = 0) -> Callable[..., int]:
    """A test script that writes `text` as the reward."""

    def script(files: dict[str, bytes], _: object) -> int:
        files["/logs/verifier/reward.txt"] = text.encode()
        return exit_code

    return script
