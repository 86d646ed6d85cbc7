"""What an ending means is what docs/endings.md says of it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hbench.results.buckets import bucket, never_got_to_the_agent
from hbench.trial import ending
from hbench.trial.ending import TrialEnding

DOCUMENT = Path(__file__).parents[2] / "docs" / "endings.md"


def rows() -> Iterator[tuple[str, list[str]]]:
    """Each ending of the table with its other cells: reward, bucket, may run again."""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        first, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3:
            yield from ((name, cells) for name in re.findall(r"`(\w+Error)`", first))


TABLE = dict(rows())
CLASSES = [kind for kind in vars(ending).values() if isinstance(kind, type) and issubclass(kind, TrialEnding)]


@pytest.mark.parametrize(("name", "cells"), TABLE.items())
def test_an_ending_falls_into_the_bucket_of_the_table(name: str, cells: list[str]) -> None:
    """With a reward there are two buckets, without one there is one, the type in it where it says so."""
    rewards = [None] if cells[0] == "no" else [1.0, 0.5]
    buckets = [found.replace("<type>", name) for found in re.findall("`(.+?)`", cells[1])]
    assert [bucket(reward, name) for reward in rewards] == buckets


@pytest.mark.parametrize(("name", "cells"), TABLE.items())
def test_only_a_trial_that_never_got_to_its_agent_never_got_to_the_agent(name: str, cells: list[str]) -> None:
    """A cancelled one is run by a resume alone, never by a retry."""
    assert never_got_to_the_agent(name, agent_begun=False) == (cells[2] == "yes, if the agent had not begun")
    assert not never_got_to_the_agent(name, agent_begun=True)


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind is not TrialEnding])
def test_every_ending_without_a_reward_is_in_the_table(kind: type[TrialEnding]) -> None:
    """A new one gets its meaning together with its name."""
    assert TABLE[kind("why").exception_type][0] == "no"


def test_a_model_out_of_reach_is_the_infrastructures_fault_only_before_the_agent_worked() -> None:
    """E01: what an agent breaks once it has begun is the agent's."""
    assert never_got_to_the_agent("ModelUnreachableError", agent_begun=False)
    assert not never_got_to_the_agent("ModelUnreachableError", agent_begun=True)
    assert never_got_to_the_agent("EngineError", agent_begun=False)
    assert not never_got_to_the_agent("EngineError", agent_begun=True)
    assert not never_got_to_the_agent("RewardTamperedError", agent_begun=True)
    assert not never_got_to_the_agent(None, agent_begun=False)
