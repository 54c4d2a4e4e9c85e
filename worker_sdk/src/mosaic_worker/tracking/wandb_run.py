"""WandbRun: a training tracked with Weights & Biases, through a process of its own.

wandb takes a third of a millisecond for a value and long for its start and its end, and replaces
hooks of the interpreter. Here a value is put into a queue, and that is all the training waits for.
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
from mosaic_worker.tracking.wandb_environment import wandb_environment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.tracking.listener import Listener
    from mosaic_worker.tracking.settings import TrackingSettings

_KIND = "wandb"
_MOST_WAITING = 100_000
_FINISH_SECONDS = 60.0
_FINISH_SECONDS_WHEN_STOPPED = 5.0


def start_wandb(listener: Listener, settings: TrackingSettings) -> WandbRun | None:
    """None when there is nothing to track with, which is then said. Returns at once."""
    wandb = settings.wandb
    if wandb is None:
        return None
    mode = os.environ.get("WANDB_MODE", "") if wandb.mode == "online" else wandb.mode
    if mode == "disabled":
        return None
    if not _is_installed():
        bundle = f"the bundle {settings.bundle}" if settings.bundle else "the worker's bundle"
        listener.say(
            "warning",
            "The run is not tracked with Weights & Biases, because the package `wandb` is missing:"
            f" install the extra `wandb` of {bundle} (`mosaic train … --extra wandb`).",
        )
        return None
    order = {
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
        return WandbRun(listener, order, wandb_environment(wandb.proxy))
    except OSError as error:
        listener.say(
            "warning",
            "The run is not tracked with Weights & Biases, because its process cannot be started:"
            f" {error.strerror or error}.",
        )
        return None


class WandbRun:
    """Values go in by `scalars`; `finish` waits for a bounded time. From one thread."""

    def __init__(
        self, listener: Listener, order: Mapping[str, Any], environment: Mapping[str, str]
    ) -> None:
        self._listener = listener
        self._directory = listener.directory
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        self._lost = 0
        self._is_over = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-m", wandb_process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=dict(environment),
        )
        self._waiting.put(json.dumps(order, default=str))
        threading.Thread(target=self._write, name="wandb-values", daemon=True).start()
        self._reader = threading.Thread(target=self._read, name="wandb-answers", daemon=True)
        self._reader.start()

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        if self._waiting.qsize() >= _MOST_WAITING:
            self._lost += 1
            return
        self._waiting.put(json.dumps((step, values)))

    def finish(self) -> None:
        """What could not be brought to its end in time stays on the disk, and that is said."""
        self._waiting.put(None)
        began = time.monotonic()
        while self._reader.is_alive():
            limit = _FINISH_SECONDS_WHEN_STOPPED if self._listener.should_stop else _FINISH_SECONDS
            if time.monotonic() - began > limit:
                self._listener.say(
                    "warning",
                    f"Weights & Biases did not finish within {limit:.0f} s. What is missing there"
                    f" can be uploaded with `wandb sync {self._directory}/wandb/*run-*`.",
                )
                self._process.kill()
                break
            self._reader.join(0.1)
        self._is_over.set()
        self._process.wait()
        if self._lost:
            self._listener.say(
                "warning", f"Weights & Biases was too slow for {self._lost} rows, which it lacks."
            )

    def _write(self) -> None:
        """The queue into the process, in a thread."""
        stream: Any = self._process.stdin
        with contextlib.suppress(OSError), stream:  # it has ended, and has said why
            for line in iter(self._waiting.get, None):
                stream.write(line + "\n")
                if self._waiting.empty():
                    stream.flush()

    def _read(self) -> None:
        """What the process has to say, in a thread."""
        stream: Any = self._process.stdout
        with stream:
            for line in stream:
                if not self._is_over.is_set():
                    self._tell(json.loads(line))

    def _tell(self, answer: Mapping[str, Any]) -> None:
        if "say" in answer:
            self._listener.say("warning", answer["say"])
        started = answer.get("started")
        if started:
            meta = {"run_id": started["run_id"]}
            folder = os.path.relpath(started["path"], self._directory)
            self._listener.artifact(_KIND, Path(folder).as_posix(), meta)
            if started["url"]:
                self._listener.link(_KIND, started["url"], meta)


def _is_installed() -> bool:
    """W&B's own folder in the current directory is no package."""
    found = importlib.util.find_spec("wandb")
    return found is not None and found.origin is not None
