"""Images made before the first trial, on the scripted engine."""

import os
from collections.abc import Callable
from pathlib import Path
from threading import Event

import pytest

from hbench.container.engine import BuildSpec, ImageFacts
from hbench.container.errors import Cancelled, RefusedError
from hbench.container.fake import FakeEngine, image_facts
from hbench.job.images import ImageMaker
from hbench.task.load import load_task
from hbench.task.model import Task
from hbench.trial.bench import Prepared
from tests.job.world import Watcher, World


class Builder(FakeEngine):
    """Remembers what it builds and pulls."""

    def __init__(self) -> None:
        super().__init__()
        self.built: list[BuildSpec] = []
        self.pulled: list[str] = []

    def build(self, spec: BuildSpec, cancel: Event) -> ImageFacts:
        self.built.append(spec)
        return super().build(spec, cancel)

    def pull(self, reference: str, *, timeout_s: float, cancel: Event) -> ImageFacts:
        self.pulled.append(reference)
        return super().pull(reference, timeout_s=timeout_s, cancel=cancel)


@pytest.fixture
def engine() -> Builder:
    return Builder()


@pytest.fixture
def prepare(engine: Builder, tmp_path: Path) -> Callable[..., dict[str, Prepared]]:
    """The images of tasks."""

    def run(*tasks: Task, fallback: bool = False, force_build: bool = False) -> dict[str, Prepared]:
        maker = ImageMaker(
            engine=engine,
            ca=None,
            fallback=fallback,
            force_build=force_build,
            logs=tmp_path / "builds",
            cancel=Event(),
        )
        return maker.prepare(list(tasks), {task.name: 10.0 for task in tasks}, Watcher())

    return run


def task_of(
    world: World, name: str, *, docker_image: str | None = None, dockerfile: str | None = "FROM debian:bookworm-slim\n"
) -> Task:
    """A task with a Dockerfile, an image, or both."""
    line = "" if docker_image is None else f'[environment]\ndocker_image = "{docker_image}"\n'
    world.write(f"own/{name}/task.toml", f'version = "1.0"\n{line}')
    world.write(f"own/{name}/instruction.md", "Do it.\n")
    world.write(f"own/{name}/tests/test.sh", "true\n")
    if dockerfile is not None:
        world.write(f"own/{name}/environment/Dockerfile", dockerfile)
    return load_task(world.folder / "own" / name)


def test_tasks_with_the_same_context_share_one_build(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """And one that differs has its own; the log of each is kept."""
    same = [task_of(world, name) for name in ("a", "b", "c")]
    other = task_of(world, "d", dockerfile="FROM debian:bookworm-slim\nRUN true\n")
    made = prepare(*same, other)
    assert len(engine.built) == 2
    assert made["a"] == made["b"] == made["c"] != made["d"]
    assert {one.source for one in made.values()} == {"build"}
    assert [path.read_text() for path in (world.folder / "builds").iterdir()] == ["built\n"] * 2


def test_an_image_of_the_same_content_is_not_built_again(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """The next run finds it."""
    task = task_of(world, "a")
    assert prepare(task) == prepare(task)
    assert len(engine.built) == 1


def test_a_named_image_is_pulled_once_and_not_if_it_is_here(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """Even where a Dockerfile lies beside it."""
    engine.images["here:1"] = image_facts("here:1")
    tasks = [task_of(world, "a", docker_image="there:1"), task_of(world, "b", docker_image="here:1")]
    made = prepare(*tasks)
    assert engine.pulled == ["there:1"]
    assert engine.built == []
    assert (made["a"].source, made["b"].source) == ("pull", "local")


def test_where_the_pull_fails_nothing_else_runs_in_its_place_unasked(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """The problem says what could be asked for."""
    engine.refuse["pull"] = "no such host"
    made = prepare(
        task_of(world, "a", docker_image="there:1"), task_of(world, "b", docker_image="x:1", dockerfile=None)
    )
    assert engine.built == []
    assert made["a"].image is None
    assert "no such host" in str(made["a"].problem)
    assert 'build = "fallback"' in str(made["a"].problem)
    assert made["b"].problem == "no such host"


def test_where_the_suite_says_so_it_is_built_from_the_dockerfile_beside_it(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """And the lock says that it was."""
    engine.refuse["pull"] = "no such host"
    task = task_of(world, "a", docker_image="there:1")
    assert prepare(task, fallback=True)["a"].source == "fallback"
    assert len(engine.built) == 1


def test_a_forced_build_does_not_try_to_pull(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """Where there is a Dockerfile; an image alone is still pulled."""
    tasks = [
        task_of(world, "a", docker_image="there:1"),
        task_of(world, "b", docker_image="alone:1", dockerfile=None),
        task_of(world, "c"),
    ]
    made = prepare(*tasks, force_build=True)
    assert engine.pulled == ["alone:1"]
    assert [made[name].source for name in "abc"] == ["fallback", "pull", "build"]


def test_a_build_that_is_shared_is_a_fallback_only_for_who_names_an_image(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """In whichever order they come; the lock flags it."""
    named, plain = task_of(world, "a", docker_image="there:1"), task_of(world, "b")
    for order in ((named, plain), (plain, named)):
        made = prepare(*order, force_build=True)
        assert (made["a"].source, made["b"].source) == ("fallback", "build")
    assert len(engine.built) == 1


def test_a_build_that_fails_is_its_tasks_problem_and_names_no_folder(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """The record goes into a sealed file; other tasks have their images."""
    engine.images["here:1"] = image_facts("here:1")

    def refuses(spec: BuildSpec, cancel: Event) -> ImageFacts:
        raise RefusedError("step 2 failed", where=spec.context, hint="Look at it.")

    engine.build = refuses  # type: ignore[method-assign]
    made = prepare(task_of(world, "a"), task_of(world, "b", docker_image="here:1"))
    assert made["a"] == Prepared(image=None, source="build", problem="step 2 failed\n  Look at it.")
    assert made["b"].image is not None


def test_a_context_that_cannot_be_sent_is_its_tasks_problem(
    world: World, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """Files that changed since the plan, for one."""
    task = task_of(world, "a")
    os.mkfifo(world.folder / "own" / "a" / "environment" / "pipe")
    made = prepare(task)
    assert made["a"].image is None
    assert "neither a file, nor a folder, nor a link" in str(made["a"].problem)
    assert str(world.folder) not in str(made["a"].problem)


def test_a_cancelled_build_is_no_problem_of_the_task(
    world: World, engine: Builder, prepare: Callable[..., dict[str, Prepared]]
) -> None:
    """The run ends."""

    def cancelled(spec: BuildSpec, cancel: Event) -> ImageFacts:
        raise Cancelled

    engine.build = cancelled  # type: ignore[method-assign]
    with pytest.raises(Cancelled):
        prepare(task_of(world, "a"))
