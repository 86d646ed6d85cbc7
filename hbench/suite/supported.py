"""What a suite may ask for and hbench cannot do yet, in one list.

hbench never runs a suite in a lesser way than it asks for, so each of these is refused with what to write instead.
Whoever builds the missing part removes its row.
"""

from collections.abc import Callable, Iterator, Sequence

from hbench.adapter.model import Adapter
from hbench.suite.model import Suite
from hbench.suite.rules import Refusal

MODEL_LIMITS = ("max_turns", "max_cost_usd", "max_tokens", "max_requests", "max_output_tokens")
"""The keys of `[limits]` that bound how a model is used."""


Harnesses = Sequence[Adapter]
"""The adapter behind each `[[harness]]`, in the suite's order."""


def unsupported(suite: Suite, harnesses: Harnesses) -> Iterator[Refusal]:
    """Everything the suite asks for that is not there yet."""
    for rule in NOT_YET:
        yield from rule(suite, harnesses)


def egress_gate(suite: Suite, _: Harnesses) -> Iterator[Refusal]:
    mode = suite.network.mode
    if mode != "open":
        silent = "" if "mode" in suite.network.model_fields_set else ", which a silent suite asks for,"
        yield Refusal(
            loc=("network", "mode"),
            what=f'network mode "{mode}"{silent} needs the egress gate, which does not exist yet',
            hint='Say mode = "open" in [network], or --network open. '
            "hbench never runs a suite in a lesser way than it asks for.",
        )


def upstream_proxy(suite: Suite, _: Harnesses) -> Iterator[Refusal]:
    if suite.network.upstream_proxy is not None:
        what = "upstream_proxy is the egress gate's way out, and the gate does not exist yet"
        hint = "Remove it: in open mode containers reach the network as the Docker engine is set up to."
        yield Refusal(loc=("network", "upstream_proxy"), what=what, hint=hint)


def holdout(suite: Suite, _: Harnesses) -> Iterator[Refusal]:
    if suite.dataset.holdout:
        what = "reporting held-out tasks apart does not exist yet"
        hint = "Remove holdout, and run these tasks with a suite of their own."
        yield Refusal(loc=("dataset", "holdout"), what=what, hint=hint)


def snapshot_verifier(suite: Suite, _: Harnesses) -> Iterator[Refusal]:
    if suite.verifier.mode == "snapshot":
        what = "grading in a snapshot of the container does not exist yet"
        yield Refusal(loc=("verifier", "mode"), what=what, hint='Say mode = "live" in [verifier], or leave it out.')


def other_versions(suite: Suite, harnesses: Harnesses) -> Iterator[Refusal]:
    for index, (table, adapter) in enumerate(zip(suite.harness, harnesses, strict=True)):
        version = adapter.spec.version
        if table.version not in (None, version):
            yield Refusal(
                loc=("harness", index, "version"),
                what=f'"{adapter.name}" has version {version}, the suite asks for {table.version}, '
                "and installing another one does not exist yet",
                hint=f'Say version = "{version}", or leave it out.',
            )


def model_limits(suite: Suite, harnesses: Harnesses) -> Iterator[Refusal]:
    """A limit on model calls must hold wherever there are any; without any it has nothing to limit."""
    for limit in MODEL_LIMITS:
        if getattr(suite.limits, limit) is not None and any(adapter.spec.model for adapter in harnesses):
            what = f"{limit} is enforced by the model proxy, which does not exist yet"
            yield Refusal(loc=("limits", limit), what=what, hint=f"Remove {limit}, or the harnesses that call a model.")


def model_calls(_: Suite, harnesses: Harnesses) -> Iterator[Refusal]:
    for index, adapter in enumerate(harnesses):
        if adapter.spec.model:
            what = f'"{adapter.name}" calls a model, and hbench has no way yet to hand it one'
            hint = "Remove it: only harnesses whose adapter says model = false can run."
            yield Refusal(loc=("harness", index), what=what, hint=hint)


NOT_YET: tuple[Callable[[Suite, Harnesses], Iterator[Refusal]], ...] = (
    egress_gate,
    upstream_proxy,
    holdout,
    snapshot_verifier,
    other_versions,
    model_limits,
    model_calls,
)
