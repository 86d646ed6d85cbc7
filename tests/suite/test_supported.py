"""What hbench cannot do yet is refused, never done in a lesser way."""

from pathlib import Path
from typing import Any

import pytest

from hbench.adapter.model import Adapter, AdapterFile
from hbench.suite.load import LoadedSuite, parse_suite
from hbench.suite.rules import Refusal
from hbench.suite.supported import MODEL_LIMITS, unsupported

OPEN = "[network]\nmode = 'open'\n"
ORACLE = "[[harness]]\nname = 'oracle'\n"


def adapter(**said: Any) -> Adapter:
    spec = AdapterFile(format=1, **{"name": "oracle", "version": "1.0", "command": ["x"], **said})
    return Adapter(name=spec.name, spec=spec, folder=Path(), digest="0" * 64, built_in=True)


def refusals(text: str, *adapters: Adapter) -> tuple[LoadedSuite, list[Refusal]]:
    loaded = parse_suite(text, base=Path(), name="s.toml")
    return loaded, list(unsupported(loaded.suite, adapters or [adapter()]))


def the_error(text: str, *adapters: Adapter) -> str:
    loaded, [refusal] = refusals(text, *adapters)
    return str(loaded.error(refusal))


def test_a_suite_in_the_open_with_live_verification_is_fine() -> None:
    assert refusals(OPEN + ORACLE)[1] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ORACLE, 's.toml: network mode "allowlist", which a silent suite asks for, needs the egress gate'),
        (f"[network]\nmode = 'none'\n{ORACLE}", 's.toml:2: network mode "none" needs the egress gate'),
        (f"{OPEN}upstream_proxy = 'http://p:1'\n{ORACLE}", "s.toml:3: upstream_proxy"),
        (f"{OPEN}[dataset]\npath = 'x'\nholdout = ['a']\n{ORACLE}", "s.toml:5: reporting held-out tasks apart"),
        (f"{OPEN}[verifier]\nmode = 'snapshot'\n{ORACLE}", "s.toml:4: grading in a snapshot"),
        (f"{OPEN}{ORACLE}version = 'latest'\n", 's.toml:5: "oracle" has version 1.0, the suite asks for latest'),
    ],
)
def test_what_later_work_brings_is_refused_at_its_line(text: str, said: str) -> None:
    assert the_error(text).startswith(said)


def test_a_silent_suite_is_told_how_to_say_open() -> None:
    """The default is the strict one, so the first message a person meets says what to write."""
    assert 'Say mode = "open" in [network], or --network open.' in the_error(ORACLE)


def test_the_version_that_the_adapter_has_may_be_said() -> None:
    assert refusals(f"{OPEN}{ORACLE}version = '1.0'\n")[1] == []


@pytest.mark.parametrize("limit", MODEL_LIMITS)
def test_a_limit_on_model_calls_is_refused_where_there_are_any(limit: str) -> None:
    """Nothing enforces it yet; a harness without a model has nothing to limit and may run."""
    text = f"{OPEN}[limits]\n{limit} = 1\n{ORACLE}"
    assert refusals(text)[1] == []
    first, *_ = refusals(text, adapter(model=True))[1]
    assert (first.loc, limit in first.what) == (("limits", limit), True)


def test_a_harness_that_calls_a_model_is_refused() -> None:
    """It would run without one, which is another measurement."""
    assert the_error(OPEN + ORACLE, adapter(model=True)).startswith('s.toml:3: "oracle" calls a model')
