"""RewardChart: frames for live views, a bar chart of the newest rewards.

Bars enter from the right in the colour of their action; a line marks the end of an episode.
Rendered if the run's configuration has `telemetry.frames`, at most 60 times per second.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from mosaic_worker import FrameMailbox

if TYPE_CHECKING:
    from mosaic_worker import Run

BARS, BLOCKS = 48, 27
BLOCK = 4
"""Width of a bar with its gap, and height of a block, in pixels."""
WIDTH, HEIGHT = BARS * BLOCK, BLOCKS * BLOCK
FRAMES_PER_SECOND = 60
BACKGROUND = bytes((26, 27, 34))
EPISODE_END = bytes((84, 88, 104))
COLOURS = tuple(map(bytes, ((230, 159, 0), (86, 180, 233), (0, 158, 115), (213, 94, 0))))
"""One per action."""


class RewardChart:
    """The frames of one run."""

    def __init__(self, run: Run) -> None:
        telemetry = run.config.raw.get("telemetry")
        self.is_enabled = isinstance(telemetry, dict) and telemetry.get("frames") is True
        self._mailbox = FrameMailbox(run.directory / "frames", run.emitter)
        self._encode = run.emitter.encode
        self._due_at = 0.0
        self._bars: deque[tuple[int, bytes, bytes]] = deque(maxlen=BARS)
        """Per step: height in blocks, a block of the bar, and a block of the background."""

    def show(
        self, episode_id: str, step: int, action: int, reward: float, *, terminated: bool
    ) -> None:
        """Add the step, and publish a frame if one is due."""
        gap = EPISODE_END if terminated else BACKGROUND
        bar, background = (colour * (BLOCK - 1) + gap for colour in (COLOURS[action], BACKGROUND))
        self._bars.append((round(reward * BLOCKS), bar, background))
        now = time.monotonic()
        if now < self._due_at:
            return
        self._due_at = now + 1 / FRAMES_PER_SECOND
        line = self._encode(
            "step",
            episode_id=episode_id,
            step=step,
            action=action,
            reward=reward,
            terminated=terminated,
            truncated=False,
        )
        self._mailbox.write(self._pixels(), WIDTH, HEIGHT, step=step, step_json=line)

    def _pixels(self) -> bytes:
        empty = BACKGROUND * BLOCK * (BARS - len(self._bars))
        rows = (
            empty
            + b"".join(bar if high > level else background for high, bar, background in self._bars)
            for level in reversed(range(BLOCKS))
        )
        return b"".join(row * BLOCK for row in rows)
