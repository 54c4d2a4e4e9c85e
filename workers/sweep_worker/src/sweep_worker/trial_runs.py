"""ActiveTrial: a running trial, its runs, and their objective values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mosaic.contract.run_states import RunState
from sweep_worker.objective import ObjectiveCurve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from optuna.trial import Trial

    from mosaic.contract.events import Metric
    from mosaic.contract.runs import RunRecord


class TrialRun:
    """One run of a trial."""

    def __init__(self, record: RunRecord, metric: str, curve: ObjectiveCurve) -> None:
        self.record = record
        self.curve = curve
        self.last_line = -1
        self._metric = metric

    @property
    def run_id(self) -> str:
        return self.record.run_id

    @property
    def has_started(self) -> bool:
        return self.record.started_at is not None or self.record.state.is_final

    @property
    def is_finished(self) -> bool:
        return self.record.state.is_final

    def add_metrics(self, lines: Iterable[tuple[int, Metric]]) -> None:
        """Add the points of the objective from new metric lines."""
        for seq, metric in lines:
            self.last_line = seq
            if metric.values is not None:
                value = metric.values.get(self._metric)
            else:
                value = metric.value if metric.name == self._metric else None
            if value is not None:
                self.curve.add(metric.step, float(value))


class ActiveTrial:
    """A trial and its runs, one per seed."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.runs: list[TrialRun] = []
        self._reported: set[int] = set()

    @property
    def number(self) -> int:
        return self.trial.number

    def failed_run(self) -> TrialRun | None:
        """A run that finished without success."""
        return next(
            (
                run
                for run in self.runs
                if run.is_finished and run.record.state != RunState.SUCCEEDED
            ),
            None,
        )

    @property
    def is_finished(self) -> bool:
        return all(run.is_finished for run in self.runs)

    def run_without_value(self) -> TrialRun | None:
        """A run without values of the objective."""
        return next((run for run in self.runs if run.curve.value is None), None)

    @property
    def value(self) -> float:
        """The mean over its runs; NaN while one has no value."""
        values = [run.curve.value for run in self.runs]
        return sum(math.nan if value is None else value for value in values) / len(values)

    @property
    def last_step(self) -> int:
        """The step of the last report."""
        return max(self._reported)

    def report(self) -> bool:
        """Report new steps that all runs have reached to Optuna; True if there were any."""
        steps = set.intersection(*(set(run.curve.reports) for run in self.runs)) - self._reported
        for step in sorted(steps):
            values = [run.curve.reports[step] for run in self.runs]
            self.trial.report(sum(values) / len(values), step)
        self._reported |= steps
        return bool(steps)
