"""Trackers: logs scalars to TensorBoard and Weights & Biases.

Each may be unavailable: then the reason is reported once, and training continues.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol

from mosaic_worker.compat import make_getattr
from mosaic_worker.tracking.event_file import EventFile, hyperparameter_table
from mosaic_worker.tracking.settings import tracking_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mosaic_worker.run import Run
    from mosaic_worker.tracking.settings import TrackingSettings
    from mosaic_worker.tracking.wandb_run import WandbRun

NOT_TRACKED = "W291"
"""Metrics do not reach TensorBoard or Weights & Biases; telemetry still contains them."""


def make_trackers(run: Run) -> Trackers:
    """The trackers that the run's `artifacts` request. Workers use `run.trackers`."""
    return Trackers(RunTrackingListener(run), tracking_settings(run.config))


class Trackers:
    """Thread-safe. Never raises: failures are reported to the listener."""

    def __init__(self, listener: TrackingListener, settings: TrackingSettings) -> None:
        self._lock = threading.Lock()
        if not hasattr(listener, "log_message"):  # a listener written for an earlier version
            listener.log_message = listener.say  # type: ignore[attr-defined, method-assign]
        self._listener = listener
        self._settings = settings
        self._events = self._open_event_file() if settings.tensorboard else None
        self._wandb = self._start_wandb() if settings.wandb is not None else None

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        """Log scalars; numbers of NumPy and torch are accepted."""
        if self._events is None and self._wandb is None:
            return
        plain = {str(name): float(value) for name, value in values.items()}
        step = int(step)
        with self._lock:
            if self._events is not None:
                try:
                    self._events.scalars(plain, step)
                except OSError as error:
                    self._stop_events(error)
            if self._wandb is not None:
                self._wandb.scalars(plain, step)

    def close(self) -> None:
        """Wait for Weights & Biases for a limited time. Repeated calls have no effect."""
        with self._lock:
            events, self._events = self._events, None
            wandb_run, self._wandb = self._wandb, None
        if events is not None:
            try:
                events.close()
            except OSError as error:
                self._warn(f"The TensorBoard event file is incomplete: {_error_text(error)}.")
        if wandb_run is not None:
            wandb_run.finish()

    def _open_event_file(self) -> EventFile | None:
        folder = f"runs/{self._settings.name}"
        try:
            events = EventFile(self._listener.directory / folder)
            events.text("hyperparameters", hyperparameter_table(self._settings.parameters))
            events.flush()
        except OSError as error:
            self._warn(f"The TensorBoard event file cannot be created: {_error_text(error)}.")
            return None
        self._listener.artifact("tensorboard", folder, {})
        return events

    def _stop_events(self, error: OSError) -> None:
        events, self._events = self._events, None
        if events is not None:
            with contextlib.suppress(OSError):  # closing fails for the same reason
                events.close()
        self._warn(f"The TensorBoard event file cannot be written: {_error_text(error)}.")

    def _start_wandb(self) -> WandbRun | None:
        from mosaic_worker.tracking.wandb_run import start_wandb  # noqa: PLC0415 - rarely needed

        return start_wandb(self._listener, self._settings)

    def _warn(self, message: str) -> None:
        self._listener.log_message("warning", message)


def _error_text(error: OSError) -> str:
    return error.strerror or str(error)


class TrackingListener(Protocol):
    """Receives artifacts and messages of the trackers, from any thread."""

    @property
    def directory(self) -> Path:
        """The folder for all files."""

    @property
    def should_stop(self) -> bool:
        """Whether a stop was requested."""

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        """A file or folder in `directory` was created."""

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        """The run has a web page."""

    def log_message(self, level: str, message: str) -> None:
        """Log a message for the user."""


class RunTrackingListener:
    """Emits telemetry, and also prints messages to the run's log."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def directory(self) -> Path:
        return self._run.directory

    @property
    def should_stop(self) -> bool:
        return self._run.should_stop

    def artifact(self, kind: str, path: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, path, meta=dict(meta) or None)

    def link(self, kind: str, url: str, meta: Mapping[str, Any]) -> None:
        self._run.emitter.artifact(kind, url=url, meta=dict(meta))

    def log_message(self, level: str, message: str) -> None:
        self._run.emitter.log(level, NOT_TRACKED, message)
        print(f"{level}: {message}", file=sys.stderr, flush=True)


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)
