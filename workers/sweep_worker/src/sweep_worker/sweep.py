"""Sweep: the loop that starts trials, polls their runs, prunes them, and stops cleanly.

A single thread polls a few times per second. All state is in the study and in the daemon's
registry, so nothing is lost if the daemon or the sweep is killed.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import msgspec
from optuna.trial import TrialState

from mosaic.client.errors import DaemonUnreachableError, TrainerError
from mosaic.client.sweeps.sweep_plan import make_trial_config
from mosaic.contract.run_states import RunState
from mosaic_worker import WorkerError
from sweep_worker.best import best_trial
from sweep_worker.daemon_link import pause_with_children
from sweep_worker.objective import ObjectiveCurve
from sweep_worker.search_algorithms import make_distributions
from sweep_worker.study_file import count_trials, mark_stopped
from sweep_worker.trial_runs import ActiveTrial, TrialRun

if TYPE_CHECKING:
    import optuna

    from mosaic.client.sweeps.sweep_plan import SweepPlan
    from mosaic.contract.runs import RunRecord
    from mosaic_worker import Run
    from sweep_worker.best import BestConfiguration
    from sweep_worker.daemon_link import DaemonLink
    from sweep_worker.objective import ReportSchedule

TRIAL_STARTED = "W224"
"""A trial started; its fields contain its values and its runs."""
TRIAL_COMPLETE = "W225"
"""A trial completed with a value."""
TRIAL_PRUNED = "W226"
"""A trial was stopped early by the pruner."""
TRIAL_FAILED = "W227"
"""A trial failed; the sweep continues."""
RUNS_NOT_STOPPED = "W228"
"""The sweep stops while the daemon is unreachable, so runs of its trials may continue."""

_POLL_S = 0.25
_SLOW_POLL_S = 1.0
_SLOW_AFTER_S = 10.0
"""After this time without changes, trials are polled less often."""
_STOP_TIMEOUT_S = 60.0


class Sweep:
    """One sweep, from the first trial to the preset."""

    def __init__(
        self,
        run: Run,
        plan: SweepPlan,
        schedule: ReportSchedule,
        study: optuna.Study,
        link: DaemonLink,
        best: BestConfiguration,
        total: int,
    ) -> None:
        self._run = run
        self._params = run.config.params
        self._plan = plan
        self._schedule = schedule
        self._study = study
        self._link = link
        self._best = best
        self._total = total
        self._distributions = make_distributions(plan.space)
        self._active: list[ActiveTrial] = []
        self._finished_count = count_trials(study)
        self._failures: list[str] = []
        self._changed_at = time.monotonic()
        self._cancelled: set[str] = set()
        """Runs that were cancelled and may not have ended yet."""

    def run_all(self) -> None:
        """Run until all trials are done, the time limit is reached, or a stop is requested."""
        started_at = time.monotonic()
        timeout_s = self._params["timeout_s"] or math.inf
        self._report_progress()
        try:
            while not self._run.should_stop and not self._has_failed_too_often():
                pause_with_children(self._run, self._link)
                self._poll_trials()
                if time.monotonic() - started_at < timeout_s:
                    self._start_trials()
                if not self._active:
                    break
                is_slow = time.monotonic() - self._changed_at > _SLOW_AFTER_S
                self._run.wait(_SLOW_POLL_S if is_slow else _POLL_S)
        except DaemonUnreachableError:
            if not self._run.should_stop:
                raise
        finally:
            self._shut_down()
        self._raise_failure()

    def _has_failed_too_often(self) -> bool:
        limit: int = self._params["max_failures"]
        return len(self._failures) >= limit

    # Starting trials.

    def _start_trials(self) -> None:
        while (
            len(self._active) < self._params["parallel"]
            and self._finished_count + len(self._active) < self._total
            and not self._run.should_stop
            and not self._has_failed_too_often()
        ):
            self._start_trial()

    def _start_trial(self) -> None:
        active = ActiveTrial(self._study.ask(self._distributions))
        self._active.append(active)
        self._changed_at = time.monotonic()
        for repeat in range(self._params["seeds"]):
            config = make_trial_config(
                self._plan,
                active.trial.params,
                sweep_run=self._run.id,
                trial=active.number,
                repeat=repeat,
            )
            try:
                record = self._link.submit(config, f"{self._run.id}-trial-{active.number}-{repeat}")
            except DaemonUnreachableError:
                return  # a stop was requested, which ends the trial
            except TrainerError as error:
                self._fail(active, f"{error.message} {error.remedy}".strip())
                return
            curve = ObjectiveCurve(self._params, self._schedule)
            active.runs.append(TrialRun(record, self._params["metric"], curve))
            active.trial.set_user_attr("runs", [run.run_id for run in active.runs])
        self._run.emitter.log(
            "info",
            TRIAL_STARTED,
            f"Trial {active.number} started.",
            trial=active.number,
            params=active.trial.params,
            runs=[run.run_id for run in active.runs],
        )

    # Polling.

    def _poll_trials(self) -> None:
        if not self._active:
            return
        alive = self._link.children(self._run.id)
        for active in tuple(self._active):
            for run in active.runs:
                if not run.is_finished:
                    run.record = alive.get(run.run_id) or self._final_record(run)
                    if run.has_started:
                        run.add_metrics(self._link.metrics(run.run_id, run.last_line))
            self._update_trial(active)

    def _final_record(self, run: TrialRun) -> RunRecord:
        try:
            return self._link.record(run.run_id)
        except DaemonUnreachableError:
            raise
        except TrainerError as error:  # the run was deleted
            return msgspec.structs.replace(run.record, state=RunState.LOST, reason=error.message)

    def _update_trial(self, active: ActiveTrial) -> None:
        failed = active.failed_run()
        if failed is not None:
            self._fail(active, _failure_reason(failed))
        elif active.is_finished:
            self._finish(active)
        elif active.report() and active.trial.should_prune():
            self._prune(active)

    def _finish(self, active: ActiveTrial) -> None:
        empty = active.run_without_value()
        metric = self._params["metric"]
        if empty is not None:
            names = ", ".join(self._link.metric_names(empty.run_id)[:20]) or "none"
            self._fail(active, f"Its run has no metric {metric}. Its metrics: {names}.")
            return
        active.report()
        value = active.value
        if math.isnan(value):
            self._fail(active, f"Its {metric} is NaN.")
            return
        self._study.tell(active.trial, value)
        self._failures.clear()
        self._run.emitter.log(
            "info",
            TRIAL_COMPLETE,
            f"Trial {active.number} completed with {value:g}.",
            trial=active.number,
            value=value,
        )
        self._remove(active)
        self._best.update(self._study)
        self._report_value(active.number, value)

    def _prune(self, active: ActiveTrial) -> None:
        reason = f"It was pruned by {self._params['pruner']} at step {active.last_step}."
        active.trial.set_user_attr("reason", reason)
        self._study.tell(active.trial, state=TrialState.PRUNED)
        self._failures.clear()
        self._run.emitter.log(
            "info", TRIAL_PRUNED, f"Trial {active.number}: {reason}", trial=active.number
        )
        self._remove(active)
        self._cancel_runs(active, reason)

    def _fail(self, active: ActiveTrial, reason: str) -> None:
        active.trial.set_user_attr("reason", reason)
        self._study.tell(active.trial, state=TrialState.FAIL)
        self._failures.append(reason)
        self._run.emitter.log(
            "warning",
            TRIAL_FAILED,
            f"Trial {active.number} failed: {reason}",
            trial=active.number,
        )
        self._remove(active)
        self._cancel_runs(active, f"Trial {active.number} has failed.")

    def _remove(self, active: ActiveTrial) -> None:
        self._active.remove(active)
        self._changed_at = time.monotonic()
        self._finished_count += 1
        self._report_progress()

    def _cancel_runs(self, active: ActiveTrial, reason: str) -> None:
        for run in active.runs:
            if not run.is_finished:
                self._cancelled.add(run.run_id)
                self._link.cancel(run.run_id, reason)

    # Reporting.

    def _report_progress(self) -> None:
        self._run.heartbeat.global_step = self._finished_count
        self._run.emitter.progress(min(self._finished_count, self._total), self._total, "trials")

    def _report_value(self, number: int, value: float) -> None:
        best = best_trial(self._study)
        values = {"sweep/value": value}
        if best is not None and best.value is not None:
            values["sweep/best_value"] = best.value
        self._run.emitter.metrics(values, step=number)

    # Stopping.

    def _shut_down(self) -> None:
        """End the runs of all trials, and save the best configuration."""
        reason = self._run.stop_reason or "The sweep has ended."
        # The study first, so that a resumed sweep knows the trials to repeat even after a kill.
        for active in self._active:
            mark_stopped(self._study, active.trial, reason)
        try:
            for active in self._active:
                self._cancel_runs(active, f"Its sweep was stopped: {reason}")
            self._wait_for_cancelled()
        except TrainerError as error:
            self._run.emitter.log(
                "warning",
                RUNS_NOT_STOPPED,
                f"Runs of this sweep may still be running: {error.message}",
            )
        self._best.save_preset(self._study)

    def _wait_for_cancelled(self) -> None:
        """Wait until the cancelled runs have ended, for a limited time."""
        deadline = time.monotonic() + _STOP_TIMEOUT_S
        while self._cancelled and time.monotonic() < deadline:
            self._cancelled &= self._link.children(self._run.id).keys()
            if self._cancelled and self._run.wait(_POLL_S):
                return  # a stop was requested

    def _raise_failure(self) -> None:
        if self._run.should_stop:
            return
        if self._has_failed_too_often():
            raise WorkerError(
                f"{len(self._failures)} trials failed in a row. The last one: {self._failures[-1]}",
                remedy=f"Correct the cause and resume with `mosaic sweep --resume {self._run.id}`.",
            )
        if best_trial(self._study) is None:
            reason = f" The last one: {self._failures[-1]}" if self._failures else ""
            raise WorkerError(
                f"None of {self._finished_count} trials has a value.{reason}",
                remedy="Check the runs of the trials, and the name of the metric.",
            )


def _failure_reason(run: TrialRun) -> str:
    record = run.record
    reason = f"{record.reason} {record.remedy}".strip()
    return f"Its run {run.run_id[-8:]} is {record.state}. {reason}".strip()
