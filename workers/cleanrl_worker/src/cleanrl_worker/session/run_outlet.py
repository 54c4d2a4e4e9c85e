"""A learner run by MOSAIC: telemetry, commands and checkpoints through the SDK."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cleanrl_worker.session.outlet import FinishedEpisode, Saved
    from mosaic_worker import Run

SESSION_NOTE = "W270"
"""What the learner has to say: where it begins from, and what it does without."""


class RunOutlet:
    """With step detail on, the recorder writes the episodes; otherwise they are told from here."""

    def __init__(self, run: Run) -> None:
        self.directory = run.directory
        self._run = run
        telemetry = run.config.raw.get("telemetry") or {}
        self._records = telemetry.get("steps", "off") in ("all", "sampled", "columns")
        self.draws_first = bool(telemetry.get("frames"))
        self._closing = contextlib.ExitStack()
        self._episodes = 0
        run.accept("checkpoint")

    @property
    def should_stop(self) -> bool:
        return self._run.should_stop

    @property
    def wants_attention(self) -> bool:
        return self._run.should_stop or self._run.is_pause_requested

    def wait_while_paused(self) -> None:
        self._run.wait_while_paused()

    def is_told_to_save(self) -> bool:
        is_told = False
        while self._run.poll() is not None:
            is_told = True
        return is_told

    def on_made(self, env: Any, index: int) -> Any:
        if self._records:
            self._run.recorder.attach(env, env_index=index)
        if self.draws_first and index == 0:
            from cleanrl_worker.session.live_view import LiveView  # noqa: PLC0415 - rarely needed

            view = LiveView(env, self._run)
            self._closing.callback(view.close_view)
            return view
        return env

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        self._run.emitter.metrics(dict(values), step=step)

    def episode(self, episode: FinishedEpisode, step: int) -> None:
        if not self._records:
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

    def progress(self, step: int, total: int, eta_s: float | None) -> None:
        self._run.heartbeat.global_step = step
        self._run.emitter.progress(step, total, unit="steps", eta_s=eta_s)

    def save(self, saved: Saved) -> Path:
        return self._run.save_checkpoint(
            saved.name, saved.write, step=saved.step, metrics=saved.metrics, **saved.meta
        )

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, path, meta=dict(meta))

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, url=url, meta=dict(meta))

    def say(self, level: str, message: str) -> None:
        self._run.emitter.log(level, SESSION_NOTE, message)
        print(f"{level}: {message}", file=sys.stderr, flush=True)  # the run's log

    def close(self) -> None:
        self._closing.close()
