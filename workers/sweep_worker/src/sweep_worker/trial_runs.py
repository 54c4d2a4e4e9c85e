"""One trial that is under way: the runs that it consists of, and what they have come to."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from mosaic.contract.run_states import RunState
from sweep_worker.objective import Curve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from optuna.trial import Trial

    from mosaic.contract.events import Metric
    from mosaic.contract.runs import RunRecord


class TrialRun:
    """One of the trial's runs."""

    def __init__(self, record: RunRecord, metric: str, curve: Curve) -> None:
        self.record = record
        self.curve = curve
        self.last_line = -1
        self._metric = metric

    @property
    def run_id(self) -> str:
        return self.record.run_id

    @property
    def has_begun(self) -> bool:
        return self.record.started_at is not None or self.record.state.is_final

    @property
    def is_over(self) -> bool:
        return self.record.state.is_final

    def take(self, lines: Iterable[tuple[int, Metric]]) -> None:
        """The points of the objective among what the run has told."""
        for seq, metric in lines:
            self.last_line = seq
            if metric.values is not None:
                value = metric.values.get(self._metric)
            else:
                value = metric.value if metric.name == self._metric else None
            if value is not None:
                self.curve.add(metric.step, float(value))


class ActiveTrial:
    """A trial and its runs, one for each seed."""

    def __init__(self, trial: Trial) -> None:
        self.trial = trial
        self.runs: list[TrialRun] = []
        self._reported: set[int] = set()

    @property
    def number(self) -> int:
        return self.trial.number

    def failed_run(self) -> TrialRun | None:
        """A run that is over without success."""
        return next(
            (run for run in self.runs if run.is_over and run.record.state != RunState.SUCCEEDED),
            None,
        )

    @property
    def is_over(self) -> bool:
        return all(run.is_over for run in self.runs)

    def silent_run(self) -> TrialRun | None:
        """One that told nothing of the objective."""
        return next((run for run in self.runs if run.curve.worth is None), None)

    @property
    def worth(self) -> float:
        """The mean over its runs; NaN while one has told nothing."""
        worths = [run.curve.worth for run in self.runs]
        return sum(math.nan if worth is None else worth for worth in worths) / len(worths)

    @property
    def last_place(self) -> int:
        """The step of the last report."""
        return max(self._reported)

    def report(self) -> bool:
        """Tells Optuna what is new where all runs are; True when there was something new."""
        places = set.intersection(*(set(run.curve.seen) for run in self.runs)) - self._reported
        for place in sorted(places):
            values = [run.curve.seen[place] for run in self.runs]
            self.trial.report(sum(values) / len(values), place)
        self._reported |= places
        return bool(places)
