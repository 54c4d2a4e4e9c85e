"""Exporting a run as an event file: tags, and runs without data."""

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from mosaic.analytics.event_files import read_scalars
from mosaic.analytics.run_event_files import export_event_file
from mosaic.contract.episodes import EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import Metric
from mosaic.contract.run_states import RunState
from mosaic.contract.runs import RunRecord

_RUN = RunRecord(
    run_id="01ARZ3NDEKTSV4RRFFQ69G5FAV",
    worker="w",
    mode="train",
    env_id="E",
    seed=1,
    state=RunState.SUCCEEDED,
    created_at=90.0,
    started_at=100.0,
)


class FakeSource:
    """The telemetry of a run, in memory."""

    def __init__(self, metrics: list[Metric], episodes: list[EpisodeRollup]) -> None:
        self._metrics = metrics
        self._episodes = episodes

    def metrics(self, _: str) -> AbstractContextManager[Iterable[tuple[int, Metric]], None]:
        return nullcontext(enumerate(self._metrics))

    def episodes_page(self, _: str, *, first: int, count: int) -> EpisodePage:
        return EpisodePage(
            episodes=tuple(self._episodes[first : first + count]), total=len(self._episodes)
        )


def _episode(number: int, *, is_over: bool = True) -> EpisodeRollup:
    return EpisodeRollup(
        episode=number,
        episode_id=str(number),
        revision=number,
        steps=10,
        total_return=float(number),
        is_over=is_over,
        terminated=is_over,
        truncated=False,
    )


def test_metrics_and_episodes_of_all_agents(tmp_path: Path) -> None:
    """One value or several at once, with and without agent, step and time; episodes by step."""
    metrics = [
        Metric(name="loss", value=0.5, step=0, t=100.0),
        Metric(values={"loss": 0.25, "lr": 0.125}, step=1000, t=200.0),
        Metric(name="reward", value=3.0, agent_id="red", step=1000),
        Metric(name="stepless", value=1.0),
    ]
    episodes = [_episode(number) for number in range(1500)] + [_episode(1500, is_over=False)]
    done = export_event_file(FakeSource(metrics, episodes), _RUN, tmp_path)
    curves = read_scalars(tmp_path)
    assert (done.points, done.tags) == (5 + 2 * 1500, len(curves))
    assert list(curves["loss"].steps) == [0, 1000]
    assert list(curves["loss"].values) == [0.5, 0.25]
    assert list(curves["red/reward"].times) == [200.0]
    assert list(curves["stepless"].steps) == [3]
    assert list(curves["episodes/length"].steps) == [10 * (at + 1) for at in range(1500)]
    assert list(curves["episodes/return"].values) == [float(at) for at in range(1500)]


def test_run_without_data(tmp_path: Path) -> None:
    """It is reported, and no file is left."""
    with pytest.raises(UserError, match="no metrics"):
        export_event_file(FakeSource([], [_episode(0, is_over=False)]), _RUN, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_export_can_be_cancelled(tmp_path: Path) -> None:
    """At any point; no file is left."""
    stop = threading.Event()
    source = FakeSource([], [_episode(number) for number in range(10)])

    def stop_at_five(points: int) -> None:
        if points >= 5:
            stop.set()

    with pytest.raises(UserError, match="was cancelled"):
        export_event_file(source, _RUN, tmp_path, stop=stop, on_progress=stop_at_five)
    assert list(tmp_path.iterdir()) == []


def test_unwritable_folder(tmp_path: Path) -> None:
    """The remedy is another folder."""
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="Choose a writable folder"):
        export_event_file(FakeSource([], [_episode(0)]), _RUN, tmp_path / "file" / "below")
