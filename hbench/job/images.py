"""The image of every task, before the first trial: built or pulled once per content digest, never per trial."""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from hbench.container import context
from hbench.container.ca import CaBundle
from hbench.container.engine import BuildSpec, Engine, ImageFacts
from hbench.container.errors import RefusedError
from hbench.errors import TaskError
from hbench.job.progress import View
from hbench.task.model import Task
from hbench.trial.bench import Prepared
from hbench.trial.output import OutputFile

BUILDS_AT_ONCE = 2


@dataclass(frozen=True, kw_only=True)
class ImageMaker:
    """Makes the tasks' images available on the engine.

    Attributes:
        fallback: A docker_image that cannot be pulled is built from the Dockerfile beside it.
        force_build: It is built without trying to pull.
        logs: The folder that takes the build logs.
    """

    engine: Engine
    ca: CaBundle | None
    fallback: bool
    force_build: bool
    logs: Path
    cancel: Event

    def prepare(self, tasks: list[Task], limits: Mapping[str, float], view: View) -> dict[str, Prepared]:
        """Task name -> image or problem; tasks with the same build context share one build.

        Args:
            limits: Task name -> seconds that its pull or build may take.
        """
        under_way: dict[str, Future[Prepared]] = {}
        with ThreadPoolExecutor(BUILDS_AT_ONCE, thread_name_prefix="image") as pool:
            keys = {task.name: self._key(task) for task in tasks}
            for task in tasks:
                if keys[task.name] not in under_way:
                    under_way[keys[task.name]] = pool.submit(self._one, task, limits[task.name])
            result = {}
            for number, task in enumerate(tasks, start=1):
                view.stage(f"images: {number} of {len(tasks)}, {task.name}")
                result[task.name] = _as_of(task, under_way[keys[task.name]].result())
                if result[task.name].problem is not None:
                    view.warn(f"{task.name}: no image: {result[task.name].problem}")
        return result

    def _key(self, task: Task) -> str:
        """What tasks that need the same image have in common."""
        if task.environment.docker_image is not None and not self._builds(task):
            return f"image {task.environment.docker_image} {task.environment.dockerfile}"
        try:
            return self._tag(task)
        except TaskError:
            return f"no image of {task.name}"

    def _builds(self, task: Task) -> bool:
        """Whether the Dockerfile comes first."""
        has_file = task.environment.dockerfile is not None
        return has_file and (task.environment.docker_image is None or self.force_build)

    def _one(self, task: Task, timeout_s: float) -> Prepared:
        if self._builds(task):
            return self._build(task, timeout_s)
        reference = task.environment.docker_image
        assert reference is not None  # noqa: S101 - a task has a Dockerfile or an image (hbench.task.load)
        here = self.engine.image(reference)
        if here is not None:
            return Prepared(image=here, source="local")
        try:
            pulled = self.engine.pull(reference, timeout_s=timeout_s, cancel=self.cancel)
            return Prepared(image=pulled, source="pull")
        except RefusedError as problem:
            if self.fallback and task.environment.dockerfile is not None:
                return self._build(task, timeout_s)
            hint = 'Say build = "fallback" under [dataset] to build it from the Dockerfile beside it.'
            told = problem.without_place
            said = told if task.environment.dockerfile is None else f"{told}\n  {hint}"
            return Prepared(image=None, source="pull", problem=said)

    def _build(self, task: Task, timeout_s: float) -> Prepared:
        try:
            tag = self._tag(task)
            image = self.engine.image(tag) or self._built(task, tag, timeout_s)
            return Prepared(image=image, source="build")
        except (RefusedError, TaskError) as problem:
            return Prepared(image=None, source="build", problem=problem.without_place)

    def _built(self, task: Task, tag: str, timeout_s: float) -> ImageFacts:
        folder = task.environment.context
        assert folder is not None  # noqa: S101 - only called for a task with a Dockerfile
        with OutputFile(self.logs / f"{tag.rpartition(':')[2]}.log") as output:
            spec = BuildSpec(context=folder, tag=tag, ca=self.ca, timeout_s=timeout_s, output=output)
            return self.engine.build(spec, self.cancel)

    def _tag(self, task: Task) -> str:
        folder = task.environment.context
        assert folder is not None  # noqa: S101 - likewise
        return context.image_tag(folder, self.ca)


def _as_of(task: Task, prepared: Prepared) -> Prepared:
    """A shared build is a fallback for those of its tasks that name an image instead."""
    built = prepared.source == "build" and task.environment.docker_image is not None
    return replace(prepared, source="fallback") if built else prepared
