"""LiveFrames: frames of the first environment during training, for live views.

Rendering is slow, so at most thirty frames a second are rendered, and none unless requested.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from mosaic_worker.frames import FrameMailbox
from mosaic_worker.play.frame_publisher import FramePublisher

if TYPE_CHECKING:
    from mosaic_worker import Run

_FRAME_INTERVAL_S = 1 / 30


class LiveFrames(gym.Wrapper):  # type: ignore[type-arg]
    """Wraps the result of `gymnasium.make`; call `stop_rendering` at the end."""

    def __init__(self, env: Any, run: Run) -> None:
        super().__init__(env)
        self._pictures = FramePublisher(
            FrameMailbox(run.directory / "frames", run.emitter), run.emitter
        )
        self._pictures.start(env.render)
        self._due = 0.0
        self._episode = -1
        self._step = 0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self._episode += 1
        self._step = 0
        return self.env.reset(**kwargs)

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
            self._due = time.monotonic() + _FRAME_INTERVAL_S
        self._step += 1
        return observation, reward, terminated, truncated, info

    def stop_rendering(self) -> None:
        self._pictures.close()
