"""FramePublisher of the first environment while it is trained in, for whoever watches.

Drawing is what costs time: thirty pictures a second at most, and none when nobody asked.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from mosaic_worker.frames import FrameMailbox
from mosaic_worker.play.frame_publisher import FramePublisher

if TYPE_CHECKING:
    from mosaic_worker import Run

_SECONDS_BETWEEN = 1 / 30


class LiveView(gym.Wrapper):  # type: ignore[type-arg]
    """Wraps what `gymnasium.make` returned; `close_view` ends the drawing."""

    def __init__(self, env: Any, run: Run) -> None:
        super().__init__(env)
        self._pictures = FramePublisher(
            FrameMailbox(run.directory / "frames", run.emitter), run.emitter
        )
        self._pictures.start(env.render)
        self._due = 0.0
        self._episode = -1
        self._step = 0

    def reset(self, **given: Any) -> tuple[Any, dict[str, Any]]:
        self._episode += 1
        self._step = 0
        return self.env.reset(**given)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if time.monotonic() >= self._due:
            fields = {
                "episode_id": f"ep{self._episode}",
                "step": self._step,
                "action": action,
                "reward": float(reward),
                "terminated": terminated,
                "truncated": truncated,
                "obs": observation,
            }
            self._pictures.show_step(fields, 0, is_last=True)
            self._due = time.monotonic() + _SECONDS_BETWEEN
        self._step += 1
        return observation, reward, terminated, truncated, info

    def close_view(self) -> None:
        self._pictures.close()
