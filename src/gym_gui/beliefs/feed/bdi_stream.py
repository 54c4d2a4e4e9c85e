"""BdiStream: how the minds of a run's agents change, from the first change on and while it goes on.

A change belongs to the episode of its agent that was under way when it was told, by the order of
the lines: runs count their steps differently, with evaluation or without. Read on a thread;
`BeliefsModel` takes what came.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject

from gym_gui.beliefs.feed.bdi_state import MindEntry, Place
from gym_gui.beliefs.feed.episode_tracker import EpisodeTracker
from gym_gui.runtime.run_stream import RunStream
from gym_gui.runtime.stream_thread import Closable
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.results import EventLine
from mosaic.contract.bdi import BdiChange, change_from_event
from mosaic.contract.decode import RejectedLineError
from mosaic.contract.events import BdiEvent
from mosaic.contract.prebuild import prebuild_decoders

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

__all__ = ["BdiStream", "MindEntries", "fetch_changes"]

_MOST_AT_ONCE = 500
"""Changes at a time; the rest waits, in the store."""
_NEWEST_EPISODES = 16
_LATEST_S = 1e11
"""Of the epoch, in seconds: thousands of years from now."""


class BdiStream(RunStream[MindEntry]):
    """From the first change on."""

    def __init__(self, link: TrainerLink, pulse: UiTicker, parent: QObject | None = None) -> None:
        super().__init__(link, pulse, "minds of a run", _MOST_AT_ONCE, parent)

    def read(self, client: "TrainerClient", run_id: str) -> Closable[MindEntry]:
        return MindEntries(
            client.events(run_id, follow=True), lambda agent: _last_step(client, run_id, agent)
        )


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
                entries.append(_entry(line, event, place, change_from_event(event)))
            if line.seq >= last:
                break
    finally:
        stream.close()
    return entries


class _Moment(msgspec.Struct):
    """Of lines that begin and end episodes, what is needed here."""

    agent_id: str | None = None
    episode: int | None = None
    steps: int = 0


class MindEntries:
    """The changes among all other lines of a run, each with its place.

    One that was told after the last step of an episode comes again when that is known.
    """

    def __init__(
        self, stream: Closable[EventLine], last_step: Callable[[str], Place | None]
    ) -> None:
        """`last_step` of an agent is asked for once the run is over; of an empty one, of all."""
        self._stream = stream
        self._last_step = last_step
        self._is_closed = False
        self._moments = msgspec.json.Decoder(_Moment)
        self._of_all = EpisodeTracker()
        self._of_agent: dict[str, EpisodeTracker] = {}
        """Of agents whose episodes have their name on them."""
        self._last_places: dict[str, Place] = {}
        self._last = BdiChange()

    def __iter__(self) -> Iterator[MindEntry]:
        for line in self._stream:
            if line.type == "bdi":
                event = _told(line)
                if event is not None:
                    yield self._placed(line, event)
            elif line.type in ("episode_start", "episode"):
                yield from self._moved_by(line)
        for agent, course in (("", self._of_all), *self._of_agent.items()):
            if course.is_open and not self._is_closed:
                yield from course.close(self._last_step(agent))

    def close(self) -> None:
        self._is_closed = True
        self._stream.close()

    def _moved_by(self, line: EventLine) -> list[MindEntry]:
        try:
            moment = self._moments.decode(line.line)
        except msgspec.DecodeError:
            return []
        courses = [self._of_all]
        if moment.agent_id:
            courses.append(self._of_agent.setdefault(moment.agent_id, EpisodeTracker()))
        moved: list[MindEntry] = []
        for course in courses:
            if line.type == "episode_start":
                course.begin(moment.episode)
            else:
                moved += course.end(moment.episode, moment.steps)
        return moved

    def _placed(self, line: EventLine, event: BdiEvent) -> MindEntry:
        agent = event.agent_id or ""
        course = self._of_agent.get(agent, self._of_all)
        place = max(self._last_places.get(agent, Place(0, 0)), course.place_now(event.step))
        self._last_places[agent] = place
        entry = _entry(line, event, place, self._sharing(change_from_event(event)))
        course.wait_for_step(entry)
        return entry

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


def _last_step(client: "TrainerClient", run_id: str, agent: str) -> Place | None:
    """Of the newest episode with steps; an agent that takes turns has one among a few."""
    page = client.episodes_page(run_id, count=_NEWEST_EPISODES, descending=True)
    for each in page.episodes:
        steps = max(each.steps, each.reported_steps or 0)
        if steps and agent in ("", each.agent_id):
            return Place(each.episode, steps - 1)
    return None


def _told(line: EventLine) -> BdiEvent | None:
    """None for a line that makes no sense."""
    try:
        event = line.decode()
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


prebuild_decoders(_Moment)
