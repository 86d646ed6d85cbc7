"""Harbor's flags make a suite, alone or on top of a file."""

import dataclasses
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hbench.cli.options import FLAG_OPTIONS
from hbench.errors import SuiteError
from hbench.suite.flags import Flags
from hbench.suite.load import LoadedSuite, parse_suite, read_suite
from hbench.suite.overlay import FLAG_OF_KEY, overlay, resolve, suite_from_flags

FILE = """
[suite]
name = "nightly"
attempts = 3
[dataset]
path = "tasks"
build = "fallback"
include = ["a*"]
sample = 2
[limits]
agent_timeout_multiplier = 2.0
[network]
mode = "allowlist"
allow = ["registry:pypi"]
[[harness]]
name = "claude-code"
options = { effort = "low" }
[[harness]]
name = "claude-code"
options = { effort = "high" }
[[harness]]
name = "codex"
[[model]]
name = "deepseek-v4-flash"
provider = "deepseek"
api_key_env = "DEEPSEEK_API_KEY"
[[model]]
name = "other"
"""


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedSuite:
    return parse_suite(FILE, base=tmp_path, name="nightly.toml")


def test_no_flag_leaves_the_file_as_it_is(loaded: LoadedSuite) -> None:
    """Digest and lines are those of the file."""
    assert overlay(loaded, Flags()) is loaded


@pytest.mark.parametrize(
    ("flags", "table", "key", "value"),
    [
        (Flags(n_attempts=5), "suite", "attempts", 5),
        (Flags(n_concurrent=9), "suite", "concurrency", 9),
        (Flags(seed=4), "suite", "seed", 4),
        (Flags(include=("b*", "c")), "dataset", "include", ["b*", "c"]),
        (Flags(exclude=("b*",)), "dataset", "exclude", ["b*"]),
        (Flags(n_tasks=7), "dataset", "first", 7),
        (Flags(max_retries=2), "retry", "max_retries", 2),
        (Flags(network="none"), "network", "mode", "none"),
        (Flags(allow=("a.example",)), "network", "allow", ["a.example"]),
        (Flags(agent_timeout_multiplier=0.05), "limits", "agent_timeout_multiplier", 0.05),
        (Flags(verifier_timeout_multiplier=3), "limits", "verifier_timeout_multiplier", 3.0),
        (Flags(setup_timeout_multiplier=3), "limits", "setup_timeout_multiplier", 3.0),
        (Flags(build_timeout_multiplier=3), "limits", "build_timeout_multiplier", 3.0),
    ],
)
def test_a_flag_overrules_the_key_it_stands_for_and_no_other(
    loaded: LoadedSuite, flags: Flags, table: str, key: str, value: Any
) -> None:
    found = overlay(loaded, flags)
    assert getattr(getattr(found.suite, table), key) == value
    rest = {"attempts", "include", "agent_timeout_multiplier"} - {key}
    before, after = tomllib.loads(FILE), tomllib.loads(found.text)
    assert all(
        after[place][name] == before[place][name]
        for place, name in (("suite", "attempts"), ("dataset", "include"), ("limits", "agent_timeout_multiplier"))
        if name in rest
    )


def test_every_flag_changes_the_suite(loaded: LoadedSuite) -> None:
    """No flag is accepted and then forgotten."""
    samples: dict[str, Any] = {"path": Path("p"), "dataset": "d", "network": "open"}
    for field in dataclasses.fields(Flags):
        value = samples.get(field.name, ("new",) if field.default == () else 4)
        assert overlay(loaded, Flags(**{field.name: value})).text != overlay(loaded, Flags(n_attempts=3)).text, field


def test_the_text_that_is_stored_is_the_suite_that_runs(loaded: LoadedSuite) -> None:
    """What the flags amounted to can be run again as a file."""
    found = overlay(loaded, Flags(n_attempts=2, agent=("codex",), network="open"))
    assert parse_suite(found.text, base=found.base, name="again").suite == found.suite


