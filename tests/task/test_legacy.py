"""Old keys of task.toml."""

import copy

import pytest

from hbench.errors import TaskError
from hbench.task.config import TaskConfig, read_config
from hbench.task.legacy import migrate


def read(text: str) -> TaskConfig:
    return read_config(text, name="hello/task.toml")[0]


def fault(text: str) -> TaskError:
    with pytest.raises(TaskError) as caught:
        read(text)
    return caught.value


@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2", "1.3", "1.4"])
@pytest.mark.parametrize("key", ["version", "schema_version"])
def test_formats_1_0_to_1_4_are_known_under_both_names_of_the_key(key: str, version: str) -> None:
    """`version` is the old name of `schema_version`."""
    assert read(f'{key} = "{version}"').schema_version == version


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('version = "2.0"', 1, "'2.0' is not a known format"),
        ('\nschema_version = "1.5"', 2, "'1.5' is not a known format"),
        ("version = 1.0", 1, "1.0 is not a known format"),
        ('schema_version = "1.1"\nversion = "1.0"', 2, "contradicts"),
    ],
)
def test_an_unknown_or_contradicting_format_is_an_error(text: str, line: int, said: str) -> None:
    """Reading a later format as this one could run it in a lesser way."""
    error = fault(text)
    assert error.where == f"hello/task.toml:{line}"
    assert said in error.what


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ('memory = "2G"', "memory_mb", 2048),
        ('memory = "512m"', "memory_mb", 512),
        ('memory = " 1.5 G "', "memory_mb", 1536),
        ('memory = "2048K"', "memory_mb", 2),
        ('memory = "2G"\nmemory_mb = 2048', "memory_mb", 2048),
        ('storage = "10G"', "storage_mb", 10240),
        ("allow_internet = true", "network_mode", "public"),
        ("allow_internet = false", "network_mode", "no-network"),
        ('allow_internet = false\nnetwork_mode = "no-network"', "network_mode", "no-network"),
    ],
)
def test_old_keys_become_new_ones(text: str, field: str, value: object) -> None:
    """Also where both are there and agree."""
    assert getattr(read(f"[environment]\n{text}").environment, field) == value


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('memory = "2G"\nmemory_mb = 2000', 2, '"memory" \'2G\' contradicts "memory_mb" 2000'),
        ('storage_mb = 1\nstorage = "10G"', 3, '"storage" \'10G\' contradicts "storage_mb" 1'),
        ('network_mode = "public"\nallow_internet = false', 3, "contradicts"),
        ('network_mode = "allowlist"\nallow_internet = true', 3, "contradicts"),
        ("memory = 2048", 2, "is not a size"),
        ('memory = "2048"', 2, "is not a size"),
        ('memory = "2GB"', 2, "is not a size"),
        ('memory = "1K"', 2, "is not a size"),
        ('memory = "-1G"', 2, "is not a size"),
        ('allow_internet = "no"', 2, "neither true nor false"),
    ],
)
def test_old_keys_that_contradict_or_cannot_be_read_are_errors(text: str, line: int, said: str) -> None:
    """The message names the old key's line."""
    error = fault(f"[environment]\n{text}")
    assert error.where == f"hello/task.toml:{line}"
    assert said in error.what


def test_old_keys_are_read_in_steps_and_the_verifiers_environment_too() -> None:
    """They have the same table as [environment]."""
    config = read('[[steps]]\nname = "a"\n[steps.verifier.environment]\nmemory = "1G"\nallow_internet = false')
    environment = config.steps[0].verifier.environment
    assert environment is not None
    assert (environment.memory_mb, environment.network_mode) == (1024, "no-network")
    assert fault('[verifier.environment]\nmemory = "x"').where == "hello/task.toml:2"


def test_migrating_leaves_the_document_as_it_was() -> None:
    """The result is a new value."""
    document = {"version": "1.0", "environment": {"memory": "1G"}, "steps": [{"verifier": {"environment": {}}}]}
    before = copy.deepcopy(document)
    assert migrate(document)["environment"] == {"memory_mb": 1024}
    assert document == before
