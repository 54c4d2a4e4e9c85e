"""Replays: recorded episodes from the daemon, as plain values, pictures and files.

`ReplayModel` is the one who calls it. What waits is called on a task's thread; what `open`, `parts`
and `export` return works on threads of its own and calls `wake` when there is news.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from gym_gui.replay.feed.episode_parts import EpisodePart, EpisodeParts
from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.stream_thread import StreamThread
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.video_files import VideoFile, videos_of
from mosaic.contract.episodes import EpisodeDetails, EpisodeOrder, EpisodePage, EpisodeRollup
from mosaic.contract.errors import UserError
from mosaic.contract.events import EnvironmentEvent, EpisodeStart, StepRecord
from mosaic.contract.runs import RunDetails
from mosaic.replay.export.export_request import ExportFormat, ExportRequest, ExportResult
from mosaic.replay.export.export_task import count_steps
from mosaic.replay.replay_state import ReplayFrame, ReplayState

if TYPE_CHECKING:
    from mosaic.replay.episode_replay import EpisodeReplay
    from mosaic.replay.export.export_job import ExportJob, ExportState

__all__ = [
    "EpisodeOpening",
    "EpisodePart",
    "EpisodeReplay",
    "ExportFormat",
    "ExportJob",
    "ExportResult",
    "ExportState",
    "Outstanding",
    "ReplayFrame",
    "ReplayState",
    "Replays",
    "free_target",
]

Line = TypeVar("Line", EnvironmentEvent, EpisodeStart)

Outstanding = Literal["best", "worst", "longest"]
_ORDERS: dict[Outstanding, tuple[EpisodeOrder, bool]] = {
    "best": ("return", True),
    "worst": ("return", False),
    "longest": ("steps", True),
}
_MOST_PARTS_WAITING = 16


class EpisodeOpening(msgspec.Struct, kw_only=True, frozen=True):
    """What has to be known of an episode before anything of it can be shown."""

    run: RunDetails
    details: EpisodeDetails
    environment: EnvironmentEvent | None
    start: EpisodeStart | None
    steps: int
    videos: tuple[VideoFile, ...] = ()
    """What the run has recorded, where it can be played here."""

    @property
    def rollup(self) -> EpisodeRollup:
        return self.details.episode


class Replays:
    """Of the daemon of one link."""

    def __init__(self, link: TrainerLink, wake: Callable[[], None]) -> None:
        self._link = link
        self._wake = wake

    def opening(self, run_id: str, episode: int | None) -> EpisodeOpening:
        """Waits. Without a number the newest finished episode is meant. Raises `UserError`."""
        client = self._link.client
        run = client.run(run_id)
        if episode is None:
            episode = self._first(run_id, order="episode", descending=True)
        details = client.episode(run_id, episode)
        return EpisodeOpening(
            run=run,
            details=details,
            environment=_decoded(details.environment_json, EnvironmentEvent),
            start=_decoded(details.start_json, EpisodeStart),
            steps=count_steps(details),
            videos=videos_of(run, client.home),
        )

    def steps(self, run_id: str, episode: int, first: int, count: int) -> list[StepRecord]:
        """Waits."""
        return self._link.client.episode_steps(run_id, episode, first, count)

    def parts(self, run_id: str, opening: EpisodeOpening) -> StreamThread[EpisodePart]:
        """All steps of the episode, part by part, on a thread."""
        client, episode = self._link.client, opening.rollup.episode
        return StreamThread(
            "episode parts",
            lambda: EpisodeParts(
                lambda first, count: client.episode_steps(run_id, episode, first, count),
                opening.steps,
            ),
            self._wake,
            _MOST_PARTS_WAITING,
        )

    def open(
        self, run_id: str, episode: int, memory_bytes: int, on_change: Callable[[], None]
    ) -> "EpisodeReplay":
        """Its pictures. `on_change` is called on the replay's own thread."""
        from mosaic.replay.episode_replay import EpisodeReplay  # noqa: PLC0415 - brings gRPC

        return EpisodeReplay(
            self._link.client, run_id, episode, memory_bytes=memory_bytes, on_change=on_change
        )

    def export(
        self, run_id: str, episode: int, target: Path, kind: ExportFormat, *, captions: bool
    ) -> "ExportJob":
        """Begins at once, on a thread of its own."""
        from mosaic.replay.export.export_job import ExportJob  # noqa: PLC0415 - brings gRPC

        request = ExportRequest(target=target, format=kind, overlay=captions)
        return ExportJob(self._link.client, run_id, episode, request, on_change=self._wake)

    def episodes(self, run_id: str, first: int, count: int) -> EpisodePage:
        """Some of the run's episodes by number. Waits."""
        return self._link.client.episodes_page(run_id, first=first, count=count)

    def outstanding(self, run_id: str, which: Outstanding) -> int:
        """The number of the finished episode that is the best, worst or longest. Waits."""
        order, descending = _ORDERS[which]
        return self._first(run_id, order=order, descending=descending)

    def actors(self, run_id: str, episodes: Sequence[EpisodeRollup]) -> dict[int, tuple[str, ...]]:
        """Who acted, judged by the first step, the last and the one between them. Waits."""
        found = {}
        for each in episodes:
            last = max(each.steps, each.reported_steps or 0) - 1
            names = (
                step.actor
                for number in sorted({0, last // 2, last})
                if number >= 0
                for step in self.steps(run_id, each.episode, number, 1)
            )
            found[each.episode] = tuple(dict.fromkeys(name for name in names if name))
        return found

    def _first(self, run_id: str, *, order: EpisodeOrder, descending: bool) -> int:
        ask = self._link.client.episodes_page
        page = ask(run_id, count=1, order=order, descending=descending, ended="over")
        if not page.episodes:  # then one that has not ended is better than none
            page = ask(run_id, count=1, order=order, descending=descending)
        if not page.episodes:
            raise UserError(
                "This run has no recorded episodes.",
                remedy="Wait until one has begun, or turn on step telemetry for the next run.",
                code="C340",
            )
        return page.episodes[0].episode


def _decoded(line: bytes | None, kind: type[Line]) -> Line | None:
    """None where the line is missing, or is none that this version understands."""
    if not line:
        return None
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError:
        return None