def test_other_tasks_leave_the_files_selection_behind(loaded: LoadedSuite, monkeypatch: pytest.MonkeyPatch) -> None:
    """Globs and samples were about the file's own tasks; how images are built still holds."""
    monkeypatch.chdir(loaded.base)
    assert tomllib.loads(overlay(loaded, Flags(path=Path("other"))).text)["dataset"] == {
        "path": "other",
        "build": "fallback",
    }
    assert tomllib.loads(overlay(loaded, Flags(dataset="x@1", include=("i",))).text)["dataset"] == {
        "name": "x@1",
        "build": "fallback",
        "include": ["i"],
    }


def test_a_harness_of_the_file_is_picked_with_its_options(loaded: LoadedSuite) -> None:
    """`-a` on a suite chooses among its arms."""
    picked = overlay(loaded, Flags(agent=("claude-code",))).suite.harness
    assert [harness.options for harness in picked] == [{"effort": "low"}, {"effort": "high"}]


def test_a_harness_that_the_file_does_not_have_is_added_alone(loaded: LoadedSuite) -> None:
    assert [h.name for h in overlay(loaded, Flags(agent=("nop", "oracle", "nop"))).suite.harness] == ["nop", "oracle"]


def test_a_model_of_the_file_is_picked_with_its_provider_and_key(loaded: LoadedSuite) -> None:
    [model] = overlay(loaded, Flags(model=("deepseek-v4-flash",))).suite.model
    assert (model.provider, model.api_key_env) == ("deepseek", "DEEPSEEK_API_KEY")


def test_a_model_is_written_as_harbor_writes_it(loaded: LoadedSuite) -> None:
    """`provider/name`; what follows the first slash is the name, slashes and all."""
    models = overlay(loaded, Flags(model=("anthropic/claude-x", "router/org/m", "plain"))).suite.model
    assert [(m.provider, m.name) for m in models] == [
        ("anthropic", "claude-x"),
        ("router", "org/m"),
        (None, "plain"),
    ]


@pytest.mark.parametrize("agent", ["./mine", "mine/", "/abs/mine", "..", "./../mine"])
def test_a_harness_with_a_slash_or_a_leading_dot_is_a_folder(agent: str) -> None:
    [harness] = suite_from_flags(Flags(agent=(agent,))).suite.harness
    assert (harness.name, Path(harness.path or "")) == (None, Path(agent))


def test_a_path_on_the_command_line_is_relative_to_where_the_person_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also beside a suite file that lies in another folder, behind a symbolic link."""
    (tmp_path / "elsewhere" / "suites").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "suites").symlink_to(tmp_path / "elsewhere" / "suites")
    (tmp_path / "here" / "suites" / "s.toml").write_text(FILE)
    monkeypatch.chdir(tmp_path / "here")
    found = overlay(read_suite(Path("suites/s.toml")), Flags(path=Path("my-tasks"), agent=("./mine",)))
    assert found.suite.dataset.path == "../../here/my-tasks"
    assert (found.base / found.suite.dataset.path).resolve() == tmp_path / "here" / "my-tasks"
    assert (found.base / (found.suite.harness[0].path or "")).resolve() == tmp_path / "here" / "mine"


def test_opening_the_network_drops_the_list_of_the_mode_it_overrules(loaded: LoadedSuite) -> None:
    """`--network open` alone is enough; with --allow beside it, the two contradict each other."""
    assert overlay(loaded, Flags(network="open")).suite.network.allow == []
    with pytest.raises(SuiteError, match="contradict"):
        overlay(loaded, Flags(network="open", allow=("a",))).checked()


def test_the_general_multiplier_is_for_limits_without_one_of_their_own(loaded: LoadedSuite) -> None:
    """As in Harbor: the specific one wins, from file or flag."""
    limits = overlay(loaded, Flags(timeout_multiplier=0.5, build_timeout_multiplier=4)).suite.limits
    assert limits.agent_timeout_multiplier == 2.0
    assert (limits.verifier_timeout_multiplier, limits.setup_timeout_multiplier) == (0.5, 0.5)
    assert limits.build_timeout_multiplier == 4.0


def test_two_sources_of_tasks_are_refused() -> None:
    with pytest.raises(SuiteError, match="-p and -d"):
        suite_from_flags(Flags(path=Path("x"), dataset="y"))


def test_a_value_out_of_range_is_an_error_that_says_it_came_from_the_flags(loaded: LoadedSuite) -> None:
    """No line is named: the text was never a file."""
    with pytest.raises(SuiteError) as alone:
        suite_from_flags(Flags(n_attempts=9))
    assert str(alone.value).startswith('flags: -k ("suite.attempts"): ')
    with pytest.raises(SuiteError) as above:
        overlay(loaded, Flags(n_attempts=9))
    assert str(above.value).startswith('nightly.toml with flags: -k ("suite.attempts"): ')
    assert "It says 9" in str(above.value)


def test_an_argument_that_is_no_text_is_refused() -> None:
    """A file name may be any bytes; a suite is text."""
    with pytest.raises(SuiteError, match="not UTF-8"):
        suite_from_flags(Flags(path=Path("tasks/\udcff")))


def test_tasks_alone_are_run_with_oracle() -> None:
    """Harbor's default agent."""
    found = suite_from_flags(Flags(path=Path("tasks/x")))
    assert ([h.name for h in found.suite.harness], found.suite.dataset.path) == (["oracle"], "tasks/x")


