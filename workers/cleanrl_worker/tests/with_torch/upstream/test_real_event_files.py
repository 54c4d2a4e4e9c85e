"""Event files as TensorBoard's own writer makes them."""

from __future__ import annotations

import math
import tempfile
import unittest
from pathlib import Path

import torch
from torch.utils.tensorboard import SummaryWriter

from cleanrl_worker.upstream.event_files import EventFiles, EventPoint, EventText


class RealEventFilesTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_event_files_of_torch_are_read(self) -> None:
        """Scalars of both kinds and texts; histograms are skipped."""
        table = "|param|value|\n|-|-|\n|seed|1|"
        files = EventFiles(self.folder)
        runs = self.folder / "runs"
        with SummaryWriter(str(runs / "CartPole-v1__ppo__1__1700000000")) as writer:
            writer.add_text("hyperparameters", table)
            writer.add_scalar("charts/episodic_return", 15.0, 60)
            writer.flush()
            files.find_new()
            first = list(files.read_new())
            writer.add_scalar("losses/value_loss", 0.25, 2**40, walltime=1700000000.5)
            writer.add_scalar("losses/new_style", -3.5, 7, new_style=True)
            writer.add_scalar("losses/not_a_number", float("nan"), 8)
            writer.add_histogram("weights", torch.arange(3.0), 9)
        later = list(files.read_new())
        self.assertFalse(files.broken)
        self.assertEqual(first[0], EventText("hyperparameters", table))
        self.assertEqual(
            [(event.tag, event.value) for event in first[1:] if isinstance(event, EventPoint)],
            [("charts/episodic_return", 15.0)],
        )
        points = {event.tag: event for event in later if isinstance(event, EventPoint)}
        self.assertEqual(
            points["losses/value_loss"],
            EventPoint("losses/value_loss", 2**40, 1700000000.5, 0.25),
        )
        new_style = points["losses/new_style"]
        self.assertEqual((new_style.step, new_style.value), (7, -3.5))
        self.assertTrue(math.isnan(points["losses/not_a_number"].value))
        self.assertNotIn("weights", points)


if __name__ == "__main__":
    unittest.main()
