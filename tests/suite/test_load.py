"""A suite file becomes a Suite, or an error that names file, line, key and what was meant."""

import os
from pathlib import Path

import pytest

from hbench.errors import SuiteError
from hbench.suite.load import LoadedSuite, load_suite, parse_suite

ORACLE = '[[harness]]\nname = "oracle"\n'


def loaded(text: str) -> LoadedSuite:
    return parse_suite(text, base=Path(), name="s.toml").checked()


def refusal(text: str) -> str:
    with pytest.raises(SuiteError) as caught:
        loaded(text)
    return str(caught.value)


def test_the_example_of_every_key_is_read(tmp_path: Path) -> None:
    """All tables at once, each with values other than the defaults."""
    file = tmp_path / "nightly.toml"
    file.write_text(
        """
[suite]
name = "nightly"
attempts = 5
seed = 7
concurrency = 8
[dataset]
path = "my-tasks"
build = "fallback"
include = ["a*"]
exclude = ["ab"]
sample = 4
first = 3
holdout = ["a1"]
[limits]
agent_timeout_sec = 60
agent_timeout_multiplier = 2
memory_mb = 512
cpus = 0.5
pids = 64
max_turns = 50
max_cost_usd = 2
[network]
mode = "allowlist"
allow = ["registry:pypi"]
ca_bundle = "company.pem"
upstream_proxy = "http://proxy:3128"
[verifier]
mode = "snapshot"
[[harness]]
name = "claude-code"
version = "2.1.332"
options = { reasoning_effort = "high" }
[[harness]]
path = "./my-harness"
[[model]]
name = "deepseek-v4-flash"
provider = "deepseek"
api_key_env = "DEEPSEEK_API_KEY"
access = "direct"
sampling = { temperature = 0.0 }
[retry]
max_retries = 2
[env]
pass = ["LANG"]
"""
    )
    found = load_suite(file)
    suite = found.suite
    assert (found.base, found.name) == (tmp_path, str(file))
    assert (suite.suite.attempts, suite.dataset.first, suite.retry.max_retries) == (5, 3, 2)
    assert (suite.harness[0].options, suite.harness[1].path) == ({"reasoning_effort": "high"}, "./my-harness")
    assert suite.env.pass_ == ["LANG"]


def test_a_suite_needs_no_more_than_a_harness() -> None:
    """Everything else has a default; the dataset is hbench's own."""
    suite = loaded(ORACLE).suite
    assert (suite.dataset.name, suite.suite.attempts, suite.network.mode) == ("hbench-core@1", 1, "allowlist")


def test_a_whole_number_is_welcome_where_seconds_are_wanted() -> None:
    """Nobody writes 60.0 for a minute."""
    assert loaded(f"[limits]\nagent_timeout_sec = 60\n{ORACLE}").suite.limits.agent_timeout_sec == 60.0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[suite]\nattemps = 2\n", 's.toml:2: unknown key "suite.attemps"'),
        ("[limit]\n", 's.toml:1: unknown key "limit"'),
        ("[[harness]]\nname = 'oracle'\n[[harness]]\nversoin = '1'\n", 's.toml:4: unknown key "harness.versoin"'),
        ("limits.cpus = true\n", 's.toml:1: "limits.cpus"'),
        ("[limits]\nmemory_mb = 2048.0\n", 's.toml:2: "limits.memory_mb"'),
        ("[limits]\ncpus = nan\n", 's.toml:2: "limits.cpus"'),
        ("[limits]\nmax_cost_usd = inf\n", 's.toml:2: "limits.max_cost_usd"'),
        ("[limits]\nagent_timeout_sec = 0\n", 's.toml:2: "limits.agent_timeout_sec"'),
        ("[limits]\nagent_timeout_sec = 07:32:00\n", 's.toml:2: "limits.agent_timeout_sec"'),
        ("[limits]\nagent_timeout_sec = '60'\n", 's.toml:2: "limits.agent_timeout_sec"'),
        ("[suite]\nattempts = 6\n", 's.toml:2: "suite.attempts"'),
        ("[suite]\nattempts = true\n", 's.toml:2: "suite.attempts"'),
        ("[suite]\nname = '../up'\n", 's.toml:2: "suite.name"'),
        ("[suite]\nname = 2020-01-01\n", 's.toml:2: "suite.name"'),
        ("[network]\nmode = 'opne'\n", 's.toml:2: "network.mode"'),
        ("[dataset]\nname = 'a'\ninclude = 'b'\n", 's.toml:3: "dataset.include"'),
        ("[dataset]\nname = 'a'\ninclude = []\n", 's.toml:3: "dataset.include"'),
        ("[dataset]\nname = 'a'\nexclude = [\n  'x',\n  1,\n]\n", 's.toml:5: "dataset.exclude"'),
        ("[[harness]]\nname = 'Oracle!'\n", 's.toml:2: "harness.name"'),
        ("[env]\npass = ['1X']\n", 's.toml:2: "env.pass"'),
        ("[[model]]\nname = 'a b'\n", 's.toml:2: "model.name"'),
        ("[[model]]\nname = 'a'\napi_key_env = 'sk-test-1'\n", 's.toml:3: "model.api_key_env"'),
        ("suite = 1\n", 's.toml:1: "suite"'),
        ("harness = 'oracle'\n", 's.toml:1: "harness"'),
    ],
)
def test_a_wrong_key_or_type_names_its_line(text: str, said: str) -> None:
    """Strict types: a truth value is no number, a float no count, nothing is infinite, a date is no text (R08)."""
    assert refusal(text).startswith(said)


