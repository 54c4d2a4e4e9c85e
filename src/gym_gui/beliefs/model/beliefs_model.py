"""BeliefsModel: what an agent of the shown run has in mind, now or at the step that is replayed.

Changes are taken ten times a second at most, however many there are. While the Replay tab has an
episode of the same run, the mind is that of the replayed step, unless a person wants to see now.
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gym_gui.beliefs.feed.bdi_state import BdiChange, Intention, Mind, MindEntry, Place
from gym_gui.beliefs.feed.bdi_stream import BdiStream
from gym_gui.beliefs.model.bdi_history import BdiHistory, summed_up
from gym_gui.beliefs.model.bdi_history_cache import BdiHistoryCache
from gym_gui.beliefs.model.bdi_timeline import BdiTimeline, entry_words
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.bdi import change_from_step
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.run_states import LIVE_STATES

__all__ = ["BeliefsModel", "BeliefsPhase", "Intention", "ShownMind", "When"]

BeliefsPhase = Literal["none", "waiting", "silent", "failed", "ready"]
When = Literal["now", "replay"]
_LEAST_S = 0.1
"""Between two times that changes are taken: nobody reads faster."""


@dataclass(frozen=True, slots=True)
class ShownMind:
    """All that the page shows of one agent."""

    beliefs: tuple[str, ...] = ()
    """Those that went at this moment are among them."""
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    goals: tuple[str, ...] = ()
    intentions: tuple[Intention, ...] = ()
    plan: str = ""
    """The one that fired at this moment; otherwise the last one that did."""
    has_fired: bool = False
    confidence: float | None = None
    place: Place | None = None
    as_of: str = ""
    """Where it came to be so, when that was before `place`."""
    is_known: bool = True
    """Otherwise it is being read, or cannot be."""


class ReplayPosition(Protocol):
    """The step that the Replay tab shows; `ReplayModel` is one."""

    @property
    def episode_changed(self) -> SignalInstance: ...
    @property
    def step_changed(self) -> SignalInstance: ...
    @property
    def run_id(self) -> str: ...
    @property
    def episode(self) -> int | None: ...
    @property
    def playhead(self) -> int: ...
    @property
    def step(self) -> StepRecord | None: ...


class BeliefsModel(QObject):
    """Made when the page is first looked at. Of the shown run, once it has been in sight."""

    changed = Signal()
    """At most ten times a second while a run goes on, and whenever the replay moves."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        shown: SelectedRun,
        replay: ReplayPosition,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.agent = ""
        self.when: When = "now"
        self.mind = ShownMind()
        self.timeline = BdiTimeline(self)
        self._pulse = pulse
        self._shown = shown
        self._replay = replay
        self._feed = BdiStream(link, pulse, self)
        self._histories: dict[str, BdiHistory] = {}
        """Of each agent, which has episodes of its own where there are several learners."""
        self._news: list[BdiChange] = []
        """Of the shown agent, in the batch that was taken last."""
        self._earlier = BdiHistoryCache(link, tasks, self)
        self._is_in_sight = False
        self._was_over = False
        self._take_at = 0.0
        shown.changed.connect(self._follow_run)
        shown.papers_changed.connect(self.changed)
        replay.episode_changed.connect(self._on_episode_changed)
        replay.step_changed.connect(self._on_replay_moved)
        self._earlier.changed.connect(self._update)
        pulse.subscribe(self, self._on_beat)

    # What is shown.

    @property
    def phase(self) -> BeliefsPhase:
        if not self._shown.run_id:
            return "none"
        if self._histories or self._step_change is not None:
            return "ready"
        if self._feed.error is not None:
            return "failed"
        return "silent" if self._was_over else "waiting"

    @property
    def problem(self) -> UserError | None:
        return self._feed.error

    @property
    def is_reading(self) -> bool:
        """What was in mind at the replayed step is on its way."""
        return not self.mind.is_known and self._earlier_problem is None

    @property
    def trouble(self) -> str:
        """What is missing of what is shown, why, and what to do; empty when all is there."""
        if (error := self._earlier_problem) is not None:
            what = "What the agent had in mind at this step cannot be read."
        elif (error := self._feed.error) is not None:
            what = "No more changes can be read."
        else:
            return ""
        return f"{what} {error.message} {error.remedy}".strip()

    @property
    def is_live(self) -> bool:
        run = self._shown.run
        return run is not None and run.state in LIVE_STATES

    @property
    def agents(self) -> list[str]:
        return list(self._histories)

    @property
    def can_replay(self) -> bool:
        """The Replay tab has an episode of this run."""
        return bool(self.run_id) and self._replay.run_id == self.run_id and self._has_episode

    @property
    def follows_replay(self) -> bool:
        return self.when == "replay" and self.can_replay

    @property
    def place(self) -> Place | None:
        """The step that is replayed: the one that led to the playhead."""
        episode = self._replay.episode
        if not self.follows_replay or episode is None:
            return None
        return Place(episode, max(0, self._replay.playhead - 1))

    @property
    def dropped(self) -> int:
        """Changes at the beginning that are no longer listed."""
        return self._history.dropped

    def replayable(self, row: int) -> Place | None:
        """Where a change of the timeline can be replayed; None while no episode is recorded."""
        run, place = self._shown.run, self.timeline.entry(row).place
        if run is None or not run.digest.episodes:
            return None
        # What was told last may be of an episode that has not begun yet.
        last = run.digest.episodes - 1
        return place if place.episode <= last else Place(last, 0)

    # What a person does.

    def set_in_sight(self, is_in_sight: bool) -> None:
        self._is_in_sight = is_in_sight
        if is_in_sight:
            self._follow_run()
            self._pulse.wake()

    def choose_agent(self, agent: str) -> None:
        if agent != self.agent:
            self.agent = agent
            self._news = []
            self.timeline.show(self._history.entries, agent, self.timeline.needle)
            self._update()

    def choose_when(self, when: When) -> None:
        self.when = when
        self._news = []
        self._update()

    def search(self, words: str) -> None:
        self.timeline.show(self._history.entries, self.agent, words)
        self.changed.emit()

    def retry(self) -> None:
        """Whatever could not be read."""
        if self._earlier_problem is not None:
            self._earlier.try_again()
            self._update()
        else:
            self._begin(self.run_id)

    def close(self) -> None:
        """Does not wait."""
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    # How it comes about.

    def _follow_run(self) -> None:
        """A run is read once the page is in sight; one that is no longer shown at once no more."""
        run_id = self._shown.run_id
        if run_id != self.run_id and (self._is_in_sight or self.run_id):
            self._begin(run_id if self._is_in_sight else "")
        run = self._shown.run
        self.timeline.run_started = run.started_at if run else None

    def _begin(self, run_id: str) -> None:
        self.run_id, self.agent, self._was_over = run_id, "", False
        self._histories, self._news = {}, []
        self._earlier.show(run_id)
        self.when = "replay" if self.can_replay else "now"
        self.timeline.show((), "", self.timeline.needle)
        self._feed.show(run_id)
        self._update()

    def _on_beat(self) -> bool:
        if not self._is_in_sight or not self.run_id:
            return False
        now = time.monotonic()
        if now < self._take_at:
            return True
        entries = self._feed.take()
        if not entries:
            if self._feed.is_over and not self._was_over:
                self._was_over = True
                self._update()
            return False
        self._take_at = now + _LEAST_S
        self._take(entries)
        return True

    def _take(self, entries: list[MindEntry]) -> None:
        had_agent = bool(self._histories)
        by_agent: dict[str, list[MindEntry]] = {}
        for entry in entries:
            by_agent.setdefault(entry.agent, []).append(entry)
        dropped = False
        for agent, told in by_agent.items():
            count = self._histories.setdefault(agent, BdiHistory()).add(told)
            dropped = dropped or (count > 0 and agent == self.agent)
        if not had_agent:
            self.agent = entries[0].agent
            self.timeline.show(self._history.entries, self.agent, self.timeline.needle)
        else:
            self.timeline.add(entries)
        if dropped:
            self.timeline.drop_before(self._history.entries[0].seq)
        mine = [each.change for each in by_agent.get(self.agent, ()) if not each.is_after]
        if mine:
            # A long past that comes at once has no news but its last change.
            self._news = mine if had_agent and self.is_live else mine[-1:]
        self._update()

    @property
    def _history(self) -> BdiHistory:
        """Of the shown agent."""
        return self._histories.get(self.agent) or BdiHistory()

    @property
    def _has_episode(self) -> bool:
        return self._replay.episode is not None

    def _on_episode_changed(self) -> None:
        if self.run_id:
            self.when = "replay" if self.can_replay else "now"
            self._update()

    def _on_replay_moved(self) -> None:
        if self._is_in_sight and self.follows_replay:
            self._update()

    def _update(self) -> None:
        place = self.place
        self.timeline.mark(place)
        self.mind = self._mind_now() if place is None else self._mind_at(place)
        self.changed.emit()

    def _mind_now(self) -> ShownMind:
        mind = self._history.now.get(self.agent, Mind())
        return _shown(mind, self._news, None)

    def _mind_at(self, place: Place) -> ShownMind:
        stretch = self._history.stretch_at(place)
        history = self._history if stretch is None else self._earlier.history_of(stretch)
        if history is None:
            return ShownMind(place=place, is_known=False)
        told = [each.change for each in history.told_at(place) if each.agent == self.agent]
        mind = history.minds_at(place).get(self.agent, Mind())
        on_step = self._step_change
        if not told and on_step is not None and self._is_mine(on_step, place, history):
            told = [on_step]
            mind.take(on_step, -1)
        last = None if told else history.last_told(place)
        return _shown(mind, told, place, entry_words(last) if last is not None else "")

    @property
    def _earlier_problem(self) -> UserError | None:
        """Of the stretch in which the replay is."""
        place = self.place
        stretch = self._history.stretch_at(place) if place is not None else None
        return self._earlier.problem_of(stretch) if stretch is not None else None

    @property
    def _step_change(self) -> BdiChange | None:
        """What the replayed step itself says."""
        step = self._replay.step
        return change_from_step(step.bdi) if step is not None and self.follows_replay else None

    def _is_mine(self, change: BdiChange, place: Place, history: BdiHistory) -> bool:
        """A step does not always say whose mind it tells of; the line it repeats does."""
        step, agents = self._replay.step, self.agents
        if step is not None and step.agent_id in agents:
            return step.agent_id == self.agent
        if len(agents) <= 1:
            return True
        near = history.told_in(place.episode)
        return any(each.agent == self.agent and each.change == change for each in near)


def _shown(mind: Mind, told: list[BdiChange], place: Place | None, as_of: str = "") -> ShownMind:
    added, removed = summed_up(told)
    removed -= mind.beliefs.keys()
    added &= mind.beliefs.keys()
    fired = next((change.plan for change in reversed(told) if change.plan), "")
    return ShownMind(
        beliefs=_in_order(mind.beliefs, removed),
        added=added,
        removed=removed,
        goals=mind.goals,
        intentions=mind.intentions,
        plan=fired or mind.plan,
        has_fired=bool(fired),
        confidence=mind.confidence,
        place=place,
        as_of=as_of,
    )


def _in_order(held: Iterable[str], removed: frozenset[str]) -> tuple[str, ...]:
    """By name, so that they stay where they are while values change; what went before what came."""

    def place(belief: str) -> tuple[str, bool, str]:
        return belief.partition("(")[0], belief not in removed, belief

    return tuple(sorted((*held, *removed), key=place))
