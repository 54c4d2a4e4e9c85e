"""The loop of a sweep: begins trials, watches their runs, ends hopeless ones, and stops cleanly.

One thread does all of it, a few times a second. What is under way is in the study and in the
daemon's registry; nothing is lost when either the daemon or the sweep is killed.
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
from sweep_worker.objective import Curve
from sweep_worker.pausing import pause_with_children
from sweep_worker.samplers import distributions_of
from sweep_worker.study_file import counted_trials, mark_stopped
from sweep_worker.trial_runs import ActiveTrial, TrialRun

if TYPE_CHECKING:
    import optuna

    from mosaic.client.sweeps.sweep_plan import SweepPlan
    from mosaic.contract.runs import RunRecord
    from mosaic_worker import Run
    from sweep_worker.best import BestConfiguration
    from sweep_worker.daemon_link import DaemonLink
    from sweep_worker.objective import Looks

TRIAL_BEGAN = "W224"
"""A trial began; its fields name its values and its runs."""
TRIAL_COMPLETE = "W225"
"""A trial came to its end with a value."""
TRIAL_PRUNED = "W226"
"""A trial was ended early, because the pruner sees no hope for it."""
TRIAL_FAILED = "W227"
"""A trial failed; the sweep goes on."""
CHILDREN_LEFT = "W228"
"""The sweep stops while the daemon is away, so that its trials' runs go on until it is back."""

_LOOK_S = 0.25
_LOOK_AT_LONG_TRIALS_S = 1.0
_LONG_S = 10.0
"""Where nothing began or ended for so long, looking four times a second is a waste."""
_LAST_WAIT_S = 60.0


