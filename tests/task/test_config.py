"""task.toml, every field of it."""

import tomllib
from typing import Any

import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.errors import TaskError
from hbench.task.config import TaskConfig, read_config
from hbench.text import safe

EVERYTHING = """\
schema_version = "1.4"
source = "https://example.org/tasks"
multi_step_reward_strategy = "final"
artifacts = ["/app/out.txt", { source = "/var/log", destination = "logs", exclude = ["*.gz"], service = "main" }]

[task]
name = "example/hello.world"
version = "2"
description = "says hello"
authors = [{ name = "Ana", email = "ana@example.org" }, { name = "Ben" }]
keywords = ["hello"]

[metadata]
difficulty = "easy"
anything = { goes = [1, 2.5, true] }

[agent]
timeout_sec = 120
user = "app"
network_mode = "allowlist"
allowed_hosts = ["Example.ORG.", "*.example.com", "192.0.2.1", "198.51.100.0/24", "2001:DB8::1"]

[agent.env]
MODE = "${MODE:-fast}"

[verifier]
timeout_sec = 30.5
user = 1000
network_mode = "no-network"
environment_mode = "separate"
env = { LEVEL = "3" }

[[verifier.collect]]
command = "dump"
service = "db"
timeout_sec = 5
user = "postgres"

[verifier.environment]
docker_image = "python:3.13"
memory = "1.5G"

[solution.env]
HINT = "yes"

[environment]
build_timeout_sec = 60
docker_image = "registry.example/app:1@sha256:00"
os = "Linux"
cpus = 0.5
memory_mb = 2048.0
storage_mb = 10240
gpus = 1
gpu_types = ["H100"]
tpu = { type = "v6e", topology = "2x4" }
skills_dir = "/skills"
workdir = "/app"
network_mode = "public"
env = { A = "1" }

[environment.healthcheck]
command = "test -e /ready"
interval_sec = 1
timeout_sec = 2
start_period_sec = 3
start_interval_sec = 4
retries = 5

[[environment.mcp_servers]]
name = "tool"
transport = "stdio"
command = "serve"
args = ["-v"]

[[environment.mcp_servers]]
name = "far"
transport = "http"
url = "http://tool:8000/mcp"
headers = { Authorization = "Bearer ${TOKEN}" }

[[steps]]
name = "first"
min_reward = 0.5
artifacts = ["/app/step.txt"]
agent = { timeout_sec = 10 }
verifier = { env = { X = "1" } }
healthcheck = { command = "true" }

[[steps]]
name = "second"
min_reward = { reward = 1.0 }
"""


def read(text: str) -> TaskConfig:
    config, warnings = read_config(text, name="hello/task.toml")
    assert warnings == ()
    return config


def fault(text: str) -> TaskError:
    with pytest.raises(TaskError) as caught:
        read_config(text, name="hello/task.toml")
    return caught.value


def test_every_field_of_format_1_4_is_read() -> None:
    """A file that uses all of them gives their values, without a warning."""
    config = read(EVERYTHING)
    assert config.model_extra == {}
    assert config.task is not None
    assert (config.task.name, config.task.version, config.task.authors[0].email) == (
        "example/hello.world",
        "2",
        "ana@example.org",
    )
    assert config.metadata == {"difficulty": "easy", "anything": {"goes": [1, 2.5, True]}}
    assert (config.agent.timeout_sec, config.agent.user, config.agent.env) == (120, "app", {"MODE": "${MODE:-fast}"})
    assert config.agent.allowed_hosts == [
        "example.org",
        "*.example.com",
        "192.0.2.1",
        "198.51.100.0/24",
        "2001:db8::1",
    ]
    assert (config.verifier.timeout_sec, config.verifier.user, config.verifier.env) == (30.5, 1000, {"LEVEL": "3"})
    assert config.verifier.environment is not None
    assert config.verifier.environment.memory_mb == 1536
    assert config.solution.env == {"HINT": "yes"}
    environment = config.environment
    assert (environment.cpus, environment.memory_mb, environment.storage_mb, environment.gpus) == (0.5, 2048, 10240, 1)
    assert (environment.os, environment.workdir, environment.network_mode) == ("linux", "/app", "public")
    assert environment.healthcheck is not None
    assert environment.healthcheck.model_dump() == {
        "command": "test -e /ready",
        "interval_sec": 1,
        "timeout_sec": 2,
        "start_period_sec": 3,
        "start_interval_sec": 4,
        "retries": 5,
    }
    assert [server.transport for server in environment.mcp_servers] == ["stdio", "http"]
    assert [step.min_reward for step in config.steps] == [0.5, {"reward": 1.0}]
    assert [(a.source, a.destination, a.exclude) for a in config.artifacts] == [
        ("/app/out.txt", None, []),
        ("/var/log", "logs", ["*.gz"]),
    ]


