"""A small picture of every step, for live views: a bar that moves with the steps.

Drawn when the run's configuration has `telemetry.frames`, at most 60 times a second.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from mosaic_worker import FrameMailbox

if TYPE_CHECKING:
    from mosaic_worker import Run

WIDTH, HEIGHT = 64, 48
FRAMES_PER_SECOND = 60
BACKGROUND = bytes((32, 32, 40))
COLOURS = tuple(map(bytes, ((230, 159, 0), (86, 180, 233), (0, 158, 115), (213, 94, 0))))
"""One for each action."""


class Picture:
    """The frames of one run."""

    def __init__(self, run: Run) -> None:
        telemetry = run.config.raw.get("telemetry")
        self.wanted = isinstance(telemetry, dict) and telemetry.get("frames") is True
        self._mailbox = FrameMailbox(run.directory / "frames", run.emitter)
        self._encode = run.emitter.encode
        self._due_at = 0.0

    def show(
        self, episode_id: str, step: int, action: int, reward: float, *, terminated: bool
    ) -> None:
        """Draw the step, unless it comes too soon: its place is the step, its colour the action."""
        now = time.monotonic()
        if now < self._due_at:
            return
        self._due_at = now + 1 / FRAMES_PER_SECOND
        column = step % WIDTH
        row = BACKGROUND * column + COLOURS[action] + BACKGROUND * (WIDTH - column - 1)
        line = self._encode(
            "step",
            episode_id=episode_id,
            step=step,
            action=action,
            reward=reward,
            terminated=terminated,
            truncated=False,
        )
        self._mailbox.write(row * HEIGHT, WIDTH, HEIGHT, step=step, step_json=line)
