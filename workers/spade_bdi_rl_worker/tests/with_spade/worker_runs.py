"""Starts the worker as the trainer does, in its own folders, for tests of complete runs."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from mosaic_worker.testing import WorkerProcess


class WorkerRuns(unittest.TestCase):
    """Ends its workers and removes its folder after each test."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def worker(self, name: str = "run", **fields: Any) -> WorkerProcess:
        """Start a worker, which by default trains until it is stopped."""
        folder = self.folder / name
        folder.mkdir()
        config = {
            "algo": "q_learning",
            "env_id": "FrozenLake-v1",
            "max_episodes": 10**8,
            "telemetry": {"steps": "off"},
            **fields,
            "params": {"metrics_every": 100, **fields.get("params", {})},
        }
        (folder / "config.json").write_text(json.dumps(config))
        worker = WorkerProcess(["-m", "spade_bdi_rl_worker", "--config", "config.json"], folder)
        self.addCleanup(worker.__exit__, None, None, None)
        return worker

    def failure(self, worker: WorkerProcess) -> dict[str, Any]:
        """Return the last line of a run that failed."""
        self.assertEqual(worker.wait(), 1)
        bye = worker.events("bye")[-1]
        self.assertEqual(bye["outcome"], "failed")
        self.assertTrue(bye["remedy"])
        return bye