def test_a_harness_alone_runs_our_own_tasks() -> None:
    assert resolve(None, Flags(agent=("nop",))).suite.dataset.name == "hbench-core@1"


def test_a_flag_may_supply_what_the_file_lacks(tmp_path: Path) -> None:
    """The whole is checked, not the file on its own."""
    (tmp_path / "s.toml").write_text("[suite]\nname = 'bare'\n")
    with pytest.raises(SuiteError, match="names no harness"):
        resolve(tmp_path / "s.toml", Flags())
    assert resolve(tmp_path / "s.toml", Flags(agent=("nop",))).suite.suite.name == "bare"


def test_neither_file_nor_tasks_nor_harness_is_the_default_suite(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What `hbench run` does on a fresh machine; other flags lie on top."""
    (tmp_path / "default.toml").write_text("[suite]\nname = 'default'\n[[harness]]\nname = 'oracle'\n")
    monkeypatch.setattr("hbench.suite.overlay.shipped", lambda *_: tmp_path)
    assert resolve(None, Flags()).suite.suite.name == "default"
    assert resolve(None, Flags(n_attempts=2)).suite.suite.attempts == 2


def test_the_default_suite_that_ships_is_valid_and_says_open() -> None:
    """It runs with nothing but a Docker engine."""
    assert resolve(None, Flags()).suite.network.mode == "open"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (Flags(timeout_multiplier=0), '--timeout-multiplier ("limits.agent_timeout_multiplier")'),
        (Flags(setup_timeout_multiplier=0), '--agent-setup-timeout-multiplier ("limits.setup_timeout_multiplier")'),
        (Flags(network="opne"), '--network ("network.mode")'),
        (Flags(agent=("Oracle",)), '-a ("harness.name"): must be lower-case letters'),
        (Flags(model=("a b",)), '-m ("model.name")'),
        (Flags(agent=("my_mod:Class",)), '-a "my_mod:Class": hbench runs adapter folders, not Python classes'),
    ],
)
def test_an_error_about_a_flag_names_the_flag(flags: Flags, said: str) -> None:
    """A person who wrote no suite does not know its keys."""
    with pytest.raises(SuiteError) as caught:
        suite_from_flags(flags)
    assert str(caught.value).startswith(f"flags: {said}")


def test_the_flags_that_errors_name_exist() -> None:
    """As the command line spells them."""
    spelt = {name for option in FLAG_OPTIONS.values() for name in (option.default, *option.param_decls)}
    assert set(FLAG_OF_KEY.values()) <= spelt
