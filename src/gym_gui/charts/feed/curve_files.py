"""Curves as a file: every point of every metric that was chosen, a part at a time. Waits."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gym_gui.charts.feed.curve_source import Source
from gym_gui.charts.feed.curves import MetricKey

_HEAD = ("run_id", "run", "metric", "agent", "step", "value")


class Told(NamedTuple):
    """A run that is written, and what it is called."""

    run_id: str
    title: str
    source: Source


def write_points(runs: Sequence[Told], keys: Sequence[MetricKey], path: Path) -> None:
    """Raises `UserError` and `OSError`."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_HEAD)
        for run_id, title, source in runs:
            for key in keys:
                for part in source.points(key):
                    for step, value in zip(part.x.tolist(), part.y.tolist(), strict=True):
                        place = int(step) if step == step // 1 else step
                        writer.writerow((run_id, title, key.name, key.agent, place, value))
