"""Starts the worker with a script that a test has written."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mosaic_worker.testing import WorkerProcess

StartScript = Callable[..., "ScriptUnderTest"]

HEAD = """
import argparse, os, signal, sys, time

parser = argparse.ArgumentParser()
parser.add_argument("--env-id", type=str, default="CartPole-v1", help="the environment")
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--total-timesteps", type=int, default=1000)
parser.add_argument("--learning-rate", type=float, default=0.1)
parser.add_argument("--track", action="store_true")
args = parser.parse_args()
"""
"""The start of a script like CleanRL's, with the standard library only."""


class ScriptUnderTest(WorkerProcess):
    """The worker, running a script."""

    def __init__(self, folder: Path, script: Path, config: dict[str, Any]) -> None:
        document = {"mode": "train", "script": str(script), "env_id": "CartPole-v1", **config}
        (folder / "config.json").write_text(json.dumps(document))
        super().__init__(["-m", "cleanrl_worker", "--config", "config.json"], folder)

    def logs(self, code: str) -> list[str]:
        return [event["message"] for event in self.events("log") if event["code"] == code]

    def wait_for_output(self, text: str) -> None:
        """Wait until the script has printed it."""
        self.until(lambda: text in self.log.read_text(), f"{text!r} in the log")

    def bye(self) -> dict[str, Any]:
        last = self.events()[-1]
        assert last["type"] == "bye"
        return last


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        os.kill(pid, 0)
        status = Path(f"/proc/{pid}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"
