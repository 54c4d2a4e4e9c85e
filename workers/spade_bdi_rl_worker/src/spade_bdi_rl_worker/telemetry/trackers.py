"""Trackers: a training's figures for TensorBoard and for Weights & Biases, where a run asks for it.

Either may be missing: then the reason is said once, and the training goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.telemetry.event_file import EventFile
from spade_bdi_rl_worker.telemetry.wandb_run import WandbRun, start_wandb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker import Run

    Say = Callable[[str, str, str], None]

NOT_TRACKED = "W291"
"""Figures do not reach TensorBoard or Weights & Biases; they are in the telemetry all the same."""


class Trackers:
    """As the run's `artifacts` say."""

    def __init__(self, run: Run, say: Say) -> None:
        self._say = say
        artifacts: dict[str, Any] = run.config.raw.get("artifacts") or {}
        config = run.config
        name = f"{config.env_id.replace('/', '_').replace(':', '_')}__{config.algo}__{config.seed}"
        self._events: EventFile | None = None
        self._wandb: WandbRun | None = None
        if (artifacts.get("tensorboard") or {}).get("enabled", True):
            self._events = self._event_file(run, name)
        wandb: dict[str, Any] = artifacts.get("wandb") or {}
        if wandb.get("enabled"):
            self._wandb = start_wandb(run, wandb, name, self._warn)

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        if self._events is not None:
            try:
                self._events.scalars(values, step)
            except OSError as error:
                self._events = None
                self._warn(f"TensorBoard's file cannot be written: {error.strerror or error}.")
        if self._wandb is not None:
            self._wandb.scalars(values, step)

    def close(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            try:
                events.close()
            except OSError as error:
                self._warn(f"TensorBoard's file is not complete: {error.strerror or error}.")
        tracked, self._wandb = self._wandb, None
        if tracked is not None:
            tracked.finish()

    def _event_file(self, run: Run, name: str) -> EventFile | None:
        folder = f"runs/{name}"
        try:
            events = EventFile(run.directory / folder)
        except OSError as error:
            self._warn(f"There is no event file for TensorBoard: {error.strerror or error}.")
            return None
        run.emitter.artifact("tensorboard", folder)
        return events

    def _warn(self, message: str) -> None:
        self._say("warning", NOT_TRACKED, message)
