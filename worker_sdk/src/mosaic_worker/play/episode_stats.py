"""EpisodeStats: counts steps, episodes and returns, and reports progress and results."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker.play.settings import PlaySettings
    from mosaic_worker.run import Run

_PROGRESS_EVERY_S = 1.0


class EpisodeStats:
    """Counts, decides when the run is complete, and emits progress and metrics."""

    def __init__(self, run: Run, settings: PlaySettings) -> None:
        self._run = run
        self._episodes = settings.episodes
        self._steps = settings.steps
        self._is_evaluation = settings.is_evaluation
        self._returns: list[float] = []
        self._lengths: list[int] = []
        self._step_count = 0
        self._length = 0
        self._return = 0.0
        self._progress_due = 0.0
        self._reported: tuple[int, int, str] | None = None
        self.report_progress()

    @property
    def episodes(self) -> int:
        """Number of finished episodes."""
        return len(self._returns)

    @property
    def steps(self) -> int:
        """Number of steps in all episodes."""
        return self._step_count

    @property
    def is_complete(self) -> bool:
        """Whether the requested number of episodes or steps is reached."""
        has_episodes = self._episodes is not None and self.episodes >= self._episodes
        return has_episodes or (self._steps is not None and self._step_count >= self._steps)

    def start_episode(self) -> None:
        self._length = 0
        self._return = 0.0

    def add_step(self, reward: float) -> None:
        self._step_count += 1
        self._length += 1
        self._return += float(reward)
        self._run.heartbeat.global_step = self._step_count
        if self._episodes is None and self._steps is not None:
            self._report_periodically()

    def end_episode(self) -> None:
        self._returns.append(self._return)
        self._lengths.append(self._length)
        if self._is_evaluation:
            self._run.emitter.metrics(
                {"episodic_return": self._return, "episodic_length": float(self._length)},
                step=self._step_count,
            )
        if self._episodes is not None:
            self._report_periodically()

    def report_summary(self) -> None:
        """Emit the final progress, and the result of an evaluation."""
        self.report_progress()
        if not self._is_evaluation or not self._returns:
            return
        count = len(self._returns)
        mean = sum(self._returns) / count
        variance = sum((value - mean) ** 2 for value in self._returns) / count
        self._run.emitter.metrics(
            {
                "evaluation/episodes": float(count),
                "evaluation/mean_return": mean,
                "evaluation/std_return": variance**0.5,
                "evaluation/min_return": min(self._returns),
                "evaluation/max_return": max(self._returns),
                "evaluation/mean_length": sum(self._lengths) / count,
            },
            step=self._step_count,
        )

    def report_progress(self) -> None:
        """Emit progress if it has changed, for runs with a limit of episodes or steps."""
        if self._episodes is not None:
            progress = (self.episodes, self._episodes, "episodes")
        elif self._steps is not None:
            progress = (self._step_count, self._steps, "steps")
        else:
            return
        if progress != self._reported:
            self._reported = progress
            self._run.emitter.progress(*progress)

    def _report_periodically(self) -> None:
        now = time.monotonic()
        if now >= self._progress_due:
            self._progress_due = now + _PROGRESS_EVERY_S
            self.report_progress()
