"""Whether a task may be trusted to judge: oracle earns 1, nothing and every shortcut earn 0. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hbench.results.buckets import CANCELLED, VERIFIER_BROKEN
from hbench.results.record import TrialRecord

Role = Literal["oracle", "nop", "lazy"]
Word = Literal["admitted", "refused", "invalid", "not judged"]
Code = Literal[
    "invalid_task",
    "no_solution",
    "solution_fails",
    "solution_ends_badly",
    "nop_earns",
    "shortcut_works",
    "no_reward",
    "did_not_run",
]

_MOST_NAMES = 3

SHORTCUTS = {
    "lazy-copy": "copying an input file to each output path that the instruction names",
    "lazy-literals": "writing what the instruction quotes to each output path that it names",
    "lazy-asserts": "making the asserts in the test files that the agent can see always true",
    "lazy-history": "checking out the other commits of a git repository",
}

FLAGS = {
    "hidden_paths_removed": "the image holds /tests or /solution; they were removed before the agent began",
    "verifier_exit_nonzero": "tests/test.sh ended with an error status although it wrote 1",
    "reward_is_mean_of_keys": "reward.json names no `reward`; the mean of its keys was taken",
    "reward_from_only_key": "reward.json names no `reward`; its only key was taken",
    "reward_before_tests": "a reward file was there before the tests ran, and was removed",
}
"""Flags of a trial that say something about its task."""

CAUSES = {
    "RewardFileNotFoundError": "tests/test.sh ends before it writes a reward; it must write 0 when a test fails",
    "VerifierTimeoutError": "the tests wait for something that nobody made; they need a limit of their own",
}


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What one harness came to on the task.

    Attributes:
        harness: As people call it: `lazy-copy`, or `baselines/name.sh` for the task's own.
        record: None where the trial never ran.
        folder: Where its files are, as a person would type it.
    """

    harness: str
    role: Role
    record: TrialRecord | None
    folder: str

    @property
    def reward(self) -> float | None:
        return None if self.record is None else self.record.reward

    @property
    def exception_type(self) -> str | None:
        return CANCELLED if self.record is None else self.record.exception_type


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What is known of a task before its trials.

    Attributes:
        fault: Why it is not valid; it then has no trials.
        baseline_reward: What nop and the lazy baselines may earn.
        warnings: What was found without running it.
        errexit: Where its test script turns on `set -e`, if that keeps it from writing a 0.
    """

    name: str
    folder: str
    fault: str | None = None
    has_solution: bool = True
    baseline_reward: float = 0.0
    warnings: tuple[str, ...] = ()
    errexit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why a task is not admitted; `look` is the folder with the evidence."""

    code: Code
    what: str
    look: str


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a task's trials came to; admitted is a task without a reason against it."""

    subject: Subject
    tried: tuple[Tried, ...]
    reasons: tuple[Reason, ...]
    warnings: tuple[str, ...]

    @property
    def word(self) -> Word:
        codes = {reason.code for reason in self.reasons}
        if not codes:
            return "admitted"
        if codes == {"invalid_task"}:
            return "invalid"
        return "not judged" if codes == {"did_not_run"} else "refused"

    def of(self, role: Role) -> Tried | None:
        """The first trial of that role."""
        return next((one for one in self.tried if one.role == role), None)

    @property
    def worst_lazy(self) -> Tried | None:
        """The lazy baseline that earned most; None where none has a reward."""
        rewarded = [one for one in self.tried if one.role == "lazy" and one.reward is not None]
        return max(rewarded, key=lambda one: one.reward or 0.0, default=None)


def judge(subject: Subject, tried: Sequence[Tried]) -> Verdict:
    """The verdict on one task.

    Args:
        tried: A trial of oracle (if the task has a solution), of nop, and of each lazy baseline, in this order.
    """
    if subject.fault is not None:
        reasons = [Reason(code="invalid_task", what=subject.fault, look=subject.folder)]
    else:
        reasons = [
            *_solution(subject, tried),
            *_nothing(subject, tried),
            *_shortcuts(subject, tried),
            *_unjudged(subject, tried),
        ]
    return Verdict(
        subject=subject,
        tried=tuple(tried),
        reasons=tuple(reasons),
        warnings=(*subject.warnings, *_flags(tried), *_broken_off(tried)),
    )


def number(reward: float) -> str:
    """A reward in as few digits as tell it from 0 and 1."""
    short = f"{reward:.3g}"
    return short if float(short) == reward or short not in ("0", "1") else repr(reward)


