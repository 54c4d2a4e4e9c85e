"""Event files, read again by TensorBoard's own reader."""

from __future__ import annotations

import importlib.util
import math
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from quiet_session import RecordingSink

from cleanrl_worker.arguments import SessionOptions, SharedArgs
from cleanrl_worker.tracking.trackers import SessionTrackers
from mosaic_worker.tracking.event_file import crc32c

HAS_TENSORBOARD = importlib.util.find_spec("tensorboard") is not None


@unittest.skipUnless(HAS_TENSORBOARD, "tensorboard is not installed")
class EventFileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sink = RecordingSink(Path(folder.name))
        args = SharedArgs(env_id="CartPole-v1", seed=7)
        self.trackers = SessionTrackers(self.sink, SessionOptions(), args, "ppo", "a-run")
        self.addCleanup(self.trackers.close)

    def read(self) -> Any:
        from tensorboard.backend.event_processing.event_accumulator import (  # noqa: PLC0415
            EventAccumulator,
        )

        reader = EventAccumulator(str(self.sink.directory / "runs" / "a-run"))
        reader.Reload()
        return reader

    def test_scalars_are_read_back_unchanged(self) -> None:
        """Under their tags, with their steps, including NaN."""
        for step in range(0, 50, 10):
            self.trackers.scalars({"charts/SPS": step * 2.0, "charts/odd": math.nan}, step)
        self.trackers.finish()
        reader = self.read()
        logged = [(event.step, event.value) for event in reader.Scalars("charts/SPS")]
        self.assertEqual(logged, [(0, 0.0), (10, 20.0), (20, 40.0), (30, 60.0), (40, 80.0)])
        self.assertTrue(all(math.isnan(event.value) for event in reader.Scalars("charts/odd")))

    def test_the_hyperparameters_are_written_first(self) -> None:
        """They are on disk before any value, also for a run that is killed."""
        reader = self.read()
        self.assertEqual(reader.Tags()["tensors"], ["hyperparameters/text_summary"])
        [event] = reader.Tensors("hyperparameters/text_summary")
        table = event.tensor_proto.string_val[0].decode()
        self.assertIn("|param|value|\n|-|-|\n", table)
        self.assertIn("|env_id|CartPole-v1|", table)
        self.assertIn("|seed|7|", table)

    def test_checksums_are_those_of_the_format(self) -> None:
        """TensorBoard accepts the checksums of data of every length."""
        from tensorboard.compat.tensorflow_stub import pywrap_tensorflow  # noqa: PLC0415

        for size in (*range(20), 255, 1000):
            data = bytes(index * 37 % 256 for index in range(size))
            self.assertEqual(crc32c(data), pywrap_tensorflow.crc32c(data))

    def test_values_are_readable_during_the_run(self) -> None:
        """The first value of each second is flushed."""
        self.trackers.scalars({"charts/SPS": 1.0}, 1)
        self.trackers.scalars({"charts/SPS": 2.0}, 2)
        deadline = time.monotonic() + 60
        while len(self.read().Tags()["scalars"]) == 0 and time.monotonic() < deadline:
            self.trackers.scalars({"charts/SPS": 3.0}, 3)
        self.assertEqual(self.read().Tags()["scalars"], ["charts/SPS"])

    def test_the_folder_is_announced_once(self) -> None:
        """Relative to the run's directory, under CleanRL's name."""
        self.trackers.finish()
        self.trackers.close()
        self.assertEqual(self.sink.artifacts, [("tensorboard", "runs/a-run")])


if __name__ == "__main__":
    unittest.main()
