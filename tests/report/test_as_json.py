"""`--json` says what the tables say, with every denominator."""

import json
from collections.abc import Callable

from hbench.report.as_json import to_json
from hbench.report.summary import JobSummary

Job = Callable[..., JobSummary]


def test_every_rate_stands_beside_its_counts_and_its_interval_beside_its_method(job: Job) -> None:
    """4/5 has the published interval (0.376, 0.964)."""
    found = to_json(job({str(i): [reward] for i, reward in enumerate([1.0, 1.0, 1.0, 1.0, 0.0])}))
    rate = found["trial_rate"]
    assert (rate["rate"], rate["resolved"], rate["trials"], rate["method"]) == (0.8, 4, 5, "wilson, z = 1.96")
    assert [round(end, 3) for end in rate["interval"]] == [0.376, 0.964]


def test_what_is_unknown_is_null_and_not_zero(job: Job) -> None:
    """C7, C13: no cost was reported, no score was earned."""
    found = to_json(job({"a": ["EngineError"]}))
    assert found["mean"] is None
    assert found["all_errored"] is True
    assert found["cost_usd"] == {"total": None, "trials": 0}
    assert found["usage"]["input"] == {"total": None, "trials": 0}
    assert found["agent_time_s"] == {"total": None, "trials": 0, "mean": None}
    assert found["clean_rate"]["interval"] is None


def test_it_is_json_as_it_stands(job: Job) -> None:
    """No key that is not text, no number that is not finite."""
    found = to_json(job({"a": [1.0, 0.5, (0.0, "AgentTimeoutError"), None, 1.0]}))
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert list(found["pass_at_k"]) == ["2", "4", "5"]


def test_it_leaves_nothing_out(job: Job) -> None:
    """Every field of the summary has its key; the basis of the usage stands within it."""
    summary = job({"a": [1.0]})
    assert set(to_json(summary)) == set(vars(summary)) - {"usage_basis"}
    assert to_json(summary)["usage"]["basis"] == "unknown"
