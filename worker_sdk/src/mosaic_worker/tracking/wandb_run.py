"""WandbRun: tracks a run with Weights & Biases through a separate process.

wandb takes a third of a millisecond per value and long to start and finish, and replaces hooks of
the interpreter. Here the training only puts values into a queue.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from mosaic_worker.tracking import wandb_process
from mosaic_worker.tracking.wandb_process import wandb_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.tracking.settings import TrackingSettings
    from mosaic_worker.tracking.trackers import TrackingListener

_KIND = "wandb"
_MAX_QUEUED = 100_000
_FINISH_TIMEOUT_S = 60.0
_STOP_TIMEOUT_S = 5.0


def start_wandb(listener: TrackingListener, settings: TrackingSettings) -> WandbRun | None:
    """Start the process without waiting for it; None, with a warning, if that fails."""
    wandb = settings.wandb
    if wandb is None:
        return None
    mode = os.environ.get("WANDB_MODE", "") if wandb.mode == "online" else wandb.mode
    if mode == "disabled":
        return None
    if not _is_installed():
        bundle = f"the bundle {settings.bundle}" if settings.bundle else "the worker's bundle"
        listener.log_message(
            "warning",
            "Weights & Biases is not used, because the package `wandb` is missing:"
            f" install the extra `wandb` of {bundle} (`mosaic train … --extra wandb`).",
        )
        return None
    request = {
        "directory": str(listener.directory),
        "mode": "offline" if mode in ("offline", "dryrun") else "online",
        "project": wandb.project,
        "entity": wandb.entity,
        "name": settings.name,
        "group": wandb.group or None,
        "config": settings.parameters,
        "pid": os.getpid(),
    }
    try:
        return WandbRun(listener, request, wandb_environment(wandb.proxy))
    except OSError as error:
        listener.log_message(
            "warning",
            "Weights & Biases is not used, because its process cannot be started:"
            f" {error.strerror or error}.",
        )
        return None


class WandbRun:
    """`scalars` queues values; `finish` waits for a limited time. Not thread-safe."""

    def __init__(
        self, listener: TrackingListener, request: Mapping[str, Any], environment: Mapping[str, str]
    ) -> None:
        self._listener = listener
        self._directory = listener.directory
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._dropped = 0
        self._is_finished = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-m", wandb_process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=dict(environment),
        )
        self._queue.put(json.dumps(request, default=str))
        threading.Thread(target=self._write, name="wandb-values", daemon=True).start()
        self._reader = threading.Thread(target=self._read, name="wandb-answers", daemon=True)
        self._reader.start()

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        if self._queue.qsize() >= _MAX_QUEUED:
            self._dropped += 1
            return
        self._queue.put(json.dumps((step, values)))

    def finish(self) -> None:
        """Wait for the upload; after a timeout the data stays on disk, with a warning."""
        self._queue.put(None)
        started_s = time.monotonic()
        while self._reader.is_alive():
            limit = _STOP_TIMEOUT_S if self._listener.should_stop else _FINISH_TIMEOUT_S
            if time.monotonic() - started_s > limit:
                self._listener.log_message(
                    "warning",
                    f"Weights & Biases did not finish within {limit:.0f} s. Upload the missing data"
                    f" with `wandb sync {self._directory}/wandb/*run-*`.",
                )
                self._process.kill()
                break
            self._reader.join(0.1)
        self._is_finished.set()
        self._process.wait()
        if self._dropped:
            self._listener.log_message(
                "warning", f"Weights & Biases was too slow; {self._dropped} rows were dropped."
            )

    def _write(self) -> None:
        """Thread: write queued lines to the process."""
        stream: Any = self._process.stdin
        with contextlib.suppress(OSError), stream:  # the process has ended
            for line in iter(self._queue.get, None):
                stream.write(line + "\n")
                if self._queue.empty():
                    stream.flush()

    def _read(self) -> None:
        """Thread: read answers of the process."""
        stream: Any = self._process.stdout
        with stream:
            for line in stream:
                if not self._is_finished.is_set():
                    self._handle_answer(json.loads(line))

    def _handle_answer(self, answer: Mapping[str, Any]) -> None:
        if "warning" in answer:
            self._listener.log_message("warning", answer["warning"])
        started = answer.get("started")
        if started:
            meta = {"run_id": started["run_id"]}
            folder = os.path.relpath(started["path"], self._directory)
            self._listener.artifact(_KIND, Path(folder).as_posix(), meta)
            if started["url"]:
                self._listener.link(_KIND, started["url"], meta)


def _is_installed() -> bool:
    """Whether it is a package, and not the folder that W&B creates in the current directory."""
    spec = importlib.util.find_spec("wandb")
    return spec is not None and spec.origin is not None
