"""From the trials of `hbench validate` to a verdict on each task."""

from hbench.cli.execute import shown_path
from hbench.job.outcome import BatchOutcome, JobOutcome
from hbench.plan.admission import NOP, ORACLE, Admission, Candidate
from hbench.plan.model import TrialPlan
from hbench.report.admission import Role, Subject, Tried, Verdict, judge
from hbench.results.record import TrialRecord


def verdicts_on(asked: Admission, outcome: BatchOutcome | None) -> list[Verdict]:
    """Sorted by task; no outcome where no task could run."""
    tried: dict[str, list[Tried]] = {candidate.name: [] for candidate in asked.candidates}
    for job in () if outcome is None else outcome.jobs:
        records = {record.trial_id: record for record in job.records}
        for trial in job.plan.trials:
            tried[trial.task.name].append(_tried(job, trial, records.get(trial.id)))
    return [judge(_subject(candidate), tried[candidate.name]) for candidate in asked.candidates]


def _subject(candidate: Candidate) -> Subject:
    task = candidate.task
    return Subject(
        name=candidate.name,
        folder=shown_path(candidate.folder),
        fault=candidate.fault,
        has_solution=task is not None and task.solution is not None,
        baseline_reward=candidate.baseline_reward,
        warnings=(*(() if task is None else task.warnings), *candidate.lint.warnings),
        errexit=candidate.lint.errexit,
    )


def _tried(job: JobOutcome, trial: TrialPlan, record: TrialRecord | None) -> Tried:
    adapter = trial.arm.configuration.adapter
    roles: dict[str, Role] = {ORACLE: "oracle", NOP: "nop"}
    return Tried(
        harness=adapter.name if adapter.built_in else f"baselines/{adapter.spec.name}.sh",
        role=roles.get(adapter.name, "lazy"),
        record=record,
        folder=shown_path(job.path / trial.folder),
    )
