"""WandbRun: figures for Weights & Biases, through a process of its own.

wandb is slow to start and to end, and replaces hooks of the interpreter: in another process
(`wandb_process.py`) that concerns nobody, and a figure costs a line into a pipe.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from spade_bdi_rl_worker.telemetry import wandb_process

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker import Run

    Warn = Callable[[str], None]

_MOST_WAITING = 100_000
_FINISH_S = 60.0
_FINISH_WHEN_STOPPED_S = 5.0
_PROXY_VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy")


def start_wandb(run: Run, wandb: Mapping[str, Any], name: str, warn: Warn) -> WandbRun | None:
    """`wandb` is the run's `artifacts.wandb`. None when there is nothing to track with."""
    mode = wandb.get("mode") or "online"
    if mode == "online":
        mode = os.environ.get("WANDB_MODE") or mode
    if mode == "disabled":
        return None
    found = importlib.util.find_spec("wandb")
    if found is None or found.origin is None:  # a folder called wandb is no package
        warn(
            "The run is not tracked with Weights & Biases, because the package `wandb` is missing:"
            " install the extra `wandb` of the bundle spade_bdi_rl_worker."
        )
        return None
    config = run.config
    order = {
        "directory": str(run.directory),
        "mode": "offline" if mode in ("offline", "dryrun") else "online",
        "project": wandb.get("project") or "mosaic",
        "entity": wandb.get("entity"),
        "name": name,
        "group": f"{config.env_id}-{config.algo}",
        "config": config.arguments(),
    }
    return WandbRun(run, order, wandb.get("proxy"), warn)


class WandbRun:
    """From one thread."""

    def __init__(self, run: Run, order: Mapping[str, Any], proxy: str | None, warn: Warn) -> None:
        self._run = run
        self._warn = warn
        self._lost = 0
        self._waiting: SimpleQueue[str | None] = SimpleQueue()
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "WANDB_ERROR_REPORTING": "false",
            "WANDB_SILENT": "true",
            **(dict.fromkeys(_PROXY_VARIABLES, proxy) if proxy else {}),
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", wandb_process.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        self._waiting.put(json.dumps(order))
        threading.Thread(target=self._write, name="wandb-values", daemon=True).start()
        self._reader = threading.Thread(target=self._read, name="wandb-answers", daemon=True)
        self._reader.start()

    def scalars(self, values: Mapping[str, float], step: int) -> None:
        if self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put(json.dumps([step, dict(values)]))
        else:
            self._lost += 1

    def finish(self) -> None:
        """Waits for a bounded time; what is not sent by then stays on the disk."""
        self._waiting.put(None)
        limit = _FINISH_WHEN_STOPPED_S if self._run.should_stop else _FINISH_S
        self._reader.join(limit)
        if self._reader.is_alive():
            self._warn(
                f"Weights & Biases did not finish within {limit:.0f} s. What is missing there can"
                f" be uploaded with `wandb sync {self._run.directory}/wandb/*run-*`."
            )
            self._process.kill()
        self._process.wait()
        if self._lost:
            self._warn(f"Weights & Biases was too slow for {self._lost} rows, which it lacks.")

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
                answer = json.loads(line)
                if "problem" in answer:
                    self._warn(f"Weights & Biases: {answer['problem']}")
                else:
                    self._announce(answer)

    def _announce(self, started: Mapping[str, Any]) -> None:
        meta = {"run_id": started["run_id"]}
        folder = os.path.relpath(started["path"], self._run.directory)
        self._run.emitter.artifact("wandb", folder.replace(os.sep, "/"), meta=meta)
        if started["url"]:
            self._run.emitter.artifact("wandb", url=started["url"], meta=meta)
