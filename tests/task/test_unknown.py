"""Keys of task.toml that hbench does not know."""

from hbench.task.config import read_config


def test_an_unknown_key_is_kept_and_warned_about_with_its_line_and_the_nearest_known_one() -> None:
    """Other people's tasks carry keys of other tools."""
    text = '[environment]\nmemroy_mb = 5\n[other]\nx = 1\n[[artifacts]]\nsource = "/a"\ndestnation = "b"\n'
    config, warnings = read_config(text, name="hello/task.toml")
    assert config.environment.model_extra == {"memroy_mb": 5}
    assert config.model_extra == {"other": {"x": 1}}
    memory, artifact, other = sorted(warnings, key=lambda warning: "other" in warning)
    assert memory.startswith('task.toml:2: unknown key "environment.memroy_mb" is kept')
    assert memory.endswith('Did you mean "memory_mb"?')
    assert artifact.startswith('task.toml:7: unknown key "artifacts.destnation"')
    assert other.startswith('task.toml:3: unknown key "other"')


def test_many_unknown_keys_are_counted_after_the_first_twenty() -> None:
    """A warning is for reading."""
    _, warnings = read_config("\n".join(f"k{n} = 1" for n in range(5000)), name="task.toml")
    assert len(warnings) == 21
    assert warnings[-1] == "task.toml: 4980 more unknown keys"


def test_an_unknown_key_cannot_write_escape_sequences_to_the_terminal() -> None:
    """Its name is its author's text."""
    _, warnings = read_config('"\\u001b[2J" = 1', name="task.toml")
    assert all(warning.isprintable() for warning in warnings)
