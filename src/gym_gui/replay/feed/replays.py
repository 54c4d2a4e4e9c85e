"""Replays: recorded episodes of the daemon as values, frames and files.

Used by `ReplayModel`. Blocking methods run on task threads. The results of `open`, `chunks` and
`export` use their own threads and call `wake` on updates.
"""

import math
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import msgspec

from gym_gui.runtime.export_target import free_target
from gym_gui.runtime.run_metadata import VideoFile, videos_of
from gym_gui.runtime.stream_thread import StreamThread
from gym_gui.runtime.trainer_link import TrainerLink
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


_PER_CALL = 1_000
ReadSteps = Callable[[int, int], list[StepRecord]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeChunk:
    """Consecutive steps. `rewards[i]` is the reward of step `first + i`; NaN if not stored."""

    first: int
    rewards: "array[float]"
    actors: tuple[tuple[int, str], ...]
    """First step and name of each actor; "" for an unnamed actor."""
    steps: tuple[StepRecord, ...]


class EpisodeChunks:
    """Reads steps 0 to `end` (exclusive) in order, for a `StreamThread`."""

    def __init__(self, read: ReadSteps, end: int) -> None:
        """`read(first, count)` blocks."""
        self._read = read
        self._end = end
        self._is_closed = False

    def close(self) -> None:
        """Stop reading; thread-safe."""
        self._is_closed = True

    def __iter__(self) -> Iterator[EpisodeChunk]:
        first = 0
        while first < self._end and not self._is_closed:
            page_end = min(self._end, first + _PER_CALL)
            steps = [
                step
                for step in self._read(first, page_end - first)
                if first <= step.step < self._end
            ]
            # A response may be shortened by its size; steps missing within it were not stored.
            end = steps[-1].step + 1 if steps else page_end
            yield make_chunk(first, end, steps)
            first = end


def make_chunk(first: int, end: int, steps: list[StepRecord]) -> EpisodeChunk:
    """Build the chunk of `first` to `end` (exclusive)."""
    rewards = array("d", [math.nan]) * (end - first)
    actors: list[tuple[int, str]] = []
    for step in steps:
        rewards[step.step - first] = step.reward
        actor = step.actor or ""
        if not actors or actors[-1][1] != actor:
            actors.append((step.step, actor))
    return EpisodeChunk(first=first, rewards=rewards, actors=tuple(actors), steps=tuple(steps))


__all__ = [
    "EpisodeChunk",
    "EpisodeOpening",
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
_MAX_QUEUED_CHUNKS = 16


class EpisodeOpening(msgspec.Struct, kw_only=True, frozen=True):
    """Data that is needed before an episode can be shown."""

    run: RunDetails
    details: EpisodeDetails
    environment: EnvironmentEvent | None
    start: EpisodeStart | None
    steps: int
    videos: tuple[VideoFile, ...] = ()
    """Playable videos of the run."""

    @property
    def rollup(self) -> EpisodeRollup:
        return self.details.episode


class Replays:
    """Recorded episodes of the daemon of one link."""

    def __init__(self, link: TrainerLink, wake: Callable[[], None]) -> None:
        self._link = link
        self._wake = wake

    def opening(self, run_id: str, episode: int | None) -> EpisodeOpening:
        """Blocks. Default episode: the newest finished one. Raises `UserError`."""
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
        """Blocks."""
        return self._link.client.episode_steps(run_id, episode, first, count)

    def chunks(self, run_id: str, opening: EpisodeOpening) -> StreamThread[EpisodeChunk]:
        """All steps of the episode in chunks, on a thread."""
        client, episode = self._link.client, opening.rollup.episode
        return StreamThread(
            "episode chunks",
            lambda: EpisodeChunks(
                lambda first, count: client.episode_steps(run_id, episode, first, count),
                opening.steps,
            ),
            self._wake,
            _MAX_QUEUED_CHUNKS,
        )

    def open(
        self, run_id: str, episode: int, memory_bytes: int, on_change: Callable[[], None]
    ) -> "EpisodeReplay":
        """Render the frames. `on_change` is called on the thread of the replay."""
        from mosaic.replay.episode_replay import EpisodeReplay  # noqa: PLC0415 - brings gRPC

        return EpisodeReplay(
            self._link.client, run_id, episode, memory_bytes=memory_bytes, on_change=on_change
        )

    def export(
        self, run_id: str, episode: int, target: Path, kind: ExportFormat, *, captions: bool
    ) -> "ExportJob":
        """Start an export on its own thread."""
        from mosaic.replay.export.export_job import ExportJob  # noqa: PLC0415 - brings gRPC

        request = ExportRequest(target=target, format=kind, overlay=captions)
        return ExportJob(self._link.client, run_id, episode, request, on_change=self._wake)

    def episodes(self, run_id: str, first: int, count: int) -> EpisodePage:
        """Episodes by number. Blocks."""
        return self._link.client.episodes_page(run_id, first=first, count=count)

    def outstanding(self, run_id: str, which: Outstanding) -> int:
        """Number of the best, worst or longest finished episode. Blocks."""
        order, descending = _ORDERS[which]
        return self._first(run_id, order=order, descending=descending)

    def actors(self, run_id: str, episodes: Sequence[EpisodeRollup]) -> dict[int, tuple[str, ...]]:
        """Actors of episodes, from the first, middle and last step. Blocks."""
        actors = {}
        for rollup in episodes:
            last = max(rollup.steps, rollup.reported_steps or 0) - 1
            names = (
                step.actor
                for number in sorted({0, last // 2, last})
                if number >= 0
                for step in self.steps(run_id, rollup.episode, number, 1)
            )
            actors[rollup.episode] = tuple(dict.fromkeys(name for name in names if name))
        return actors

    def _first(self, run_id: str, *, order: EpisodeOrder, descending: bool) -> int:
        read_page = self._link.client.episodes_page
        page = read_page(run_id, count=1, order=order, descending=descending, ended="over")
        if not page.episodes:  # fall back to an unfinished episode
            page = read_page(run_id, count=1, order=order, descending=descending)
        if not page.episodes:
            raise UserError(
                "This run has no recorded episodes.",
                remedy="Wait until an episode starts, or enable step telemetry for the next run.",
                code="C340",
            )
        return page.episodes[0].episode


def _decoded(line: bytes | None, kind: type[Line]) -> Line | None:
    """None if the line is missing or cannot be decoded."""
    if not line:
        return None
    try:
        return msgspec.json.decode(line, type=kind)
    except msgspec.MsgspecError:
        return None
