"""Which tasks are admitted, and what is said against the others."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.report.admission import Role, Subject, Tried, Verdict, judge, number
from hbench.results.record import TrialRecord
from tests.report.conftest import _record

Judged = Callable[..., Verdict]
Ending = float | str | tuple[float, str] | None
LAZY = ("lazy-asserts", "lazy-copy", "lazy-history", "lazy-literals")


@pytest.fixture
def judged(record: Callable[..., TrialRecord]) -> Judged:
    """The verdict where the harnesses ended as given: a reward, an exception, both, or None where it never ran."""

    def tried(harness: str, ending: Ending, flags: tuple[str, ...]) -> Tried:
        roles: dict[str, Role] = {"oracle": "oracle", "nop": "nop"}
        reward, exception = ending if isinstance(ending, tuple) else (ending, None)
        if isinstance(reward, str):
            reward, exception = None, reward
        known = None if ending is None else record("greet", 1, reward=reward, exception=exception)
        known = known and known.model_copy(update={"flags": list(flags)})
        return Tried(harness=harness, role=roles.get(harness, "lazy"), record=known, folder=f"jobs/{harness}")

    def judge_it(
        endings: dict[str, Ending] | None = None, *, flags: dict[str, tuple[str, ...]] | None = None, **subject: Any
    ) -> Verdict:
        sound: dict[str, Ending] = {"oracle": 1.0, "nop": 0.0, **dict.fromkeys(LAZY, 0.0)}
        trials = [tried(name, one, (flags or {}).get(name, ())) for name, one in {**sound, **(endings or {})}.items()]
        return judge(Subject(name="greet", folder="tasks/greet", **subject), trials)

    return judge_it


def codes(verdict: Verdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


def test_a_sound_task_is_admitted(judged: Judged) -> None:
    """Oracle 1, nop 0, every shortcut 0 (T11, T12)."""
    verdict = judged()
    assert (verdict.word, verdict.reasons, verdict.warnings) == ("admitted", (), ())


def test_a_shortcut_that_works_is_named_with_what_it_does(judged: Judged) -> None:
    """The weak verifier that passes the gate of oracle and nop."""
    verdict = judged({"lazy-copy": 1.0})
    assert (verdict.word, codes(verdict)) == ("refused", ["shortcut_works"])
    assert verdict.reasons[0].what.startswith("lazy-copy earns 1: copying an input file to each output path")
    assert verdict.reasons[0].look == "jobs/lazy-copy"
    assert verdict.worst_lazy is not None
    assert verdict.worst_lazy.harness == "lazy-copy"


def test_every_shortcut_that_works_is_a_reason_of_its_own(judged: Judged) -> None:
    """They are mended in different places."""
    verdict = judged({"lazy-history": 1.0, "lazy-literals": 0.5, "baselines/guess.sh": 1.0})
    assert [reason.look for reason in verdict.reasons] == [
        "jobs/lazy-history",
        "jobs/lazy-literals",
        "jobs/baselines/guess.sh",
    ]
    assert "declare baseline_reward = 0.5" in verdict.reasons[1].what
    assert verdict.reasons[2].what.startswith("baselines/guess.sh earns 1: the shortcut that it stands for")


def test_a_task_that_is_solved_already_is_one_fault_and_not_five(judged: Judged) -> None:
    """Shortcuts that earn no more than doing nothing does are no news."""
    verdict = judged({"nop": 1.0, **dict.fromkeys(LAZY, 1.0)})
    assert codes(verdict) == ["nop_earns"]
    assert "solved before anyone began" in verdict.reasons[0].what


def test_a_declared_baseline_is_what_nop_and_shortcuts_may_earn(judged: Judged) -> None:
    """And not a bit more."""
    assert judged({"nop": 0.25, "lazy-copy": 0.25}, baseline_reward=0.25).word == "admitted"
    verdict = judged({"nop": 0.25, "lazy-copy": 0.3}, baseline_reward=0.25)
    assert codes(verdict) == ["shortcut_works"]
    assert "more than the declared baseline of 0.25" in verdict.reasons[0].what
    assert codes(judged({"nop": 0.3}, baseline_reward=0.25)) == ["nop_earns"]


@pytest.mark.parametrize("reward", [0.0, 0.5, 0.9999999])
def test_a_solution_must_earn_exactly_1(judged: Judged, reward: float) -> None:
    """Nearly is not resolved (P15)."""
    verdict = judged({"oracle": reward})
    assert codes(verdict) == ["solution_fails"]
    assert f"earns {reward:.7g}, not 1" in verdict.reasons[0].what


@pytest.mark.parametrize("exception", ["AgentTimeoutError", "NonZeroAgentExitCodeError"])
def test_a_solution_must_end_well_too(judged: Judged, exception: str) -> None:
    """One that hangs after its work would time out every time."""
    verdict = judged({"oracle": (1.0, exception)})
    assert codes(verdict) == ["solution_ends_badly"]
    assert f"{exception}: it went wrong" in verdict.reasons[0].what


def test_a_solution_that_breaks_off_says_how(judged: Judged) -> None:
    """Both things are told: what it earned and how it ended."""
    verdict = judged({"oracle": (0.0, "NonZeroAgentExitCodeError")})
    assert codes(verdict) == ["solution_fails"]
    assert "earns 0, not 1; its end was NonZeroAgentExitCodeError: it went wrong" in verdict.reasons[0].what


def test_no_reward_is_no_zero(judged: Judged) -> None:
    """0 trials and 1 exception is not a real zero (T11); the likely cause is named with its line (T15)."""
    broken: dict[str, Ending] = dict.fromkeys(("nop", *LAZY), "RewardFileNotFoundError")
    verdict = judged(broken, errexit="tests/test.sh:2")
    assert (verdict.word, codes(verdict)) == ("refused", ["no_reward"])
    said = verdict.reasons[0].what
    assert said.startswith(
        "nop, lazy-asserts, lazy-copy and 2 more: no reward, which is no zero: RewardFileNotFoundError"
    )
    assert "`set -e` in tests/test.sh:2" in said
    assert "`set -e`" not in judged(broken).reasons[0].what
    assert "must write 0" in judged(broken).reasons[0].what


def test_tests_that_break_on_one_shortcut_only_are_named(judged: Judged) -> None:
    """Strange output must earn 0 too, not break what judges it."""
    verdict = judged({"lazy-copy": "VerifierTimeoutError"})
    assert codes(verdict) == ["no_reward"]
    assert verdict.reasons[0].what.startswith("lazy-copy: no reward")
    assert "a limit of their own" in verdict.reasons[0].what


def test_a_machine_that_fails_judges_nothing(judged: Judged) -> None:
    """Neither admitted nor refused; told once, however many trials it hit."""
    everything: dict[str, Ending] = dict.fromkeys(("oracle", "nop", *LAZY), "EnvironmentBuildError")
    verdict = judged(everything)
    assert (verdict.word, codes(verdict)) == ("not judged", ["did_not_run"])
    assert judged({"nop": None}).word == "not judged"
    assert judged({"nop": "EngineError", "oracle": 0.0}).word == "refused"


def test_a_task_without_a_solution_cannot_be_admitted(record: Callable[..., TrialRecord]) -> None:
    """Nothing shows that it can be solved."""
    nop = Tried(harness="nop", role="nop", record=record("greet", 1, reward=0.0), folder="jobs/nop")
    verdict = judge(Subject(name="greet", folder="tasks/greet", has_solution=False), [nop])
    assert (verdict.word, codes(verdict)) == ("refused", ["no_solution"])
    assert verdict.of("oracle") is None


def test_an_invalid_task_is_told_as_such() -> None:
    """With what is wrong with it; it has no trials."""
    verdict = judge(Subject(name="greet", folder="tasks/greet", fault="task.toml:3: no"), [])
    assert (verdict.word, codes(verdict)) == ("invalid", ["invalid_task"])
    assert verdict.reasons[0].what == "task.toml:3: no"


def test_flags_about_the_task_are_warnings(judged: Judged) -> None:
    """Each once, with the harnesses that raised it; those about an agent are not shown."""
    flags = {
        "oracle": ("hidden_paths_removed", "verifier_exit_nonzero"),
        "nop": ("hidden_paths_removed", "artifact_missing"),
    }
    verdict = judged(flags=flags, warnings=("instruction.md:1: x",))
    assert verdict.word == "admitted"
    assert [warning.rpartition("(")[2] for warning in verdict.warnings] == [
        "instruction.md:1: x",
        "hidden_paths_removed: oracle and nop)",
        "verifier_exit_nonzero: oracle)",
    ]


def test_a_shortcut_that_fell_on_its_way_is_a_warning(judged: Judged) -> None:
    """It earned 0 for the wrong reason."""
    verdict = judged({"baselines/guess.sh": (0.0, "NonZeroAgentExitCodeError")})
    assert verdict.word == "admitted"
    assert verdict.warnings == (
        "baselines/guess.sh may not have taken its shortcut: NonZeroAgentExitCodeError: it went wrong",
    )


def tried(role: Role, reward: float) -> Tried:
    return Tried(harness=role, role=role, record=_record("t", 1, reward=reward), folder="f")


@given(oracle=st.floats(0, 1), nop=st.floats(0, 1), lazy=st.floats(0, 1), baseline=st.floats(0, 1, exclude_max=True))
def test_admitted_means_that_the_figures_say_so(oracle: float, nop: float, lazy: float, baseline: float) -> None:
    """In one line, from the figures alone."""
    trials = [tried("oracle", oracle), tried("nop", nop), tried("lazy", lazy)]
    verdict = judge(Subject(name="t", folder="t", baseline_reward=baseline), trials)
    assert (verdict.word == "admitted") == (oracle == 1.0 and max(nop, lazy) <= baseline)


@given(st.floats(0, 1))
def test_a_number_never_looks_like_another_verdict(reward: float) -> None:
    """0 and 1 are shown only for what is 0 and 1."""
    assert (number(reward) == "1") == (reward == 1.0)
    assert (number(reward) in ("0", "-0")) == (reward == 0.0)
