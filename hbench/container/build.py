"""Builds the image of a task: with BuildKit where the Docker CLI has it, else with the engine's classic builder."""

import re
import time
from threading import Event, Lock

import docker

from hbench.container import buildx, ca, classic, context, dockerfile
from hbench.container.archive import pack
from hbench.container.asking import ask
from hbench.container.building import Build, Recent
from hbench.container.ca import CaBundle
from hbench.container.engine import BuildSpec
from hbench.container.errors import BuildFailed, RefusedError
from hbench.text import safe

_SHOWN_LINES = 20
_PROBLEM_WIDTH = 500
_INSTALL_BUILDX = "Install Docker's buildx plugin, so that the image is built with BuildKit; then run again."
_CLASSIC_STEP = re.compile(r"Step \d+/\d+ : (\S+)")
_BUILDKIT_PULL = re.compile(r" > (?:\[[^]]*\] )?(?:load metadata for|FROM) ")
_MAKES_CA_IMAGE = Lock()


def builder_name() -> str:
    """What builds: "buildx <version>" or "classic"."""
    found = buildx.version()
    return classic.NAME if found is None else f"buildx {found}"


def build(api: docker.APIClient, spec: BuildSpec, cancel: Event) -> None:
    """Build the image and tag it.

    Raises:
        BuildFailed: It cannot be built, or not within its time; the message ends with what the builder said last.
        Cancelled: `cancel` was set.
        TaskError: The folder is no build context.
        RefusedError, EngineError: The engine refuses the bundle, or does not answer.
    """
    recent = Recent(spec.output)
    the_build = Build(
        folder=spec.context,
        instructions=context.instructions(spec.context, spec.ca),
        tag=spec.tag,
        labels={"hbench.context": context.context_digest(spec.context, spec.ca)},
        until=time.monotonic() + spec.timeout_s,
        cancel=cancel,
        output=recent,
    )
    if spec.ca is not None:
        _make_ca_image(api, spec.ca)
    with_buildkit = buildx.version() is not None
    try:
        problem = buildx.run(the_build) if with_buildkit else classic.run(api, the_build)
    except TimeoutError:
        raise _failed(spec, f"was not built after {spec.timeout_s:.0f} s", recent, hint=None) from None
    if problem is not None:
        raise _explained(api, spec, problem, recent, with_buildkit=with_buildkit)


def _make_ca_image(api: docker.APIClient, bundle: CaBundle) -> None:
    """Have the image on the engine that stages copy the certificates from: a context must not grow by them."""
    tag = context.ca_image_tag(bundle)
    with _MAKES_CA_IMAGE:
        if _is_there(api, tag):
            return
        name, _, version = tag.partition(":")
        changes = [f"LABEL hbench.ca={bundle.sha256}"]
        with pack(ca.container_files(bundle)) as files:
            ask(lambda: api.import_image_from_data(files, repository=name, tag=version, changes=changes))


def _explained(
    api: docker.APIClient, spec: BuildSpec, problem: str, recent: Recent, *, with_buildkit: bool
) -> BuildFailed:
    """The failure, with what is known of its cause."""
    text = context.instructions(spec.context, None).decode(errors="replace")
    if with_buildkit:
        problem = next((line[7:] for line in reversed(recent.lines()) if line.startswith("ERROR: ")), problem)
    problem = safe(" ".join(problem.split()), _PROBLEM_WIDTH)
    if _stopped_at_a_base_image(recent.lines()):
        missing = [image for image in dockerfile.base_images(text) if not _is_there(api, image)]
        if missing:
            what = f"has a base image that is not here and cannot be pulled ({', '.join(missing)}): {problem}"
            return _failed(spec, what, recent, hint=f"See that this works: docker pull {missing[0]}")
    needs = None if with_buildkit else dockerfile.needs_buildkit(text)
    if needs is not None:
        what = f"needs BuildKit ({needs}), which the engine's classic builder is not: {problem}"
        return _failed(spec, what, recent, hint=_INSTALL_BUILDX)
    return _failed(spec, f"cannot be built: {problem}", recent, hint=None)


def _failed(spec: BuildSpec, what: str, recent: Recent, *, hint: str | None) -> BuildFailed:
    last = [f"  | {line}" for line in recent.lines()[-_SHOWN_LINES:]]
    return BuildFailed("\n".join([f"the image {what}", *last]), where=spec.context / context.DOCKERFILE, hint=hint)


def _stopped_at_a_base_image(lines: list[str]) -> bool:
    """Whether the last thing that the builder tried was to get one."""
    steps = [match[1] for match in map(_CLASSIC_STEP.match, lines) if match]
    return steps[-1:] == ["FROM"] or any(map(_BUILDKIT_PULL.match, lines))


def _is_there(api: docker.APIClient, image: str) -> bool:
    try:
        ask(lambda: api.inspect_image(image))  # type: ignore[no-untyped-call]
    except RefusedError:  # not there, or a name that is none
        return False
    return True
