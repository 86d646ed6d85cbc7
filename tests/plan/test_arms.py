"""Harnesses times models, each with a label, a digest and a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.adapter.model import Adapter, Configuration
from hbench.errors import AdapterError, SuiteError
from hbench.plan.arms import arms, configurations
from hbench.suite.load import LoadedSuite, parse_suite

MakeAdapter = Callable[..., Adapter]
MakeSuite = Callable[..., LoadedSuite]

MODELS = "[[model]]\nname = 'org/big'\n[[model]]\nname = 'small'\nprovider = 'p'\n"


def configuration(adapter: Adapter, **options: Any) -> Configuration:
    return Configuration(adapter=adapter, options=options)


def test_a_harness_that_calls_a_model_makes_an_arm_with_each(make_adapter: MakeAdapter, make_suite: MakeSuite) -> None:
    """A harness that calls none makes one arm, however many models there are."""
    asked = [configuration(make_adapter("pi", model=True)), configuration(make_adapter("oracle"))]
    found = arms(make_suite(MODELS), asked)
    assert [(arm.label, arm.model and arm.model.name) for arm in found] == [
        ("pi", "org/big"),
        ("pi", "small"),
        ("oracle", None),
    ]
    assert [arm.folder.rpartition("--")[0] for arm in found] == ["pi--org-big", "pi--small", "oracle--none"]
    assert all(arm.folder.endswith(f"--{arm.digest[:8]}") for arm in found)


def test_a_harness_without_the_model_it_calls_is_refused(make_adapter: MakeAdapter, make_suite: MakeSuite) -> None:
    suite = make_suite("[[harness]]\nname = 'pi'\n")
    with pytest.raises(SuiteError, match=r"s.toml:2: .*calls a model, and the suite names none"):
        arms(suite, [configuration(make_adapter("pi", model=True))])


def test_one_harness_with_two_sets_of_options_gets_two_labels(make_adapter: MakeAdapter, make_suite: MakeSuite) -> None:
    """The label is a part of trial ids, so it tells them apart; a harness that stands alone keeps its name."""
    pi = make_adapter("pi", options={"effort": "string"})
    asked = [configuration(pi, effort="low"), configuration(pi, effort="high"), configuration(make_adapter("nop"))]
    low, high, nop = arms(make_suite(), asked)
    assert low.label != high.label
    assert low.label.startswith("pi-")
    assert len(low.label) == len("pi-") + 8
    assert nop.label == "nop"


def test_the_label_of_a_configuration_is_the_same_with_every_model(
    make_adapter: MakeAdapter, make_suite: MakeSuite
) -> None:
    """A configuration is one row of a board."""
    pi = make_adapter("pi", model=True, options={"effort": "string"})
    found = arms(make_suite(MODELS), [configuration(pi, effort="low"), configuration(pi, effort="high")])
    assert len({arm.label for arm in found}) == 2
    assert len({arm.folder for arm in found}) == 4


@pytest.mark.parametrize(
    "changed",
    [{"built": "other"}, {"version": "2.0"}, {"options": 2}, {"model": "temperature = 1"}],
)
def test_whatever_tells_two_arms_apart_changes_the_digest(
    make_adapter: MakeAdapter, make_suite: MakeSuite, changed: dict[str, Any]
) -> None:
    def digest(built: str = "pi", version: str = "1.0", options: int = 1, model: str = "temperature = 0") -> str:
        adapter = make_adapter(built, model=True, version=version, options={"n": "integer"})
        suite = make_suite(f"[[model]]\nname = 'm'\nsampling = {{ {model} }}\n")
        [arm] = arms(suite, [configuration(adapter, n=options)])
        return arm.digest

    assert digest(**changed) != digest()


def test_where_the_key_is_found_does_not_change_the_digest(make_adapter: MakeAdapter, make_suite: MakeSuite) -> None:
    """Two people with differently named variables have the same arm."""
    asked = [configuration(make_adapter("pi", model=True))]
    texts = (f"[[model]]\nname = 'm'\napi_key_env = '{name}'\n" for name in ("KEY", "OTHER_KEY"))
    first, second = (arms(make_suite(text), asked)[0] for text in texts)
    assert first.digest == second.digest


def test_the_same_harness_by_name_and_by_path_is_refused(make_adapter: MakeAdapter, make_suite: MakeSuite) -> None:
    """Two arms with one digest would write into one folder."""
    suite = make_suite("[[harness]]\nname = 'nop'\n[[harness]]\npath = 'adapters/nop'\n")
    with pytest.raises(SuiteError, match=r'^s.toml:4: "nop" stands in the suite twice'):
        arms(suite, [configuration(make_adapter("nop"))] * 2)


def test_a_long_name_makes_a_folder_that_fits(make_adapter: MakeAdapter, make_suite: MakeSuite) -> None:
    """255 bytes are the least that file systems promise."""
    suite = make_suite(f"[[model]]\nname = '{'m' * 200}'\n")
    [arm] = arms(suite, [configuration(make_adapter("h" * 64, model=True))])
    assert len(arm.folder) <= 150


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An adapter folder with options of every type."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "adapter.toml").write_text(
        'format = 1\nname = "mine"\nversion = "3"\ncommand = ["true"]\n'
        '[options]\ns = "string"\ni = "integer"\nn = "number"\nb = "boolean"\n'
    )
    return tmp_path


def asked(base: Path, options: str) -> Configuration:
    text = f"[[harness]]\npath = './mine'\noptions = {{ {options} }}\n"
    [found] = configurations(parse_suite(text, base=base, name="s.toml"))
    return found


def test_a_folder_is_found_beside_the_suite(folder: Path) -> None:
    """Whatever the working directory; its name carries its digest."""
    found = asked(folder, 's = "x", i = 1, n = 1.5, b = true')
    assert found.adapter.name == f"mine@{found.adapter.digest[:12]}"
    assert found.options == {"s": "x", "i": 1, "n": 1.5, "b": True}
    assert asked(folder, "n = 1").options == {"n": 1}


@pytest.mark.parametrize("options", ["s = 1", "i = 1.0", "i = true", "n = true", "n = '1'", "b = 1"])
def test_an_option_of_the_wrong_type_is_refused_at_its_line(folder: Path, options: str) -> None:
    with pytest.raises(SuiteError, match=r"^s.toml:3: the option "):
        asked(folder, options)


def test_an_option_that_the_harness_does_not_have_is_refused(folder: Path) -> None:
    """It would be ignored, and the result would claim it."""
    with pytest.raises(SuiteError, match=r'^s.toml:3: "mine@[0-9a-f]{12}" has no option "z"\n  Known: b, i, n, s.'):
        asked(folder, "z = 1")


def test_an_unknown_harness_is_named_with_its_line_and_the_nearest_one() -> None:
    suite = parse_suite("[[harness]]\nversion = '1'\nname = 'orcale'\n", base=Path(), name="s.toml")
    with pytest.raises(AdapterError) as caught:
        configurations(suite)
    assert str(caught.value).startswith('s.toml:3: no adapter is named "orcale"\n  Known: ')
    assert 'Did you mean "oracle"?' in str(caught.value)
