"""The figures of a job for `--json`: every number beside its denominator, every interval beside its method."""

from typing import Any

from hbench.report.summary import JobSummary, KnownSum
from hbench.stats import Proportion

WILSON = "wilson, z = 1.96"


def to_json(summary: JobSummary) -> dict[str, Any]:
    """Plain JSON values; what is unknown or has no data is null."""
    return {
        "tasks": summary.tasks,
        "attempts": summary.attempts,
        "planned": summary.planned,
        "recorded": summary.recorded,
        "with_reward": summary.with_reward,
        "exceptions": summary.exceptions,
        "exceptions_by_type": dict(summary.exceptions_by_type),
        "buckets": dict(summary.buckets),
        "mean": summary.mean,
        "all_errored": summary.all_errored,
        "trial_rate": _proportion(summary.trial_rate),
        "pass_at_k": {str(k): value for k, value in summary.pass_at_k.items()},
        "pass_hat_k": summary.pass_hat_k,
        "every_time": {"tasks": summary.every_time.trials, "solved": summary.every_time.successes},
        "infrastructure": summary.infrastructure,
        "clean_rate": _proportion(summary.clean_rate),
        "continuous_tasks": summary.continuous_tasks,
        "usage": {kind: _known_sum(known) for kind, known in summary.usage.items()} | {"basis": summary.usage_basis},
        "cost_usd": _known_sum(summary.cost_usd),
        "agent_time_s": _known_sum(summary.agent_time_s) | {"mean": summary.agent_time_s.mean},
    }


def _proportion(share: Proportion) -> dict[str, Any]:
    return {
        "rate": share.rate,
        "resolved": share.successes,
        "trials": share.trials,
        "interval": None if share.interval is None else list(share.interval),
        "method": WILSON,
    }


def _known_sum(known: KnownSum) -> dict[str, Any]:
    return {"total": known.total, "trials": known.trials}
