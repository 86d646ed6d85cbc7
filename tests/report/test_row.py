"""What is taken from a record, and which trials are infrastructure failures."""

from collections.abc import Callable
from typing import Any

import pytest

from hbench.report.row import TrialRow, is_infrastructure_failure
from hbench.results.record import TrialRecord


def row(**fields: Any) -> TrialRow:
    defaults: dict[str, Any] = {"task": "t", "attempt": 1, "reward": None, "exception_type": None}
    return TrialRow(**defaults | fields)


def silent(**fields: Any) -> TrialRow:
    return row(**{"input_tokens": 0, "output_tokens": 0, "actions": 0, "agent_begun": True} | fields)


def test_a_row_takes_the_headline_reward_and_what_the_agent_spent(record: Callable[..., TrialRecord]) -> None:
    """Other named rewards stay in the record."""
    found = TrialRow.of(record("t", 2, reward=0.5, tokens=(10, 4, 3), cost_usd=0.25, actions=7, agent_time_s=1.5))
    assert (found.task, found.attempt, found.reward, found.bucket) == ("t", 2, 0.5, "failed")
    assert (found.input_tokens, found.output_tokens, found.actions) == (10, 3, 7)
    assert (found.cost_usd, found.agent_time_s) == (0.25, 1.5)


def test_a_trial_that_never_reached_its_agent_has_unknown_figures_not_zeros(
    record: Callable[..., TrialRecord],
) -> None:
    """F03: non-reporting trials are left out of a mean, which a 0 would not be."""
    bare = record("t", 1, reward=None, exception="EnvironmentBuildError", agent_time_s=None)
    found = TrialRow.of(bare.model_copy(update={"agent_result": None}))
    assert (found.input_tokens, found.output_tokens, found.cost_usd, found.agent_time_s) == (None, None, None, None)


@pytest.mark.parametrize(
    "name",
    [
        "EnvironmentBuildError",
        "EnvironmentStartError",
        "HealthcheckError",
        "AgentSetupError",
        "AgentSetupTimeoutError",
        "EgressError",
        "EngineError",
    ],
)
@pytest.mark.parametrize("has_model", [True, False])
def test_a_setup_or_environment_error_is_an_infrastructure_failure(name: str, has_model: bool) -> None:
    """E01, first half: whatever the harness is."""
    assert is_infrastructure_failure(row(exception_type=name), has_model=has_model)


@pytest.mark.parametrize("name", ["AgentAuthenticationError", "ModelUnreachableError"])
def test_a_model_that_cannot_be_reached_is_one_only_before_the_agent_had_begun(name: str) -> None:
    """E01: afterwards the agent had worked, and its trial is graded."""
    assert is_infrastructure_failure(row(exception_type=name), has_model=True)
    assert not is_infrastructure_failure(
        row(exception_type=name, agent_begun=True, input_tokens=900, output_tokens=10), has_model=True
    )


def test_a_rejected_key_is_one_even_when_begun_only_means_that_the_process_ran() -> None:
    """E01: with `direct` access the agent has begun by its start; that it spent nothing tells."""
    trial = silent(exception_type="AgentAuthenticationError", reward=0.0)
    assert is_infrastructure_failure(trial, has_model=True)


@pytest.mark.parametrize("reward", [None, 0.0])
@pytest.mark.parametrize("actions", [0, None])
def test_an_agent_that_neither_spoke_nor_acted_nor_earned_is_one(reward: float | None, actions: int | None) -> None:
    """E01, second half: what a rejected key looks like, also when its tests ran and gave 0."""
    trial = silent(reward=reward, actions=actions, exception_type="NonZeroAgentExitCodeError")
    assert is_infrastructure_failure(trial, has_model=True)


@pytest.mark.parametrize(
    "sign",
    [
        {"reward": 0.1},
        {"actions": 1},
        {"input_tokens": 1},
        {"output_tokens": 1},
        {"input_tokens": None},
        {"output_tokens": None},
    ],
)
def test_one_sign_of_work_or_one_unknown_count_is_enough_not_to_be_one(sign: dict[str, Any]) -> None:
    """E01, C22: unknown tokens are not 0."""
    assert not is_infrastructure_failure(silent(**sign), has_model=True)


@pytest.mark.parametrize("reward", [None, 0.0])
def test_a_harness_without_a_model_spends_no_token_when_all_is_well(reward: float | None) -> None:
    """C22: nop is no infrastructure failure."""
    assert not is_infrastructure_failure(silent(reward=reward), has_model=False)


def test_a_cancelled_trial_did_not_fail() -> None:
    """A person stopped it; the bucket is `not run`."""
    assert not is_infrastructure_failure(silent(exception_type="CancelledError"), has_model=True)


@pytest.mark.parametrize("name", ["RewardFileNotFoundError", "VerifierTimeoutError", "AgentTimeoutError"])
def test_a_broken_verifier_or_a_late_agent_is_no_infrastructure_failure_by_its_name(name: str) -> None:
    """E01 asks whether the agent could work, not whether its work was graded."""
    assert not is_infrastructure_failure(row(exception_type=name, agent_begun=True), has_model=True)
