"""Event files as TensorBoard's own writer makes them."""

import math
from pathlib import Path

import torch
from torch.utils.tensorboard import SummaryWriter

from cleanrl_worker.upstream.event_files import EventFiles
from cleanrl_worker.upstream.event_records import EventPoint, EventText


def test_what_torch_writes_is_read(tmp_path: Path) -> None:
    """Scalars of both kinds and texts; histograms are passed over."""
    table = "|param|value|\n|-|-|\n|seed|1|"
    files = EventFiles(tmp_path)
    with SummaryWriter(str(tmp_path / "runs" / "CartPole-v1__ppo__1__1700000000")) as writer:
        writer.add_text("hyperparameters", table)
        writer.add_scalar("charts/episodic_return", 15.0, 60)
        writer.flush()
        files.look()
        first = list(files.read_new())
        writer.add_scalar("losses/value_loss", 0.25, 2**40, walltime=1700000000.5)
        writer.add_scalar("losses/new_style", -3.5, 7, new_style=True)
        writer.add_scalar("losses/not_a_number", float("nan"), 8)
        writer.add_histogram("weights", torch.arange(3.0), 9)
    later = list(files.read_new())
    assert not files.broken
    assert first[0] == EventText("hyperparameters", table)
    assert [(each.tag, each.value) for each in first[1:] if isinstance(each, EventPoint)] == [
        ("charts/episodic_return", 15.0)
    ]
    points = {each.tag: each for each in later if isinstance(each, EventPoint)}
    assert points["losses/value_loss"] == EventPoint("losses/value_loss", 2**40, 1700000000.5, 0.25)
    assert (points["losses/new_style"].step, points["losses/new_style"].value) == (7, -3.5)
    assert math.isnan(points["losses/not_a_number"].value)
    assert "weights" not in points
