"""MindFeed: how the minds of a run's agents change, from the first change on and while it goes on.

A change belongs to the episode that was under way when it was told, by the order of the lines: runs
count their steps differently, with evaluation or without. Read on a thread; `BeliefsModel` takes
what came.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from gym_gui.services.minds import MindEntry, Place
from gym_gui.services.pulse import Pulse
from gym_gui.services.run_stream import RunStream
from gym_gui.services.stream_thread import Closable
from gym_gui.services.trainer_link import TrainerLink
from mosaic.client.results import EventLine
from mosaic.contract.bdi import BdiChange, change_on_line
from mosaic.contract.decode import RejectedLineError
from mosaic.contract.events import BdiEvent

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["MindEntries", "MindFeed", "fetch_changes"]

_MOST_AT_ONCE = 500
"""Changes at a time; the rest waits, in the store."""
_LATEST_S = 1e11
"""Of the epoch, in seconds: thousands of years from now."""


class MindFeed(RunStream[MindEntry]):
    """From the first change on."""

    def __init__(self, link: TrainerLink, pulse: Pulse, parent: QObject | None = None) -> None:
        super().__init__(link, pulse, "minds of a run", _MOST_AT_ONCE, parent)

    def read(self, client: "TrainerClient", run_id: str) -> Closable[MindEntry]:
        return MindEntries(client.events(run_id, follow=True))


def fetch_changes(
    client: "TrainerClient", run_id: str, places: Mapping[int, Place]
) -> list[MindEntry]:
    """Changes by the `seq` of their lines, which were told at `places`. No other lines are read.

    Waits; raises `UserError`.
    """
    entries: list[MindEntry] = []
    last = max(places)
    stream = client.events(run_id, after=min(places) - 1, kind="bdi")
    try:
        for line in stream:
            place, event = places.get(line.seq), _told(line)
            if place is not None and event is not None:
                entries.append(_entry(line, event, place, change_on_line(event)))
            if line.seq >= last:
                break
    finally:
        stream.close()
    return entries


class _Bounds(msgspec.Struct):
    """Of lines that begin and end episodes, what is needed here."""

    episode: int | None = None
    steps: int = 0


class MindEntries:
    """The changes among all other lines of a run, each with its place."""

    def __init__(self, stream: Closable[EventLine]) -> None:
        self._stream = stream
        self._bounds = msgspec.json.Decoder(_Bounds)
        self._episode = 0
        """The one that is under way, or comes next."""
        self._started = 0
        self._tells_starts = False
        self._is_between = False
        """No episode is under way; known only of runs that tell when one begins."""
        self._steps_before = 0
        """How many steps the run had counted when the episode began."""
        self._last_place = Place(0, 0)
        self._last = BdiChange()

    def __iter__(self) -> Iterator[MindEntry]:
        for line in self._stream:
            if line.type == "bdi":
                event = _told(line)
                if event is not None:
                    change = self._sharing(change_on_line(event))
                    yield _entry(line, event, self._place_of(event), change)
            elif line.type in ("episode_start", "episode"):
                self._note_bounds(line)

    def close(self) -> None:
        self._stream.close()

    def _note_bounds(self, line: EventLine) -> None:
        try:
            bounds = self._bounds.decode(line.line)
        except msgspec.DecodeError:
            return
        is_start = line.type == "episode_start"
        number = bounds.episode
        if number is None:
            number = self._started if is_start else self._episode
        self._started = max(self._started, number + 1)
        self._episode = max(self._episode, number if is_start else number + 1)
        self._steps_before += bounds.steps
        self._is_between = not is_start and self._tells_starts
        self._tells_starts = self._tells_starts or is_start

    def _place_of(self, event: BdiEvent) -> Place:
        if self._is_between and event.step is not None:
            self._steps_before = event.step  # some episodes do not count, such as evaluation
        done = (event.step or 0) - self._steps_before
        place = max(self._last_place, Place(self._episode, max(0, done)))
        self._last_place = place
        return place

    def _sharing(self, change: BdiChange) -> BdiChange:
        """Most changes leave goals and intentions as they were: those are kept once in memory."""
        last = self._last
        same = {
            name: getattr(last, name)
            for name in ("goals", "intentions", "plan")
            if getattr(last, name) == getattr(change, name)
        }
        self._last = msgspec.structs.replace(change, **same) if same else change
        return self._last


def _told(line: EventLine) -> BdiEvent | None:
    """None for a line that makes no sense."""
    try:
        event = line.decoded()
    except RejectedLineError:
        return None
    return event if isinstance(event, BdiEvent) else None


def _entry(line: EventLine, event: BdiEvent, place: Place, change: BdiChange) -> MindEntry:
    words = " ".join((*change.added, *change.removed, *change.goals, change.plan))
    agent = event.agent_id or ""
    return MindEntry(line.seq, agent, place, _sensible(event.t), change, words.lower())


def _sensible(t: float | None) -> float | None:
    """A clock can show it."""
    return t if t is not None and 0 <= t < _LATEST_S else None
