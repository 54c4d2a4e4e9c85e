"""MosaicSink: telemetry, commands and checkpoints of a MOSAIC run, through the SDK."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

import gymnasium as gym

from mosaic_worker.frames import FrameMailbox
from mosaic_worker.play.frame_publisher import FramePublisher

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cleanrl_worker.session.sink import CheckpointToSave, FinishedEpisode
    from mosaic_worker import Run

SESSION_MESSAGE = "W270"
"""A message of the learner, such as its starting point or an unavailable output."""
_FRAME_INTERVAL_S = 1 / 30


class MosaicSink:
    """If steps are recorded, the recorder writes the episodes; otherwise this sink does."""

    def __init__(self, run: Run) -> None:
        self._run = run
        telemetry = run.config.raw.get("telemetry") or {}
        self._records_steps = telemetry.get("steps", "off") in ("all", "sampled", "columns")
        self.renders_first_env = bool(telemetry.get("frames"))
        self._exit_stack = contextlib.ExitStack()
        self._episodes = 0
        run.accept("checkpoint")

    @property
    def directory(self) -> Path:
        return self._run.directory

    @property
    def should_stop(self) -> bool:
        return self._run.should_stop

    @property
    def needs_attention(self) -> bool:
        return self._run.should_stop or self._run.is_pause_requested

    def wait_while_paused(self) -> None:
        self._run.wait_while_paused()

    def is_save_requested(self) -> bool:
        is_requested = False
        while self._run.poll() is not None:
            is_requested = True
        return is_requested

    def wrap_env(self, env: Any, index: int) -> Any:
        if self._records_steps:
            self._run.recorder.attach(env, env_index=index)
        if self.renders_first_env and index == 0:
            live_frames = LiveFrames(env, self._run)
            self._exit_stack.callback(live_frames.stop_rendering)
            return live_frames
        return env

    def log_scalars(self, values: Mapping[str, float], step: int) -> None:
        self._run.emitter.metrics(dict(values), step=step)

    def log_episode(self, episode: FinishedEpisode, step: int) -> None:
        if not self._records_steps:
            self._run.emitter.emit(
                "episode",
                episode_id=f"ep{self._episodes}",
                episode=self._episodes,
                steps=episode.length,
                terminated=episode.terminated,
                truncated=episode.truncated,
                env_index=episode.env_index,
                **{"return": episode.episode_return},
            )
        self._episodes += 1
        self._run.heartbeat.global_step = step

    def report_progress(self, step: int, total: int, eta_s: float | None) -> None:
        self._run.heartbeat.global_step = step
        self._run.emitter.progress(step, total, unit="steps", eta_s=eta_s)

    def save_checkpoint(self, checkpoint: CheckpointToSave) -> Path:
        return self._run.save_checkpoint(
            checkpoint.name,
            checkpoint.write,
            step=checkpoint.step,
            metrics=checkpoint.metrics,
            **checkpoint.meta,
        )

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, path, meta=dict(meta))

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, url=url, meta=dict(meta))

    def log_message(self, level: str, message: str) -> None:
        self._run.emitter.log(level, SESSION_MESSAGE, message)
        print(f"{level}: {message}", file=sys.stderr, flush=True)  # the run's log

    def close(self) -> None:
        self._exit_stack.close()


class LiveFrames(gym.Wrapper):  # type: ignore[type-arg]
    """Publishes frames of a training environment for live views; call `stop_rendering` at the end.

    Rendering is slow, so at most thirty frames a second are rendered.
    """

    def __init__(self, env: Any, run: Run) -> None:
        super().__init__(env)
        self._publisher = FramePublisher(
            FrameMailbox(run.directory / "frames", run.emitter), run.emitter
        )
        self._publisher.start(env.render)
        self._next_frame_s = 0.0
        self._episode = -1
        self._step = 0

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:
        self._episode += 1
        self._step = 0
        return self.env.reset(**kwargs)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if time.monotonic() >= self._next_frame_s:
            fields = {
                "episode_id": f"ep{self._episode}",
                "step": self._step,
                "action": action,
                "reward": float(reward),
                "terminated": terminated,
                "truncated": truncated,
                "obs": observation,
            }
            self._publisher.show_step(fields, 0, is_last=True)
            self._next_frame_s = time.monotonic() + _FRAME_INTERVAL_S
        self._step += 1
        return observation, reward, terminated, truncated, info

    def stop_rendering(self) -> None:
        self._publisher.close()
