"""BdiStream: the changes of the BDI states of a run's agents, from the first one on.

A change belongs to the episode of its agent that was running when it was reported, by the order of
the lines: runs count their steps differently, with or without evaluation. Read on a thread;
`BeliefsModel` drains the entries.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from gym_gui.beliefs.feed.bdi_state import BdiEntry, StepPosition
from gym_gui.runtime.run_stream import RunStream
from gym_gui.runtime.stream_thread import ClosableStream
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import EventLine
from mosaic.contract.bdi import BdiChange, change_from_event
from mosaic.contract.decode import RejectedLineError
from mosaic.contract.events import BdiEvent
from mosaic.contract.prebuild import prebuild_decoders

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["BdiEntries", "BdiStream", "fetch_changes"]

_MAX_BATCH = 500
"""Maximum number of changes per batch; the others wait in the store."""
_MAX_OPEN = 20_000
"""Limit for runs that report no episodes."""
_NEWEST_EPISODES = 16
_MAX_TIME_S = 1e11
"""Largest accepted Unix time, in seconds."""


class BdiStream(RunStream[BdiEntry]):
    """Streams the changes of one run, starting with the first."""

    def __init__(self, link: TrainerLink, ticker: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, ticker, "BDI changes of a run", _MAX_BATCH, parent)

    def open_stream(self, client: "TrainerClient", run_id: str) -> ClosableStream[BdiEntry]:
        return BdiEntries(
            client.events(run_id, follow=True), lambda agent: _last_step(client, run_id, agent)
        )


def fetch_changes(
    client: "TrainerClient", run_id: str, positions: Mapping[int, StepPosition]
) -> list[BdiEntry]:
    """Read the changes whose `seq` is in `positions`, and no other lines.

    Blocks; raises `UserError`.
    """
    entries: list[BdiEntry] = []
    last = max(positions)
    stream = client.events(run_id, after=min(positions) - 1, kind="bdi")
    try:
        for line in stream:
            position, event = positions.get(line.seq), _decode_bdi(line)
            if position is not None and event is not None:
                entries.append(_entry(line, event, position, change_from_event(event)))
            if line.seq >= last:
                break
    finally:
        stream.close()
    return entries


class _EpisodeBoundary(msgspec.Struct):
    """The needed fields of lines that start and end episodes."""

    agent_id: str | None = None
    episode: int | None = None
    steps: int = 0


class BdiEpisodeTracker:
    """Locates the changes of a run, or of one agent, in its episodes.

    A change belongs to the next step, or to the last one if no other step follows. Call the
    methods in the order of the lines.
    """

    def __init__(self) -> None:
        self._episode = 0
        """Number of the current or next episode."""
        self._started = 0
        self._reports_starts = False
        self._is_between = False
        """No episode is running. Only known for runs that report episode starts."""
        self._steps_before = 0
        """Number of steps at the start of the episode."""
        self._last_end: StepPosition | None = None
        """Last step of the episode that ended last."""
        self._open: list[BdiEntry] = []
        """Changes whose step may never be played."""
        self._are_too_many = False

    @property
    def is_open(self) -> bool:
        """Whether there are changes whose step may never be played."""
        return bool(self._open)

    def start(self, number: int | None) -> None:
        number = self._started if number is None else number
        self._started = max(self._started, number + 1)
        self._episode = max(self._episode, number)
        self._is_between, self._reports_starts = False, True

    def end(self, number: int | None, steps: int) -> list[BdiEntry]:
        """Return the changes after the last step, moved to their final position."""
        number = self._episode if number is None else number
        self._started = max(self._started, number + 1)
        self._episode = max(self._episode, number + 1)
        self._steps_before += steps
        self._is_between, self._are_too_many = self._reports_starts, False
        last = StepPosition(number, steps - 1) if steps > 0 else None
        self._last_end = last or self._last_end
        late = [entry for entry in self._open if entry.position.episode == number]
        self._open = [entry for entry in self._open if entry.position.episode > number]
        return _move_entries(late, last)

    def current_position(self, steps_done: int | None) -> StepPosition:
        """`steps_done` is the reported number of steps over all episodes."""
        if self._is_between and steps_done is not None:
            self._steps_before = steps_done  # evaluation episodes are not counted
        return StepPosition(self._episode, max(0, (steps_done or 0) - self._steps_before))

    def wait_for_step(self, entry: BdiEntry) -> None:
        """Remember an entry whose step has not been played yet."""
        if len(self._open) == _MAX_OPEN:
            # All keep their position: later ones must not move before earlier ones.
            self._open, self._are_too_many = [], True
        if not self._are_too_many:
            self._open.append(entry)

    def close(self, last_step: StepPosition | None) -> list[BdiEntry]:
        """Return the changes whose step was never played, moved to their final position.

        `last_step` is the last stored step; None if unknown. Call after the last line.
        """
        if last_step is None and self._episode >= self._started:
            last_step = self._last_end
        return _move_entries(self._open, last_step)


def _move_entries(entries: list[BdiEntry], last: StepPosition | None) -> list[BdiEntry]:
    if last is None:
        return []
    return [
        entry._replace(position=last, is_after=True) for entry in entries if entry.position > last
    ]


class BdiEntries:
    """Iterates over the changes of a run, each with its position.

    A change after the last step of an episode is yielded again once the end is known.
    """

    def __init__(
        self, stream: ClosableStream[EventLine], last_step: Callable[[str], StepPosition | None]
    ) -> None:
        """`last_step` is called per agent when the run has finished; empty name: all agents."""
        self._stream = stream
        self._last_step = last_step
        self._is_closed = False
        self._boundaries = msgspec.json.Decoder(_EpisodeBoundary)
        self._shared_tracker = BdiEpisodeTracker()
        self._agent_trackers: dict[str, BdiEpisodeTracker] = {}
        """For agents that are named in their episode lines."""
        self._last_positions: dict[str, StepPosition] = {}
        self._last = BdiChange()

    def __iter__(self) -> Iterator[BdiEntry]:
        for line in self._stream:
            if line.type == "bdi":
                event = _decode_bdi(line)
                if event is not None:
                    yield self._locate(line, event)
            elif line.type in ("episode_start", "episode"):
                yield from self._apply_boundary(line)
        for agent, tracker in (("", self._shared_tracker), *self._agent_trackers.items()):
            if tracker.is_open and not self._is_closed:
                yield from tracker.close(self._last_step(agent))

    def close(self) -> None:
        self._is_closed = True
        self._stream.close()

    def _apply_boundary(self, line: EventLine) -> list[BdiEntry]:
        try:
            boundary = self._boundaries.decode(line.line)
        except msgspec.DecodeError:
            return []
        trackers = [self._shared_tracker]
        if boundary.agent_id:
            trackers.append(self._agent_trackers.setdefault(boundary.agent_id, BdiEpisodeTracker()))
        moved: list[BdiEntry] = []
        for tracker in trackers:
            if line.type == "episode_start":
                tracker.start(boundary.episode)
            else:
                moved += tracker.end(boundary.episode, boundary.steps)
        return moved

    def _locate(self, line: EventLine, event: BdiEvent) -> BdiEntry:
        agent = event.agent_id or ""
        tracker = self._agent_trackers.get(agent, self._shared_tracker)
        position = max(
            self._last_positions.get(agent, StepPosition(0, 0)),
            tracker.current_position(event.step),
        )
        self._last_positions[agent] = position
        entry = _entry(line, event, position, self._share_unchanged(change_from_event(event)))
        tracker.wait_for_step(entry)
        return entry

    def _share_unchanged(self, change: BdiChange) -> BdiChange:
        """Share unchanged goals and intentions with the last change, to save memory."""
        last = self._last
        same = {
            name: getattr(last, name)
            for name in ("goals", "intentions", "plan")
            if getattr(last, name) == getattr(change, name)
        }
        self._last = msgspec.structs.replace(change, **same) if same else change
        return self._last


def _last_step(client: "TrainerClient", run_id: str, agent: str) -> StepPosition | None:
    """Return the last step of the newest episode of the agent that has steps."""
    page = client.episodes_page(run_id, count=_NEWEST_EPISODES, descending=True)
    for rollup in page.episodes:
        steps = max(rollup.steps, rollup.reported_steps or 0)
        if steps and agent in ("", rollup.agent_id):
            return StepPosition(rollup.episode, steps - 1)
    return None


def _decode_bdi(line: EventLine) -> BdiEvent | None:
    """Return None if the line is invalid."""
    try:
        event = line.decode()
    except RejectedLineError:
        return None
    return event if isinstance(event, BdiEvent) else None


def _entry(line: EventLine, event: BdiEvent, position: StepPosition, change: BdiChange) -> BdiEntry:
    text = " ".join((*change.added, *change.removed, *change.goals, change.plan))
    agent = event.agent_id or ""
    return BdiEntry(line.seq, agent, position, _valid_time(event.t), change, text.lower())


def _valid_time(t: float | None) -> float | None:
    """Return None if the time is out of range."""
    return t if t is not None and 0 <= t < _MAX_TIME_S else None


prebuild_decoders(_EpisodeBoundary)
