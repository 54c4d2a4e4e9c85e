"""Reporter: reports the progress of a learner on schedule, and saves its checkpoints.

| output | when |
|---|---|
| metrics | every `metrics_every` episodes |
| policy table | every `policy_every_s` seconds |
| progress | once a second |
| checkpoint | every `checkpoint_every_steps` steps, on request, and at the end |
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.learning.action_values import make_policy_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mosaic_worker import Run
    from spade_bdi_rl_worker.checkpoints.table_saver import TableSaver
    from spade_bdi_rl_worker.learning.learner import EvaluationResult, TableLearner
    from spade_bdi_rl_worker.settings import ReportingSettings
    from spade_bdi_rl_worker.telemetry.sink import TelemetrySink

_PROGRESS_EVERY_S = 1.0


class Reporter:
    """Reports on one learner, from the learner's thread."""

    def __init__(
        self,
        run: Run,
        sink: TelemetrySink,
        saver: TableSaver,
        settings: ReportingSettings,
        *,
        agent_id: str | None = None,
        is_partner: bool = False,
        first_action: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`agent_id` is the learner's agent, if there are several.

        A learner that `is_partner` reports metrics, but not the run's progress and policy.
        `first_action` is the first action of the environment's action space.
        """
        self._run = run
        self._sink = sink
        self._saver = saver
        self._settings = settings
        self._agent_id = agent_id
        self._is_partner = is_partner
        self._first_action = first_action
        self._clock = clock
        self._next_metrics_at = settings.metrics_every
        self._next_policy_at = 0.0
        self._next_progress_at = 0.0
        self._started_at = clock()

    def start(self, learner: TableLearner) -> None:
        self.tick(learner, 0)

    def on_episode_end(self, learner: TableLearner, episodes: int, steps: int) -> None:
        if episodes >= self._next_metrics_at:
            self._next_metrics_at = episodes + self._settings.metrics_every
            self._report_metrics(learner)
        save_step = self._saver.next_save_step
        if save_step is not None and steps >= save_step:
            self._saver.save(learner, "on schedule")

    def tick(self, learner: TableLearner, steps: int) -> None:
        """Report progress and policy if they are due. Called every few milliseconds."""
        if self._is_partner:
            return
        now = self._clock()
        self._run.heartbeat.global_step = steps
        if now >= self._next_progress_at:
            self._next_progress_at = now + _PROGRESS_EVERY_S
            self._report_progress(learner, now)
        if now >= self._next_policy_at:
            self._next_policy_at = now + self._settings.policy_every_s
            self._report_policy(learner, steps)

    def report_evaluation(self, result: EvaluationResult, steps: int) -> None:
        values = {
            "evaluation/return": result.mean_return,
            "evaluation/length": result.mean_length,
            "evaluation/success_rate": result.success_rate,
        }
        self._sink.report_metrics(values, steps, self._agent_id)

    def save(self, learner: TableLearner, reason: str) -> Path:
        return self._saver.save(learner, reason)

    def finish(self, learner: TableLearner) -> None:
        """Report the final metrics, policy table and progress."""
        progress = learner.progress
        if progress.episodes:
            self._report_metrics(learner)
        if not self._is_partner:
            self._report_policy(learner, progress.steps)
            self._report_progress(learner, self._clock())

    def _report_metrics(self, learner: TableLearner) -> None:
        progress = learner.progress
        values = {
            "charts/episodic_return": progress.mean_return,
            "charts/episodic_length": progress.mean_length,
            "charts/success_rate": progress.success_rate,
            "exploration/epsilon": progress.epsilon,
            "exploration/coverage": progress.coverage,
            "losses/td_error": progress.td_error,
        }
        self._sink.report_metrics(values, progress.steps, self._agent_id)

    def _report_progress(self, learner: TableLearner, now: float) -> None:
        progress = learner.progress
        done = progress.fraction
        eta_s = round((now - self._started_at) * (1 - done) / done, 1) if done else None
        if progress.total_episodes is None:
            counts: tuple[Any, ...] = (progress.steps, progress.total_steps, "steps")
        else:
            counts = (progress.episodes, progress.total_episodes, "episodes")
        self._run.emitter.progress(*counts, eta_s=eta_s)

    def _report_policy(self, learner: TableLearner, steps: int) -> None:
        method, kind = learner.method, learner.encoding.kind
        table = make_policy_table(method.values, method.visits, kind, self._first_action)
        if table is not None:
            self._run.emitter.policy(
                **table, step=steps, actor=learner.settings.algo, agent_id=self._agent_id
            )
