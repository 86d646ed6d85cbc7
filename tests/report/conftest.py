"""Records and jobs to report on."""

from collections.abc import Callable, Mapping, Sequence
from uuid import uuid4

import pytest

from hbench.report.row import TrialRow
from hbench.report.summary import JobSummary, summarise
from hbench.results.record import (
    TRIAL_FORMAT,
    AgentInfo,
    AgentResult,
    ExceptionInfo,
    Timing,
    TrialRecord,
    Usage,
    VerifierResult,
)

Ending = float | str | tuple[float, str] | None


def _record(
    task: str,
    attempt: int,
    *,
    reward: float | None = 1.0,
    exception: str | None = None,
    agent_begun: bool = True,
    tokens: tuple[int | None, int | None, int | None] = (None, None, None),
    cost_usd: float | None = None,
    actions: int | None = None,
    agent_time_s: float | None = 2.0,
    usage: Usage | None = None,
) -> TrialRecord:
    return TrialRecord(
        format=TRIAL_FORMAT,
        id=str(uuid4()),
        trial_id=f"{task}/a/{attempt}",
        task_name=task,
        trial_name=f"{task}__{attempt}",
        task_checksum="0" * 64,
        attempt=attempt,
        agent_info=AgentInfo(name="a", version="1"),
        agent_result=AgentResult(
            n_input_tokens=tokens[0], n_cache_tokens=tokens[1], n_output_tokens=tokens[2], cost_usd=cost_usd
        ),
        verifier_result=None if reward is None else VerifierResult(rewards={"reward": reward, "speed": 0.25}),
        exception_info=exception and ExceptionInfo(exception_type=exception, exception_message="it went wrong"),
        started_at="2026-01-01T00:00:00Z",
        finished_at="2026-01-01T00:00:09Z",
        environment_setup=None,
        agent_setup=None,
        agent_execution=agent_time_s
        and Timing(started_at="2026-01-01T00:00:01Z", finished_at="2026-01-01T00:00:03Z", duration_s=agent_time_s),
        verifier=None,
        usage=usage or Usage(),
        actions=actions,
        agent_begun=agent_begun,
    )


def _trials(endings: Mapping[str, Sequence[Ending]]) -> tuple[list[TrialRow], list[tuple[str, int]]]:
    rows: list[TrialRow] = []
    planned: list[tuple[str, int]] = []
    for task, attempts in endings.items():
        for attempt, ending in enumerate(attempts, start=1):
            planned.append((task, attempt))
            if ending is None:
                continue
            reward, exception = ending if isinstance(ending, tuple) else (ending, None)
            if isinstance(reward, str):
                rows.append(TrialRow(task=task, attempt=attempt, reward=None, exception_type=reward))
            else:
                rows.append(TrialRow(task=task, attempt=attempt, reward=reward, exception_type=exception))
    return rows, planned


def _job(endings: Mapping[str, Sequence[Ending]], *, has_model: bool = False) -> JobSummary:
    rows, planned = _trials(endings)
    return summarise(rows, planned=planned, has_model=has_model)


@pytest.fixture
def record() -> Callable[..., TrialRecord]:
    """A trial's record: `record(task, attempt, reward=, exception=, ...)`."""
    return _record


@pytest.fixture(scope="session")
def trials() -> Callable[..., tuple[list[TrialRow], list[tuple[str, int]]]]:
    """Rows and plan from endings: a reward, an exception's name, both, or None for a trial without a record."""
    return _trials


@pytest.fixture(scope="session")
def job() -> Callable[..., JobSummary]:
    """A job's figures from its endings, as for `trials`."""
    return _job
