"""Tasks that hbench cannot run yet."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hbench.errors import TaskError
from hbench.task.config import read_config
from hbench.task.load import load_task
from hbench.task.unsupported import unsupported

MakeTask = Callable[..., Path]


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('[[steps]]\nname = "a"', "several steps"),
        ('[environment]\nos = "Windows"', 'os = "windows"'),
        ("[environment]\ngpus = 1", "gpus"),
        ('[environment]\ntpu = { type = "v4", topology = "2x2" }', "tpu"),
        ('[[environment.mcp_servers]]\nname = "a"', "mcp_servers"),
        ('[environment]\nskills_dir = "/skills"', "skills_dir"),
        ('[verifier]\nenvironment_mode = "separate"', "environment_mode"),
        ("[verifier.environment]", "[verifier.environment]"),
        ('[[verifier.collect]]\ncommand = "x"', "[[verifier.collect]]"),
        ('artifacts = [{ source = "/a", service = "db" }]', "another service than main (db)"),
        ('[environment]\nnetwork_mode = "no-network"', "only public tasks run"),
        ("[environment]\nallow_internet = false", "environment.allow_internet = false"),
        ('[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ["a.org"]', 'agent.network_mode = "allowlist"'),
        ('[verifier]\nnetwork_mode = "no-network"', 'verifier.network_mode = "no-network"'),
    ],
)
def test_a_task_that_needs_more_than_hbench_has_is_refused(make_task: MakeTask, toml: str, said: str) -> None:
    """It is never run in a lesser way."""
    folder = make_task(toml=toml)
    with pytest.raises(TaskError) as caught:
        load_task(folder)
    assert caught.value.what.startswith("not supported yet: ")
    assert said in caught.value.what
    in_table = toml.startswith("[") and "\n" in toml and not toml.startswith("[[")
    assert caught.value.where == f"{folder / 'task.toml'}:{2 if in_table else 1}"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("environment/docker-compose.yaml", "Compose v2 plugin"),
        ("trajectory.json", "trajectory.json"),
        ("tests/.harborignore", ".harborignore"),
    ],
)
def test_a_file_that_changes_how_the_task_runs_is_refused_too(make_task: MakeTask, path: str, said: str) -> None:
    """Leaving it unread would be a lesser way."""
    folder = make_task(files={path: "x"})
    with pytest.raises(TaskError, match="not supported yet") as caught:
        load_task(folder)
    assert said in caught.value.what


def test_files_for_a_ready_made_image_are_refused_without_a_dockerfile(make_task: MakeTask) -> None:
    """Harbor copies them into the container; with a Dockerfile beside them it does not."""
    toml = '[environment]\ndocker_image = "python:3.13"'
    assert load_task(make_task(toml=toml)).environment.docker_image == "python:3.13"
    folder = make_task("other", toml=toml, files={"environment/Dockerfile": None, "environment/data.csv": "1"})
    with pytest.raises(TaskError, match="copied into the working directory"):
        load_task(folder)


def test_every_reason_is_named_at_once() -> None:
    """A person should not have to find them one by one."""
    config, _ = read_config("[environment]\ngpus = 2\nallow_internet = false", name="task.toml")
    assert len(unsupported(config, {"environment/Dockerfile"}, set())) == 2


def test_values_that_ask_for_nothing_are_no_reason() -> None:
    """Generated files spell out the defaults."""
    text = """
artifacts = [{ source = "/a", service = "main" }]
steps = []
[environment]
gpus = 0
mcp_servers = []
os = "linux"
network_mode = "public"
[agent]
network_mode = "public"
[verifier]
environment_mode = "shared"
collect = []
"""
    config, _ = read_config(text, name="task.toml")
    assert unsupported(config, {"environment/Dockerfile"}, set()) == []