def test_an_empty_file_has_the_defaults_of_the_format() -> None:
    """Nothing is required in task.toml."""
    config = read("")
    assert (config.verifier.timeout_sec, config.agent.timeout_sec) == (600.0, None)
    assert (config.environment.build_timeout_sec, config.environment.network_mode) == (600.0, None)


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("agent", "timeout_sec = -1"),
        ("agent", "timeout_sec = 0"),
        ("agent", "timeout_sec = nan"),
        ("agent", "timeout_sec = inf"),
        ("agent", 'timeout_sec = "600"'),
        ("agent", "timeout_sec = true"),
        ("agent", "timeout_sec = 1e9"),
        ("agent", 'user = "two words"'),
        ("agent", 'user = ""'),
        ("agent", "user = -1"),
        ("agent", "user = true"),
        ("agent", "user = 1.5"),
        ("agent", 'network_mode = "open"'),
        ("agent", 'env = { "A=B" = "1" }'),
        ("agent", 'env = { "" = "1" }'),
        ("agent", 'env = { A = "\\u0000" }'),
        ("verifier", "timeout_sec = -0.5"),
        ("verifier", "env = { A = 1 }"),
        ("verifier", 'environment_mode = "none"'),
        ("environment", "cpus = 0"),
        ("environment", "cpus = nan"),
        ("environment", "cpus = -2"),
        ("environment", 'cpus = "2"'),
        ("environment", "cpus = true"),
        ("environment", "memory_mb = 0"),
        ("environment", 'memory_mb = "2048"'),
        ("environment", "memory_mb = 2048.5"),
        ("environment", "storage_mb = -1"),
        ("environment", "gpus = -1"),
        ("environment", 'os = "plan9"'),
        ("environment", 'workdir = "app"'),
        ("environment", 'docker_image = "two words"'),
        ("environment", 'tpu = { type = "v4", topology = "0x2" }'),
        ("environment", "build_timeout_sec = 0"),
        ("environment.healthcheck", 'command = ""'),
        ("environment.healthcheck", 'command = "x"\nretries = 0'),
        ("environment.healthcheck", 'command = "x"\ninterval_sec = -1'),
        ("environment.healthcheck", "retries = 1"),
        ("task", 'name = "no-slash"'),
        ("task", 'name = "a/b\\n"'),
        ("task", 'name = "a/b..c"'),
        ("task", 'name = "a/b"\nversion = ""'),
    ],
)
def test_wrong_types_and_impossible_values_are_errors(table: str, text: str) -> None:
    """The message names file, line and key; no string is ever read as a number."""
    error = fault(f"[{table}]\n{text}")
    key = text.splitlines()[-1].split(" = ")[0]
    assert error.where in ("hello/task.toml:1", "hello/task.toml:2", "hello/task.toml:3")
    assert f"{table}.{key}" in error.what or '"environment.healthcheck.command"' in error.what


def test_allowed_hosts_without_an_allowlist_is_an_error() -> None:
    """The list would have no effect, and its author thinks that it has."""
    assert "allowed_hosts" in fault('[agent]\nallowed_hosts = ["a.org"]').what


def test_a_shared_verifier_with_an_environment_of_its_own_is_an_error() -> None:
    """The two contradict each other."""
    assert "contradicts" in fault('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]').what


@pytest.mark.parametrize(
    ("artifact", "said"),
    [
        ('"/app/../etc/shadow"', '".."'),
        ('"app/out"', "absolute"),
        ('{ source = "/a", destination = "/etc" }', "relative"),
        ('{ source = "/a", destination = "x/../../y" }', '".."'),
        ('{ source = "/a", destination = "./manifest.json" }', "manifest.json"),
        ('{ source = "/a", destination = "a\\\\b" }', "forward slashes"),
        ('{ source = "/a", destination = "." }', "name a file"),
        ('{ source = "/a", destination = "a\\nb" }', "control characters"),
        ('{ source = "/a", service = "-x" }', "the first a letter"),
        ('{ destination = "a" }', "required"),
    ],
)
def test_an_artifact_cannot_land_outside_the_trials_folder(artifact: str, said: str) -> None:
    """Sources and destinations become host paths."""
    error = fault(f"artifacts = [\n  {artifact},\n]")
    assert error.where == "hello/task.toml:2"
    assert said in error.what


@pytest.mark.parametrize("text", ["[", "a = 1\na = 2", "x = " + "[" * 5000, "x = " + "9" * 5000, "x = 1" * 3])
def test_what_is_not_toml_is_a_task_error(text: str) -> None:
    """Whatever Python's reader makes of it."""
    assert (fault(text).where or "").startswith("hello/task.toml")


KEYS = st.sampled_from(
    sorted({word.strip('[]"') for line in EVERYTHING.splitlines() for word in line.replace(".", " ").split() if word})
) | st.text(max_size=8)
SCALARS = (
    st.none().map(lambda _: "")
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats()
    | st.text(max_size=12)
    | st.datetimes()
    | st.dates()
    | st.sampled_from(["1.0", "2G", "public", "allowlist", "/a", "a/b", "${X}", 1, 0, 600.0, True])
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
TABLES = ("task", "metadata", "verifier", "agent", "environment", "solution", "steps", "artifacts", "version")


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for key, item in inner for deeper in paths(item, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


FULL = tomllib.loads(EVERYTHING)


def check_any(document: dict[str, Any]) -> None:
    text = tomli_w.dumps(document)
    try:
        config, warnings = read_config(text, name="task.toml")
    except TaskError as error:
        where = error.where
        assert where is not None
        assert where.startswith("task.toml")
    else:
        assert isinstance(config, TaskConfig)
        assert all(safe(warning, len(warning)) == warning for warning in warnings)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(st.sampled_from(TABLES) | KEYS, st.dictionaries(KEYS, VALUES, max_size=4) | VALUES, max_size=5))
def test_any_toml_is_read_or_refused_with_a_task_error(document: dict[str, Any]) -> None:
    """Nothing that a task.toml can hold crashes hbench."""
    check_any(document)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(paths(FULL)[1:]), VALUES)
def test_any_value_in_any_place_is_read_or_refused_with_a_task_error(path: tuple[Any, ...], value: object) -> None:
    """A full file with one value replaced reaches every check."""
    check_any(replaced(FULL, path, value))
