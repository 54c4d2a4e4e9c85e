"""MindFeed: how the minds of a run's agents change, from the first change on and while it goes on.

A change belongs to the episode that was under way when it was told, by the order of the lines: runs
count their steps differently, with evaluation or without. Read on a thread; `BeliefsModel` takes
what came.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from gym_gui.services.minds import Mind, MindEntry, Place, fold
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

__all__ = ["MindEntries", "MindFeed", "fetch_minds"]

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


def fetch_minds(client: "TrainerClient", run_id: str, place: Place) -> dict[str, Mind]:
    """What every agent had in mind at a place that is no longer kept. Waits; raises `UserError`."""
    stream = client.events(run_id)
    minds: dict[str, Mind] = {}
    try:
        for entry in MindEntries(stream):
            if entry.place > place:
                break
            fold(minds, entry)
    finally:
        stream.close()
    return minds


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
                entry = self._entry(line)
                if entry is not None:
                    yield entry
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

    def _entry(self, line: EventLine) -> MindEntry | None:
        try:
            event = line.decoded()
        except RejectedLineError:
            return None
        if not isinstance(event, BdiEvent):
            return None
        if self._is_between and event.step is not None:
            self._steps_before = event.step  # some episodes do not count, such as evaluation
        done = (event.step or 0) - self._steps_before
        place = max(self._last_place, Place(self._episode, max(0, done)))
        self._last_place = place
        change = self._sharing(change_on_line(event))
        words = " ".join((*change.added, *change.removed, *change.goals, change.plan))
        return MindEntry(
            line.seq, event.agent_id or "", place, _sensible(event.t), change, words.lower()
        )

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


def _sensible(t: float | None) -> float | None:
    """A clock can show it."""
    return t if t is not None and 0 <= t < _LATEST_S else None
