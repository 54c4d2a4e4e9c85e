"""`run.track` in a worker's process, as an author uses it."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path
from typing import Any

from mosaic_worker.testing import WorkerProcess

WORKER = """
import sys
from mosaic_worker import Algorithm, Descriptor, main

def work(run):
    run.track({"charts/SPS": 5.0, "losses/value_loss": 0.25}, step=10)
    assert not {"tensorboard", "wandb"} & set(sys.modules)

sys.exit(main(Descriptor("tiny", "Tiny", "1.0", (Algorithm("one", "One"),)), work))
"""


class TrackedRunTest(unittest.TestCase):
    def run_worker(self, **artifacts: Any) -> WorkerProcess:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name)
        (path / "worker.py").write_text(WORKER)
        (path / "config.json").write_text(json.dumps({"seed": 1, "artifacts": artifacts}))
        with WorkerProcess(["worker.py", "--config", "config.json"], path) as worker:
            self.assertEqual(worker.wait(), 0, worker.log.read_text())
        return worker

    def test_track_writes_telemetry_and_an_event_file(self) -> None:
        """The file is complete at the end of the run."""
        worker = self.run_worker()
        (metric,) = worker.events("metric")
        self.assertEqual(metric["values"], {"charts/SPS": 5.0, "losses/value_loss": 0.25})
        self.assertEqual(metric["step"], 10)
        (artifact,) = worker.events("artifact")
        self.assertEqual(artifact["kind"], "tensorboard")
        (file,) = (worker.folder / artifact["path"]).iterdir()
        self.assertIn(b"losses/value_loss\x15", file.read_bytes())

    def test_a_run_without_trackers_has_telemetry_only(self) -> None:
        """No other files are written."""
        worker = self.run_worker(tensorboard={"enabled": False})
        self.assertTrue(worker.events("metric"))
        self.assertEqual(worker.events("artifact"), [])
        self.assertFalse((worker.folder / "runs").exists())


if __name__ == "__main__":
    unittest.main()
