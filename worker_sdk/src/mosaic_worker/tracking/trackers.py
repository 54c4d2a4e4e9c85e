"""Trackers: a training's figures for TensorBoard and Weights & Biases, behind one object.

Either may be missing: then the reason is said once, and the training goes on.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from mosaic_worker.tracking.event_file import EventFile
from mosaic_worker.tracking.hyperparameters import hyperparameter_table
from mosaic_worker.tracking.listener import RunListener
from mosaic_worker.tracking.settings import tracking_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.run import Run
    from mosaic_worker.tracking.listener import Listener
    from mosaic_worker.tracking.settings import TrackingSettings
    from mosaic_worker.tracking.wandb_run import WandbRun


def trackers_of(run: Run) -> Trackers:
    """As the run's `artifacts` say. A worker asks for `run.trackers` instead."""
    return Trackers(RunListener(run), tracking_settings(run.config))


class Trackers:
    """From any thread. Raises nothing: what cannot be tracked is told to the listener."""

    def __init__(self, listener: Listener, settings: TrackingSettings) -> None:
        self._lock = threading.Lock()
        self._listener = listener
        self._settings = settings
        self._events = self._event_file() if settings.tensorboard else None
        self._wandb = self._wandb_run() if settings.wandb is not None else None

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Points of several curves; numbers of NumPy and torch will do."""
        if self._events is None and self._wandb is None:
            return
        plain = {str(name): float(value) for name, value in values.items()}
        step = int(step)
        with self._lock:
            if self._events is not None:
                try:
                    self._events.scalars(plain, step)
                except OSError as error:
                    self._give_up_events(error)
            if self._wandb is not None:
                self._wandb.scalars(plain, step)

    def close(self) -> None:
        """Waits for Weights & Biases, for a bounded time. May be called again."""
        with self._lock:
            events, self._events = self._events, None
            tracked, self._wandb = self._wandb, None
        if events is not None:
            try:
                events.close()
            except OSError as error:
                self._warn(f"TensorBoard's file is not complete: {_words(error)}.")
        if tracked is not None:
            tracked.finish()

    def _event_file(self) -> EventFile | None:
        folder = f"runs/{self._settings.name}"
        try:
            events = EventFile(self._listener.directory / folder)
            events.text("hyperparameters", hyperparameter_table(self._settings.parameters))
            events.flush()
        except OSError as error:
            self._warn(f"There is no event file for TensorBoard: {_words(error)}.")
            return None
        self._listener.artifact("tensorboard", folder, {})
        return events

    def _give_up_events(self, error: OSError) -> None:
        events, self._events = self._events, None
        if events is not None:
            with contextlib.suppress(OSError):  # the same again, for what was not written
                events.close()
        self._warn(f"TensorBoard's file cannot be written: {_words(error)}.")

    def _wandb_run(self) -> WandbRun | None:
        from mosaic_worker.tracking.wandb_run import start_wandb  # noqa: PLC0415 - rarely needed

        return start_wandb(self._listener, self._settings)

    def _warn(self, message: str) -> None:
        self._listener.say("warning", message)


def _words(error: OSError) -> str:
    return error.strerror or str(error)
