"""What one key of a suite says about another: the rules that types alone cannot state."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hbench.suite.model import OWN_DATASET, Suite
from hbench.tomllines import Location


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Something a suite may not say.

    Attributes:
        loc: Where it stands in the document, as pydantic writes it: `("harness", 1, "version")`.
        what: What is wrong.
        hint: What to write instead.
    """

    loc: Location
    what: str
    hint: str


def one_dataset(suite: Suite) -> Iterator[Refusal]:
    both = suite.dataset.name is not None and suite.dataset.path is not None
    if both or suite.dataset.name is suite.dataset.path is None:
        said = "both a name and a path" if both else "neither a name nor a path"
        yield Refusal(
            loc=("dataset",),
            what=f"[dataset] has {said}",
            hint=f'Say one of them: name = "{OWN_DATASET}" from the catalog, or path = "my-tasks" for a folder.',
        )


def some_harness(suite: Suite) -> Iterator[Refusal]:
    if not suite.harness:
        hint = 'Add [[harness]] with name = "oracle", or give -a oracle.'
        yield Refusal(loc=("harness",), what="the suite names no harness", hint=hint)


def one_source_per_harness(suite: Suite) -> Iterator[Refusal]:
    for index, harness in enumerate(suite.harness):
        if (harness.name is None) == (harness.path is None):
            said = "neither a name nor a path" if harness.name is None else "both a name and a path"
            yield Refusal(
                loc=("harness", index),
                what=f"this [[harness]] has {said}",
                hint='Say one of them: name = "oracle" for a built-in harness, path = "./my-harness" for a folder.',
            )


def no_home_paths(suite: Suite) -> Iterator[Refusal]:
    paths: list[tuple[Location, str | None]] = [
        (("dataset", "path"), suite.dataset.path),
        *((("harness", index, "path"), harness.path) for index, harness in enumerate(suite.harness)),
        (("network", "ca_bundle"), suite.network.ca_bundle),
    ]
    for loc, path in paths:
        if path is not None and (path == "~" or path.startswith("~/")):
            what = f'{loc[-1]} = "{path}": ~ stands for nothing in a suite, which is for others too'
            hint = "Write the path relative to the suite file, or an absolute one."
            yield Refusal(loc=loc, what=what, hint=hint)


def no_model_twice(suite: Suite) -> Iterator[Refusal]:
    names = [model.name for model in suite.model]
    for index, name in enumerate(names):
        if name in names[:index]:
            hint = "Remove one of the two."
            yield Refusal(loc=("model", index, "name"), what=f'the model "{name}" stands in the suite twice', hint=hint)


def no_key_for_tasks(suite: Suite) -> Iterator[Refusal]:
    keys = {model.api_key_env for model in suite.model}
    for index, name in enumerate(suite.env.pass_):
        if name in keys:
            what = f'"{name}" holds a model\'s key, and [env] pass would hand it to tasks'
            yield Refusal(loc=("env", "pass", index), what=what, hint="Remove it from pass.")


def allow_needs_allowlist(suite: Suite) -> Iterator[Refusal]:
    mode = suite.network.mode
    if suite.network.allow and mode != "allowlist":
        hint = f'Remove allow (or --allow), or say mode = "allowlist": with "{mode}" a list of hosts changes nothing.'
        yield Refusal(
            loc=("network", "allow"), what=f'[network] allow and mode = "{mode}" contradict each other', hint=hint
        )


def plain_values(suite: Suite) -> Iterator[Refusal]:
    """Free-form tables go into locks as JSON, which knows no dates and no infinities."""
    tables: list[tuple[Location, dict[str, Any]]] = [
        *((("harness", i, "options"), harness.options) for i, harness in enumerate(suite.harness)),
        *((("model", i, "sampling"), model.sampling) for i, model in enumerate(suite.model)),
    ]
    for loc, table in tables:
        for path in _not_plain(table, loc):
            hint = "Use a string, a finite number, true or false, or a list or table of those."
            yield Refusal(loc=path, what=f'"{path[-1]}" is neither text, number nor truth value', hint=hint)


def _not_plain(value: Any, loc: Location) -> Iterator[Location]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _not_plain(item, (*loc, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_plain(item, (*loc, index))
    elif not (isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))):
        yield loc


RULES: tuple[Callable[[Suite], Iterator[Refusal]], ...] = (
    one_dataset,
    some_harness,
    one_source_per_harness,
    no_home_paths,
    no_model_twice,
    no_key_for_tasks,
    allow_needs_allowlist,
    plain_values,
)