class Sweep:
    """One sweep, from its first trial to its preset."""

    def __init__(
        self,
        run: Run,
        plan: SweepPlan,
        looks: Looks,
        study: optuna.Study,
        link: DaemonLink,
        best: BestConfiguration,
        total: int,
    ) -> None:
        self._run = run
        self._params = run.config.params
        self._plan = plan
        self._looks = looks
        self._study = study
        self._link = link
        self._best = best
        self._total = total
        self._distributions = distributions_of(plan.space)
        self._active: list[ActiveTrial] = []
        self._counted = counted_trials(study)
        self._failures: list[str] = []
        self._changed_at = time.monotonic()
        self._ending: set[str] = set()
        """Runs that were told to end and may not have yet."""

    def run_all(self) -> None:
        """Until all trials are done, or nobody wants more of them."""
        began = time.monotonic()
        timeout_s = self._params["timeout_s"] or math.inf
        self._tell_progress()
        try:
            while not self._run.should_stop and not self._has_failed_too_often():
                pause_with_children(self._run, self._link)
                self._look_at_trials()
                if time.monotonic() - began < timeout_s:
                    self._begin_trials()
                if not self._active:
                    break
                is_long = time.monotonic() - self._changed_at > _LONG_S
                self._run.wait(_LOOK_AT_LONG_TRIALS_S if is_long else _LOOK_S)
        except DaemonUnreachableError:
            if not self._run.should_stop:
                raise
        finally:
            self._wrap_up()
        self._judge()

    def _has_failed_too_often(self) -> bool:
        most: int = self._params["max_failures"]
        return len(self._failures) >= most

    # Beginning.

    def _begin_trials(self) -> None:
        while (
            len(self._active) < self._params["parallel"]
            and self._counted + len(self._active) < self._total
            and not self._run.should_stop
            and not self._has_failed_too_often()
        ):
            self._begin_trial()

    def _begin_trial(self) -> None:
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
                return  # only while stopping, which ends the trial
            except TrainerError as error:
                self._fail(active, f"{error.message} {error.remedy}".strip())
                return
            curve = Curve(self._params, self._looks)
            active.runs.append(TrialRun(record, self._params["metric"], curve))
            active.trial.set_user_attr("runs", [run.run_id for run in active.runs])
        self._run.emitter.log(
            "info",
            TRIAL_BEGAN,
            f"Trial {active.number} began.",
            trial=active.number,
            params=active.trial.params,
            runs=[run.run_id for run in active.runs],
        )

    # Watching.

    def _look_at_trials(self) -> None:
        if not self._active:
            return
        alive = self._link.children(self._run.id)
        for active in tuple(self._active):
            for run in active.runs:
                if not run.is_over:
                    run.record = alive.get(run.run_id) or self._final_record(run)
                    if run.has_begun:
                        run.take(self._link.metrics(run.run_id, run.last_line))
            self._judge_trial(active)

    def _final_record(self, run: TrialRun) -> RunRecord:
        try:
            return self._link.record(run.run_id)
        except DaemonUnreachableError:
            raise
        except TrainerError as error:  # somebody has deleted it
            return msgspec.structs.replace(run.record, state=RunState.LOST, reason=error.message)

    def _judge_trial(self, active: ActiveTrial) -> None:
        failed = active.failed_run()
        if failed is not None:
            self._fail(active, _why(failed))
        elif active.is_over:
            self._finish(active)
        elif active.report() and active.trial.should_prune():
            self._prune(active)

    def _finish(self, active: ActiveTrial) -> None:
        silent = active.silent_run()
        metric = self._params["metric"]
        if silent is not None:
            names = ", ".join(self._link.metric_names(silent.run_id)[:20]) or "nothing"
            self._fail(active, f"Its run told nothing of {metric}. It told {names}.")
            return
        active.report()
        worth = active.worth
        if math.isnan(worth):
            self._fail(active, f"Its {metric} is no number.")
            return
        self._study.tell(active.trial, worth)
        self._failures.clear()
        self._run.emitter.log(
            "info",
            TRIAL_COMPLETE,
            f"Trial {active.number} came to {worth:g}.",
            trial=active.number,
            value=worth,
        )
        self._leave(active)
        self._best.update(self._study)
        self._tell_value(active.number, worth)

    def _prune(self, active: ActiveTrial) -> None:
        reason = f"It was pruned by {self._params['pruner']} at step {active.last_place}."
        active.trial.set_user_attr("reason", reason)
        self._study.tell(active.trial, state=TrialState.PRUNED)
        self._failures.clear()
        self._run.emitter.log(
            "info", TRIAL_PRUNED, f"Trial {active.number}: {reason}", trial=active.number
        )
        self._leave(active)
        self._end_runs(active, reason)

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
        self._leave(active)
        self._end_runs(active, f"Trial {active.number} has failed.")

    def _leave(self, active: ActiveTrial) -> None:
        self._active.remove(active)
        self._changed_at = time.monotonic()
        self._counted += 1
        self._tell_progress()

    def _end_runs(self, active: ActiveTrial, reason: str) -> None:
        for run in active.runs:
            if not run.is_over:
                self._ending.add(run.run_id)
                self._link.cancel(run.run_id, reason)

    # Telling.

    def _tell_progress(self) -> None:
        self._run.heartbeat.global_step = self._counted
        self._run.emitter.progress(min(self._counted, self._total), self._total, "trials")

    def _tell_value(self, number: int, worth: float) -> None:
        best = best_trial(self._study)
        values = {"sweep/value": worth}
        if best is not None and best.value is not None:
            values["sweep/best_value"] = best.value
        self._run.emitter.metrics(values, step=number)

    # Ending.

    def _wrap_up(self) -> None:
        """Whatever made it end: no run of a trial goes on, and what was found is kept."""
        reason = self._run.stop_reason or "The sweep has ended."
        # The study first: should this be killed now, a later sweep still knows what to try again.
        for active in self._active:
            mark_stopped(self._study, active.trial, reason)
        try:
            for active in self._active:
                self._end_runs(active, f"Its sweep was stopped: {reason}")
            self._wait_for_ends()
        except TrainerError as error:
            self._run.emitter.log(
                "warning",
                CHILDREN_LEFT,
                f"Runs of this sweep's trials may go on: {error.message}",
            )
        self._best.keep(self._study)

    def _wait_for_ends(self) -> None:
        """Children are over before their sweep is, unless they are slow about it."""
        until = time.monotonic() + _LAST_WAIT_S
        while self._ending and time.monotonic() < until:
            self._ending &= self._link.children(self._run.id).keys()
            if self._ending and self._run.wait(_LOOK_S):
                return  # told to stop: who asked waits for us

    def _judge(self) -> None:
        if self._run.should_stop:
            return
        if self._has_failed_too_often():
            raise WorkerError(
                f"{len(self._failures)} trials failed in a row, the last one so:"
                f" {self._failures[-1]}",
                remedy="Correct what they fail of and go on with `mosaic sweep --resume"
                f" {self._run.id}`.",
            )
        if best_trial(self._study) is None:
            why = f" The last one: {self._failures[-1]}" if self._failures else ""
            raise WorkerError(
                f"None of {self._counted} trials came to a value.{why}",
                remedy="Look at the runs of the trials, and at the metric that is looked for.",
            )


def _why(run: TrialRun) -> str:
    record = run.record
    reason = f"{record.reason} {record.remedy}".strip()
    return f"Its run {run.run_id[-8:]} is {record.state}. {reason}".strip()
