"""Reporter: tells how a learner gets on, on its schedules, and has its table saved.

| what | when |
|---|---|
| figures (`metric`) | every so many episodes |
| the table (`policy`), progress, the heartbeat's step | once a second |
| a checkpoint | every so many steps, when told to, and at the end |
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.learning.drawn_table import drawn_table

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mosaic_worker import Run
    from spade_bdi_rl_worker.checkpoints.keeper import CheckpointKeeper
    from spade_bdi_rl_worker.learning.learner import Learner, Score
    from spade_bdi_rl_worker.settings import TellingSettings
    from spade_bdi_rl_worker.telemetry.outlet import Outlet

_PROGRESS_EVERY_S = 1.0


class Reporter:
    """Of one learner, in its thread."""

    def __init__(
        self,
        run: Run,
        outlet: Outlet,
        keeper: CheckpointKeeper,
        settings: TellingSettings,
        *,
        agent_id: str | None = None,
        is_partner: bool = False,
        first_action: int = 0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`agent_id` says whose the figures are, where there are several agents.

        The run's progress and the drawn table are not those of a learner that `is_partner`.
        `first_action` is where the environment's actions begin.
        """
        self._run = run
        self._outlet = outlet
        self._keeper = keeper
        self._settings = settings
        self._agent_id = agent_id
        self._is_partner = is_partner
        self._first_action = first_action
        self._clock = clock
        self._figures_at = settings.metrics_every
        self._policy_at = 0.0
        self._progress_at = 0.0
        self._began = clock()

    def begin(self, learner: Learner) -> None:
        self.tick(learner, 0)

    def episode_ended(self, learner: Learner, episodes: int, steps: int) -> None:
        if episodes >= self._figures_at:
            self._figures_at = episodes + self._settings.metrics_every
            self._tell_figures(learner)
        due_at = self._keeper.due_at
        if due_at is not None and steps >= due_at:
            self._keeper.save(learner, "on schedule")

    def tick(self, learner: Learner, steps: int) -> None:
        """Called every few milliseconds."""
        if self._is_partner:
            return
        now = self._clock()
        self._run.heartbeat.global_step = steps
        if now >= self._progress_at:
            self._progress_at = now + _PROGRESS_EVERY_S
            self._tell_progress(learner, now)
        if now >= self._policy_at:
            self._policy_at = now + self._settings.policy_every_s
            self._tell_policy(learner, steps)

    def evaluated(self, score: Score, steps: int) -> None:
        values = {
            "evaluation/return": score.mean_return,
            "evaluation/length": score.mean_length,
            "evaluation/success_rate": score.success_rate,
        }
        self._outlet.figures(values, steps, self._agent_id)

    def save(self, learner: Learner, why: str) -> Path:
        return self._keeper.save(learner, why)

    def finish(self, learner: Learner) -> None:
        """The last words: figures, table and progress as they are at the end."""
        progress = learner.progress
        if progress.episodes:
            self._tell_figures(learner)
        if not self._is_partner:
            self._tell_policy(learner, progress.steps)
            self._tell_progress(learner, self._clock())

    def _tell_figures(self, learner: Learner) -> None:
        progress = learner.progress
        values = {
            "charts/episodic_return": progress.mean_return,
            "charts/episodic_length": progress.mean_length,
            "charts/success_rate": progress.success_rate,
            "exploration/epsilon": progress.epsilon,
            "exploration/coverage": progress.coverage,
            "losses/td_error": progress.td_error,
        }
        self._outlet.figures(values, progress.steps, self._agent_id)

    def _tell_progress(self, learner: Learner, now: float) -> None:
        progress = learner.progress
        done = progress.done
        left = (now - self._began) * (1 - done) / done if done else None
        if progress.total_episodes is None:
            told: tuple[Any, ...] = (progress.steps, progress.total_steps, "steps")
        else:
            told = (progress.episodes, progress.total_episodes, "episodes")
        self._run.emitter.progress(*told, eta_s=None if left is None else round(left, 1))

    def _tell_policy(self, learner: Learner, steps: int) -> None:
        method, kind = learner.method, learner.encoding.kind
        table = drawn_table(method.values, method.tries, kind, self._first_action)
        if table is not None:
            self._run.emitter.policy(
                **table, step=steps, actor=learner.settings.algo, agent_id=self._agent_id
            )