def test_a_misspelt_key_is_told_what_was_meant() -> None:
    assert 'Did you mean "attempts"?' in refusal("[suite]\nattemps = 2\n")
    assert 'Did you mean "pass"?' in refusal("[env]\npas = []\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[suite]\n", "s.toml: the suite names no harness"),
        (f"[dataset]\ninclude = ['a']\n{ORACLE}", "s.toml:1: [dataset] has neither"),
        (f"[dataset]\nname = 'a'\npath = 'b'\n{ORACLE}", "s.toml:1: [dataset] has both"),
        (f"{ORACLE}[[harness]]\noptions = {{}}\n", "s.toml:3: this [[harness]] has neither"),
        (f"[dataset]\npath = '~/tasks'\n{ORACLE}", 's.toml:2: path = "~/tasks": ~ stands for nothing'),
        (f"[network]\nca_bundle = '~/ca.pem'\n{ORACLE}", "s.toml:2: ca_bundle"),
        ("[[harness]]\npath = '~'\n", "s.toml:2: path"),
        (f"{ORACLE}path = 'x'\n", "s.toml:1: this [[harness]] has both"),
        (f"{ORACLE}[[model]]\nname='m'\n[[model]]\nname='m'\n", 's.toml:6: the model "m" stands'),
        (
            f"{ORACLE}[[model]]\nname='m'\napi_key_env='KEY'\n[env]\npass = [\n'LANG',\n'KEY']\n",
            's.toml:9: "KEY" holds a model\'s key',
        ),
        (f"[network]\nmode='open'\nallow = ['h']\n{ORACLE}", "s.toml:3: [network] allow and mode"),
        (f"{ORACLE}options = {{ when = 2020-01-01 }}\n", 's.toml:3: "when" is neither'),
        (f"{ORACLE}[[model]]\nname='m'\nsampling = {{ t = [1, nan] }}\n", "s.toml:5: "),
    ],
)
def test_keys_that_contradict_each_other_are_refused_at_their_line(text: str, said: str) -> None:
    assert refusal(text).startswith(said)


def test_the_same_harness_with_other_options_is_another_one() -> None:
    """Two reasoning efforts side by side are what a suite is for."""
    both = loaded(f"{ORACLE}options = {{ a = 1 }}\n{ORACLE}options = {{ a = 2 }}\n")
    assert len(both.suite.harness) == 2


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="no such file") as caught:
        load_suite(tmp_path / "absent.toml")
    assert str(tmp_path / "absent.toml") in str(caught.value)


def test_a_pipe_or_device_is_no_suite_file(tmp_path: Path) -> None:
    """The one would never answer, the other never end."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(SuiteError, match="is not a regular file"):
            load_suite(path)
