"""What all trials of a batch share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock

from hbench.container.ca import CaBundle
from hbench.container.engine import Engine, ImageFacts
from hbench.results.lock import ImageSource


@dataclass(frozen=True, kw_only=True)
class ImageInside:
    """What an image holds that matters to every trial of it.

    Attributes:
        shell: argv that runs a script: bash without start-up files, else the image's sh; None if it has neither.
        hidden: The hidden paths that the image has and that are removed before the agent begins.
        ca_store: The image's own CA bundle with the company's certificates added; None where there is nothing to add.
    """

    shell: tuple[str, ...] | None
    hidden: tuple[str, ...]
    ca_store: bytes | None


class Known:
    """Facts found out once per image, by the first trial that needs them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}
        self._found: dict[str, ImageInside] = {}

    def of(self, image_id: str, find_out: Callable[[], ImageInside]) -> ImageInside:
        with self._lock:
            one = self._locks.setdefault(image_id, Lock())
        with one:
            if image_id not in self._found:
                self._found[image_id] = find_out()
            return self._found[image_id]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A task's image on the engine, or why there is none."""

    image: ImageFacts | None
    source: ImageSource
    problem: str | None = None


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a trial needs besides its plan.

    Attributes:
        passed_env: The host variables that `[env] pass` names, with their values.
        bury: Takes a container that is done with; removes it off the critical path.
    """

    engine: Engine
    batch_id: str
    ca: CaBundle | None
    passed_env: Mapping[str, str]
    cancel: Event
    bury: Callable[[str], None]
    labels: Mapping[str, str]
    inside: Known = field(default_factory=Known)
