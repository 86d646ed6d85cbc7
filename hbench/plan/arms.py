"""Harnesses and models to arms."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hbench.adapter import find
from hbench.adapter.model import Adapter, Configuration
from hbench.errors import AdapterError
from hbench.plan.model import Arm
from hbench.plan.names import cleaned
from hbench.suite.load import LoadedSuite
from hbench.suite.model import HarnessTable, ModelEntry
from hbench.suite.rules import Refusal
from hbench.tomlfile import nearest

_PART_WIDTH = 64
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def configurations(loaded: LoadedSuite) -> list[Configuration]:
    """What each `[[harness]]` of the suite asks for, in its order.

    Raises:
        AdapterError: No such harness, or its folder cannot be used.
        SuiteError: The harness has no such option.
    """
    return [_configuration(loaded, index, table) for index, table in enumerate(loaded.suite.harness)]


def _configuration(loaded: LoadedSuite, index: int, table: HarnessTable) -> Configuration:
    key = "name" if table.path is None else "path"
    try:
        adapter = find.find(table.name or "") if table.path is None else find.load(loaded.base / table.path)
    except AdapterError as problem:
        if problem.where is not None:
            raise
        raise AdapterError(problem.what, where=loaded.where(("harness", index, key)), hint=problem.hint) from problem
    for refusal in _wrong_options(adapter, index, table.options):
        raise loaded.error(refusal)
    return Configuration(adapter=adapter, options=table.options)


def _wrong_options(adapter: Adapter, index: int, options: Mapping[str, Any]) -> Iterator[Refusal]:
    declared = adapter.spec.options
    for key, value in options.items():
        loc = ("harness", index, "options", key)
        if key not in declared:
            hint = nearest(key, list(declared)) if declared else "It has none; remove it."
            yield Refusal(loc=loc, what=f'"{adapter.name}" has no option "{key}"', hint=hint)
        elif type(value) not in _TYPES[declared[key]]:
            what = f'the option "{key}" of "{adapter.name}" is a {declared[key]}'
            yield Refusal(loc=loc, what=what, hint=f"It says {value!r}; correct it.")


def arms(loaded: LoadedSuite, asked: Sequence[Configuration]) -> list[Arm]:
    """Each configuration with each model, or alone where its harness calls none.

    Raises:
        SuiteError: A harness that calls a model has none, or two arms are the same.
    """
    labels = _labels(asked)
    found: dict[str, Arm] = {}
    for index, (configuration, label) in enumerate(zip(asked, labels, strict=True)):
        name = configuration.adapter.name
        if configuration.adapter.spec.model and not loaded.suite.model:
            what, hint = f'"{name}" calls a model, and the suite names none', "Add [[model]], or give -m MODEL."
            raise loaded.error(Refusal(loc=("harness", index), what=what, hint=hint))
        for model in loaded.suite.model if configuration.adapter.spec.model else [None]:
            arm = _arm(configuration, model, label)
            if arm.digest in found:
                what = f'"{name}" stands in the suite twice'
                hint = "Remove one of the two, or give it other options; more attempts are [suite] attempts."
                raise loaded.error(Refusal(loc=("harness", index), what=what, hint=hint))
            found[arm.digest] = arm
    return list(found.values())


def _labels(asked: Sequence[Configuration]) -> list[str]:
    """The harness's name; with 8 hex of the configuration's digest where the name stands in the suite twice."""
    names = Counter(configuration.adapter.name for configuration in asked)
    return [
        c.adapter.name if names[c.adapter.name] == 1 else f"{c.adapter.name}-{_digest(_said(c))[:8]}" for c in asked
    ]


def _arm(configuration: Configuration, model: ModelEntry | None, label: str) -> Arm:
    # The name of the variable that holds the key is this machine's affair, not the arm's.
    said = None if model is None else model.model_dump(mode="json", exclude={"api_key_env"})
    digest = _digest({**_said(configuration), "model": said})
    harness = cleaned(configuration.adapter.name, _PART_WIDTH)
    served = "none" if model is None else cleaned(model.name, _PART_WIDTH)
    folder = f"{harness}--{served}--{digest[:8]}"
    return Arm(label=label, folder=folder, digest=digest, configuration=configuration, model=model)


def _said(configuration: Configuration) -> dict[str, Any]:
    adapter = configuration.adapter
    return {
        "harness": adapter.name,
        "version": adapter.spec.version,
        "adapter_digest": adapter.digest,
        "options": dict(configuration.options),
    }


def _digest(value: Any) -> str:
    """sha256 hex of the value as canonical JSON: keys sorted, no blanks, ASCII."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
