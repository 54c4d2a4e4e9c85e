"""What has been played: steps and episodes, how far that is, and how well it went."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker.play.settings import Settings
    from mosaic_worker.run import Run

_PROGRESS_SECONDS = 1.0


class Score:
    """Counts, says when the run has what it was asked for, and tells both to the trainer."""

    def __init__(self, run: Run, settings: Settings) -> None:
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
        self._told: tuple[int, int, str] | None = None
        self.tell_progress()

    @property
    def episodes(self) -> int:
        """How many were played to their end."""
        return len(self._returns)

    @property
    def steps(self) -> int:
        """How many were taken, in all episodes."""
        return self._step_count

    @property
    def is_complete(self) -> bool:
        """Whether the run has as many episodes or steps as it was asked for."""
        enough_episodes = self._episodes is not None and self.episodes >= self._episodes
        return enough_episodes or (self._steps is not None and self._step_count >= self._steps)

    def begin_episode(self) -> None:
        self._length = 0
        self._return = 0.0

    def add_step(self, reward: float) -> None:
        self._step_count += 1
        self._length += 1
        self._return += float(reward)
        self._run.heartbeat.global_step = self._step_count
        if self._episodes is None and self._steps is not None:
            self._tell_now_and_then()

    def end_episode(self) -> None:
        self._returns.append(self._return)
        self._lengths.append(self._length)
        if self._is_evaluation:
            self._run.emitter.metrics(
                {"episodic_return": self._return, "episodic_length": float(self._length)},
                step=self._step_count,
            )
        if self._episodes is not None:
            self._tell_now_and_then()

    def summarise(self) -> None:
        """At the end: the last progress, and the result of an evaluation."""
        self.tell_progress()
        if not self._is_evaluation or not self._returns:
            return
        count = len(self._returns)
        mean = sum(self._returns) / count
        variance = sum((each - mean) ** 2 for each in self._returns) / count
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

    def tell_progress(self) -> None:
        """Unless it was told, or the run has no end but the person's."""
        if self._episodes is not None:
            progress = (self.episodes, self._episodes, "episodes")
        elif self._steps is not None:
            progress = (self._step_count, self._steps, "steps")
        else:
            return
        if progress != self._told:
            self._told = progress
            self._run.emitter.progress(*progress)

    def _tell_now_and_then(self) -> None:
        now = time.monotonic()
        if now >= self._progress_due:
            self._progress_due = now + _PROGRESS_SECONDS
            self.tell_progress()
