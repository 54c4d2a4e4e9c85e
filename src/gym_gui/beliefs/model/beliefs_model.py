"""BeliefsModel: the BDI state of an agent of the selected run, now or at the replayed step.

Updates at most ten times a second. While the Replay tab has an episode of the same run, the state
is that of the replayed step, unless the user selects "now".
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from PySide6.QtCore import QObject, Signal, SignalInstance

from gym_gui.beliefs.feed.bdi_state import BdiChange, BdiEntry, BdiState, Intention, StepPosition
from gym_gui.beliefs.feed.bdi_stream import BdiStream
from gym_gui.beliefs.model.bdi_history import BdiHistory, BdiHistoryCache, combine_changes
from gym_gui.beliefs.model.bdi_timeline import BdiTimeline, entry_text
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from mosaic.contract.bdi import change_from_step
from mosaic.contract.errors import UserError
from mosaic.contract.events import StepRecord
from mosaic.contract.run_states import LIVE_STATES

__all__ = ["BeliefsModel", "BeliefsPhase", "DisplayedBdiState", "Intention", "When"]

BeliefsPhase = Literal["none", "waiting", "silent", "failed", "ready"]
When = Literal["now", "replay"]
_MIN_UPDATE_S = 0.1
"""Minimum time between two updates."""


@dataclass(frozen=True, slots=True)
class DisplayedBdiState:
    """The displayed state of one agent."""

    beliefs: tuple[str, ...] = ()
    """Includes those that were removed at this step."""
    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    goals: tuple[str, ...] = ()
    intentions: tuple[Intention, ...] = ()
    plan: str = ""
    """The plan that fired at this step; otherwise the last one that fired."""
    has_fired: bool = False
    confidence: float | None = None
    position: StepPosition | None = None
    as_of: str = ""
    """Position of the last change, if it is before `position`."""
    is_known: bool = True
    """False while the state is being read, or if that failed."""


class ReplayPosition(Protocol):
    """The replayed step; implemented by `ReplayModel`."""

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
    """Created when the page is first opened. Reads the selected run once the page is visible."""

    changed = Signal()
    """At most ten times a second during a run, and whenever the replay position changes."""

    def __init__(
        self,
        services: Services,
        selected: SelectedRun,
        replay: ReplayPosition,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.run_id = ""
        self.agent = ""
        self.when: When = "now"
        self.bdi_state = DisplayedBdiState()
        self.timeline = BdiTimeline(self)
        self._services = services
        self._selected = selected
        self._replay = replay
        self._feed = BdiStream(services.link, services.ticker, self)
        self._histories: dict[str, BdiHistory] = {}
        """By agent. Several learners have separate episodes."""
        self._last_changes: list[BdiChange] = []
        """Changes of the selected agent in the last batch."""
        self._cache = BdiHistoryCache(services.link, services.tasks, self)
        self._is_visible = False
        self._was_finished = False
        self._next_update_at = 0.0
        selected.changed.connect(self._follow_run)
        selected.metadata_changed.connect(self.changed)
        replay.episode_changed.connect(self._on_episode_changed)
        replay.step_changed.connect(self._on_replay_moved)
        self._cache.changed.connect(self._update)
        services.ticker.subscribe(self, self._on_tick)

    # State.

    @property
    def phase(self) -> BeliefsPhase:
        if not self._selected.run_id:
            return "none"
        if self._histories or self._step_change is not None:
            return "ready"
        if self._feed.error is not None:
            return "failed"
        return "silent" if self._was_finished else "waiting"

    @property
    def problem(self) -> UserError | None:
        return self._feed.error

    @property
    def is_reading(self) -> bool:
        """The state at the replayed step is being read."""
        return not self.bdi_state.is_known and self._cache_error is None

    @property
    def warning(self) -> str:
        """What could not be read, why, and what to do; empty if nothing failed."""
        if (error := self._cache_error) is not None:
            what = "The agent's state at this step cannot be read."
        elif (error := self._feed.error) is not None:
            what = "No further changes can be read."
        else:
            return ""
        return f"{what} {error.message} {error.remedy}".strip()

    @property
    def is_live(self) -> bool:
        run = self._selected.run
        return run is not None and run.state in LIVE_STATES

    @property
    def agents(self) -> list[str]:
        return list(self._histories)

    @property
    def can_replay(self) -> bool:
        """Whether the Replay tab has an episode of this run."""
        return bool(self.run_id) and self._replay.run_id == self.run_id and self._has_episode

    @property
    def follows_replay(self) -> bool:
        return self.when == "replay" and self.can_replay

    @property
    def position(self) -> StepPosition | None:
        """The replayed step: the one before the playhead."""
        episode = self._replay.episode
        if not self.follows_replay or episode is None:
            return None
        return StepPosition(episode, max(0, self._replay.playhead - 1))

    @property
    def dropped(self) -> int:
        """Number of oldest changes that are no longer listed."""
        return self._history.dropped

    def replayable(self, row: int) -> StepPosition | None:
        """Return the position to replay for a row; None if no episode is recorded."""
        run, position = self._selected.run, self.timeline.entry(row).position
        if run is None or not run.digest.episodes:
            return None
        # The last change may belong to an episode that has not started yet.
        last = run.digest.episodes - 1
        return position if position.episode <= last else StepPosition(last, 0)

    # Actions.

    def set_visible(self, is_visible: bool) -> None:
        self._is_visible = is_visible
        if is_visible:
            self._follow_run()
            self._services.ticker.wake()

    def select_agent(self, agent: str) -> None:
        if agent != self.agent:
            self.agent = agent
            self._last_changes = []
            self.timeline.show(self._history.entries, agent, self.timeline.needle)
            self._update()

    def select_when(self, when: When) -> None:
        self.when = when
        self._last_changes = []
        self._update()

    def search(self, text: str) -> None:
        self.timeline.show(self._history.entries, self.agent, text)
        self.changed.emit()

    def retry(self) -> None:
        """Read again what failed."""
        if self._cache_error is not None:
            self._cache.try_again()
            self._update()
        else:
            self._start(self.run_id)

    def close(self) -> None:
        """Close the stream without waiting for its thread."""
        self._feed.close()

    def join(self, timeout_s: float) -> bool:
        for thread in self._feed.threads:
            thread.join(timeout_s)
        return not self._feed.threads

    # Updates.

    def _follow_run(self) -> None:
        """Read the selected run if the page is visible; stop reading the previous one."""
        run_id = self._selected.run_id
        if run_id != self.run_id and (self._is_visible or self.run_id):
            self._start(run_id if self._is_visible else "")
        run = self._selected.run
        self.timeline.run_started = run.started_at if run else None

    def _start(self, run_id: str) -> None:
        self.run_id, self.agent, self._was_finished = run_id, "", False
        self._histories, self._last_changes = {}, []
        self._cache.show(run_id)
        self.when = "replay" if self.can_replay else "now"
        self.timeline.show((), "", self.timeline.needle)
        self._feed.follow(run_id)
        self._update()

    def _on_tick(self) -> bool:
        if not self._is_visible or not self.run_id:
            return False
        now = time.monotonic()
        if now < self._next_update_at:
            return True
        entries = self._feed.drain()
        if not entries:
            if self._feed.is_finished and not self._was_finished:
                self._was_finished = True
                self._update()
            return False
        self._next_update_at = now + _MIN_UPDATE_S
        self._apply_entries(entries)
        return True

    def _apply_entries(self, entries: list[BdiEntry]) -> None:
        had_agent = bool(self._histories)
        by_agent: dict[str, list[BdiEntry]] = {}
        for entry in entries:
            by_agent.setdefault(entry.agent, []).append(entry)
        dropped = False
        for agent, added in by_agent.items():
            count = self._histories.setdefault(agent, BdiHistory()).add(added)
            dropped = dropped or (count > 0 and agent == self.agent)
        if not had_agent:
            self.agent = entries[0].agent
            self.timeline.show(self._history.entries, self.agent, self.timeline.needle)
        else:
            self.timeline.add(entries)
        if dropped:
            self.timeline.drop_before(self._history.entries[0].seq)
        mine = [entry.change for entry in by_agent.get(self.agent, ()) if not entry.is_after]
        if mine:
            # Of a history that arrives in one batch, only the last change is new.
            self._last_changes = mine if had_agent and self.is_live else mine[-1:]
        self._update()

    @property
    def _history(self) -> BdiHistory:
        """History of the selected agent."""
        return self._histories.get(self.agent) or BdiHistory()

    @property
    def _has_episode(self) -> bool:
        return self._replay.episode is not None

    def _on_episode_changed(self) -> None:
        if self.run_id:
            self.when = "replay" if self.can_replay else "now"
            self._update()

    def _on_replay_moved(self) -> None:
        if self._is_visible and self.follows_replay:
            self._update()

    def _update(self) -> None:
        position = self.position
        self.timeline.mark(position)
        self.bdi_state = self._current_state() if position is None else self._state_at(position)
        self.changed.emit()

    def _current_state(self) -> DisplayedBdiState:
        bdi_state = self._history.now.get(self.agent, BdiState())
        return _to_displayed(bdi_state, self._last_changes, None)

    def _state_at(self, position: StepPosition) -> DisplayedBdiState:
        dropped_range = self._history.dropped_range_at(position)
        history = self._history if dropped_range is None else self._cache.history_of(dropped_range)
        if history is None:
            return DisplayedBdiState(position=position, is_known=False)
        changes = [
            entry.change for entry in history.entries_at(position) if entry.agent == self.agent
        ]
        bdi_state = history.states_at(position).get(self.agent, BdiState())
        on_step = self._step_change
        if not changes and on_step is not None and self._is_of_agent(on_step, position, history):
            changes = [on_step]
            bdi_state.apply(on_step, -1)
        last = None if changes else history.last_entry_at(position)
        return _to_displayed(
            bdi_state, changes, position, entry_text(last) if last is not None else ""
        )

    @property
    def _cache_error(self) -> UserError | None:
        """Read error of the range with the replayed step."""
        position = self.position
        dropped_range = self._history.dropped_range_at(position) if position is not None else None
        return self._cache.error_of(dropped_range) if dropped_range is not None else None

    @property
    def _step_change(self) -> BdiChange | None:
        """The change that the replayed step itself contains."""
        step = self._replay.step
        return change_from_step(step.bdi) if step is not None and self.follows_replay else None

    def _is_of_agent(self, change: BdiChange, position: StepPosition, history: BdiHistory) -> bool:
        """Whether the change is of the selected agent. A step does not always name its agent."""
        step, agents = self._replay.step, self.agents
        if step is not None and step.agent_id in agents:
            return step.agent_id == self.agent
        if len(agents) <= 1:
            return True
        near = history.entries_in(position.episode)
        return any(entry.agent == self.agent and entry.change == change for entry in near)


def _to_displayed(
    bdi_state: BdiState, changes: list[BdiChange], position: StepPosition | None, as_of: str = ""
) -> DisplayedBdiState:
    added, removed = combine_changes(changes)
    removed -= bdi_state.beliefs.keys()
    added &= bdi_state.beliefs.keys()
    fired = next((change.plan for change in reversed(changes) if change.plan), "")
    return DisplayedBdiState(
        beliefs=_sort_beliefs(bdi_state.beliefs, removed),
        added=added,
        removed=removed,
        goals=bdi_state.goals,
        intentions=bdi_state.intentions,
        plan=fired or bdi_state.plan,
        has_fired=bool(fired),
        confidence=bdi_state.confidence,
        position=position,
        as_of=as_of,
    )


def _sort_beliefs(beliefs: Iterable[str], removed: frozenset[str]) -> tuple[str, ...]:
    """Sort by name, removed before added, so that rows stay while values change."""

    def sort_key(belief: str) -> tuple[str, bool, str]:
        return belief.partition("(")[0], belief not in removed, belief

    return tuple(sorted((*beliefs, *removed), key=sort_key))
