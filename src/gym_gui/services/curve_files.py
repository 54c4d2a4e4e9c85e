"""Curves as a file: every point of every metric that was chosen, a part at a time. Waits."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gym_gui.services.curves import all_points
from gym_gui.services.episode_curves import LENGTH, RETURN, EpisodeCurves, MetricKey

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_HEAD = ("run_id", "run", "metric", "agent", "step", "value")


def write_points(
    client: "TrainerClient", runs: Sequence[tuple[str, str]], keys: Sequence[MetricKey], path: Path
) -> None:
    """`runs` are ids and names. Raises `UserError` and `OSError`."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(_HEAD)
        for run_id, title in runs:
            told = {MetricKey(each.name, each.agent_id or "") for each in client.series(run_id)}
            for key in keys:
                parts: Iterable[tuple[list[float], list[float]]]
                if key in told:
                    parts = (
                        (part.x.tolist(), part.y.tolist())
                        for part in all_points(client, run_id, key)
                    )
                elif key in (RETURN, LENGTH):
                    episodes = EpisodeCurves(client, run_id)
                    episodes.refresh(is_final=True)
                    x, y = episodes.curve(key, "step")
                    parts = [(x.tolist(), y.tolist())]
                else:
                    continue
                for steps, values in parts:
                    for step, value in zip(steps, values, strict=True):
                        place = int(step) if step == step // 1 else step
                        writer.writerow((run_id, title, key.name, key.agent, place, value))