def _solution(subject: Subject, tried: Sequence[Tried]) -> Iterator[Reason]:
    if not subject.has_solution:
        what = "the task has no solution/solve.sh, so nothing shows that it can be solved"
        yield Reason(code="no_solution", what=what, look=subject.folder)
    for one in tried:
        if one.role != "oracle" or one.reward is None:
            continue
        ended = "" if one.exception_type is None else f"; its end was {_ending(one, also=-1)}"
        if one.reward != 1.0:
            what = f"the solution earns {number(one.reward)}, not 1{ended}"
            yield Reason(code="solution_fails", what=what, look=one.folder)
        elif ended:
            yield Reason(code="solution_ends_badly", what=f"the solution earns 1{ended}", look=one.folder)


def _nothing(subject: Subject, tried: Sequence[Tried]) -> Iterator[Reason]:
    for one in tried:
        if one.role == "nop" and one.reward is not None and one.reward > subject.baseline_reward:
            why = "the task is solved before anyone began" if one.reward == 1.0 else _unless_declared(one.reward)
            what = f"nop earns {number(one.reward)}{_allowed(subject)}: {why}"
            yield Reason(code="nop_earns", what=what, look=one.folder)


def _shortcuts(subject: Subject, tried: Sequence[Tried]) -> Iterator[Reason]:
    """Each lazy baseline that earns more than it may, and more than doing nothing does."""
    nothing = max((one.reward or 0.0 for one in tried if one.role == "nop"), default=0.0)
    for one in tried:
        if one.role == "lazy" and one.reward is not None and one.reward > max(subject.baseline_reward, nothing):
            shortcut = SHORTCUTS.get(one.harness, "the shortcut that it stands for")
            enough = "is enough" if one.reward == 1.0 else f"earns a part; {_unless_declared(one.reward)}"
            what = f"{one.harness} earns {number(one.reward)}{_allowed(subject)}: {shortcut} {enough}"
            yield Reason(code="shortcut_works", what=what, look=one.folder)


def _unjudged(subject: Subject, tried: Sequence[Tried]) -> Iterator[Reason]:
    """Trials without a reward, told once for each way in which they ended."""
    groups: dict[str, list[Tried]] = {}
    for one in tried:
        if one.reward is None:
            groups.setdefault(one.exception_type or CANCELLED, []).append(one)
    for kind, group in groups.items():
        first, who = group[0], _names(group)
        if kind in VERIFIER_BROKEN:
            what = f"{who}: no reward, which is no zero: {_ending(first, also=1)}{_cause(subject, kind)}"
            yield Reason(code="no_reward", what=what, look=first.folder)
        else:
            what = f"{who}: the trial did not run to its end: {_ending(first, also=1)}"
            yield Reason(code="did_not_run", what=what, look=first.folder)


def _cause(subject: Subject, kind: str) -> str:
    if kind == "RewardFileNotFoundError" and subject.errexit is not None:
        return f" Likely cause: `set -e` in {subject.errexit} ends the script at a failing test, before it writes 0."
    return f" Likely cause: {CAUSES[kind]}." if kind in CAUSES else ""


def _ending(one: Tried, *, also: int) -> str:
    """The exception with the first line of its message, and with line number `also` if there are several."""
    if one.record is None or one.record.exception_info is None:
        return "it was stopped before it began"
    lines = one.record.exception_info.exception_message.strip().splitlines() or [""]
    said = [lines[0], lines[also]] if len(lines) > 1 else lines
    return f"{one.record.exception_type}: {'; '.join(line.strip() for line in said)}"


def _allowed(subject: Subject) -> str:
    return f", more than the declared baseline of {number(subject.baseline_reward)}" if subject.baseline_reward else ""


def _unless_declared(reward: float) -> str:
    return f"if that is meant, declare baseline_reward = {reward!r} under [metadata] in task.toml"


def _names(tried: Sequence[Tried]) -> str:
    names = [one.harness for one in tried]
    if len(names) > _MOST_NAMES + 1:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _flags(tried: Sequence[Tried]) -> Iterator[str]:
    for flag, text in FLAGS.items():
        raised = [one for one in tried if one.record is not None and flag in one.record.flags]
        if raised:
            yield f"{text} ({flag}: {_names(raised)})"


def _broken_off(tried: Iterable[Tried]) -> Iterator[str]:
    """A shortcut that fell on its way earns 0 for the wrong reason."""
    for one in tried:
        if one.role == "lazy" and one.reward is not None and one.exception_type is not None:
            yield f"{one.harness} may not have taken its shortcut: {_ending(one, also=-1)}"
