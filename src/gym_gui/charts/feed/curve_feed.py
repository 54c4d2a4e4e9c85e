"""CurveFeed: the curves in sight of the runs that are shown, fetched, and kept up to date.

At most one request per run is on its way. A run that goes on is looked at ten times a second, and
of what is in sight only curves that have grown are fetched. Owned by `ChartsModel`.
"""

import logging
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, Signal

from gym_gui.charts.feed.curve_folder import FolderSource, is_folder
from gym_gui.charts.feed.curve_scores import Score
from gym_gui.charts.feed.curve_source import CurveSource, Source
from gym_gui.charts.feed.curves import Curve, Look, MetricKey, RunFacts, Wish, XAxis
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.errors import CallTimeoutError, DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState

_log = logging.getLogger(__name__)
_LIVE_S = 0.1
_WAITING_S = 1.0
"""Between two looks at a run that goes on, and at one that does not yet."""
_STATE_S = 1.0
_EVENTS_S = 5.0
_RETRY_S = 3.0
"""After an answer that did not come: the daemon had too much to do, or was away."""
_MOST_ASKED = 4
"""Runs at a time: answers are unpacked at the cost of the UI thread."""


@dataclass(slots=True)
class _Followed:
    """A run, and what is known of it."""

    source: Source | None = None
    facts: RunFacts | None = None
    curves: dict[MetricKey, Curve] = field(default_factory=dict)
    points: dict[MetricKey, int] = field(default_factory=dict)
    """How many points the run had of each curve when it was fetched; without an entry, it is to be
    fetched."""
    is_asked: bool = False
    is_failed: bool = False
    retry_at: float = math.inf
    """When it is asked for again after a failure that passes."""
    has_new_events: bool = False
    is_reading_events: bool = False
    next_events: float = 0.0
    events_are_final: bool = False
    """They were read after the run's end."""
    next_look: float = 0.0
    look_every: float = _WAITING_S
    next_state: float = 0.0
    was_final: bool = False


class CurveFeed(QObject):
    """All of it is for the UI thread."""

    facts_changed = Signal(str)
    """A run has new metrics, another state or other figures."""
    arrived = Signal(object)
    """A set of `MetricKey` of which some run has a new curve."""
    failed = Signal(str, object)
    """A run that cannot be read, and the `UserError`."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, pulse: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._pulse = pulse
        self._axis: XAxis = "step"
        self._runs: dict[str, _Followed] = {}
        self._wishes: dict[MetricKey, Wish] = {}
        self._is_resting = False
        link.connected.connect(pulse.wake)
        link.recovered.connect(self._retry)
        pulse.subscribe(self, self._on_beat)

    def show(self, run_ids: Sequence[str]) -> None:
        """These runs; what is known of those among them that were shown before stays."""
        self._runs = {run_id: self._runs.get(run_id) or _Followed() for run_id in run_ids}
        self._pulse.wake()

    def facts(self, run_id: str) -> RunFacts | None:
        followed = self._runs.get(run_id)
        return followed.facts if followed else None

    def curve(self, run_id: str, key: MetricKey) -> Curve | None:
        followed = self._runs.get(run_id)
        return followed.curves.get(key) if followed else None

    def source(self, run_id: str) -> Source | None:
        """To be asked on a thread; None before the first look at the run."""
        followed = self._runs.get(run_id)
        return followed.source if followed else None

    def score(self, facts: RunFacts) -> Score:
        """How good a run was in the end. Waits."""
        source = self.source(facts.run.run_id)
        return source.score(facts) if source else Score()

    def set_axis(self, axis: XAxis) -> None:
        """All stretches are wished for anew."""
        self._axis = axis
        self._wishes.clear()
        for run_id, followed in self._runs.items():
            # What is on its way is for the axis before.
            self._runs[run_id] = _Followed(followed.source, followed.facts)
        self._pulse.wake()

    def want(self, key: MetricKey, wish: Wish) -> None:
        """Fetch this stretch, and keep it up to date, until `unwant`."""
        if self._wishes.get(key) == wish:
            return
        self._wishes[key] = wish
        for followed in self._runs.values():
            followed.points.pop(key, None)
        self._pulse.wake()

    def unwant(self, key: MetricKey) -> None:
        self._wishes.pop(key, None)

    def forget(self, key: MetricKey) -> None:
        """Let the memory go that its curves take."""
        self.unwant(key)
        for followed in self._runs.values():
            followed.curves.pop(key, None)
            followed.points.pop(key, None)

    def rest(self, is_resting: bool) -> None:
        """While nobody looks, nothing is asked for."""
        self._is_resting = is_resting
        self._pulse.wake()

    def _retry(self) -> None:
        for followed in self._runs.values():
            followed.is_failed, followed.retry_at = False, math.inf
        self._pulse.wake()

    def _on_beat(self) -> bool:
        if self._is_resting:
            return False
        now = time.monotonic()
        has_daemon = self._link.has_client and self._link.is_ready
        reachable = {
            run_id: each
            for run_id, each in self._runs.items()
            if now >= each.retry_at or not each.is_failed
            if has_daemon or is_folder(run_id)
        }
        free = _MOST_ASKED - sum(each.is_asked for each in self._runs.values())
        due = [
            (run_id, each)
            for run_id, each in reachable.items()
            if not each.is_asked and self._is_due(each, now)
        ]
        # Who has waited longest comes first, or the last of many runs would never have its turn.
        due.sort(key=lambda each: each[1].next_look)
        for run_id, followed in due[: max(0, free)]:
            self._ask(run_id, followed, now)
        for followed in reachable.values():
            self._read_events(followed, now)
        # The pulse is to go on while any of them does.
        is_retried = has_daemon and any(each.retry_at < math.inf for each in self._runs.values())
        return bool(due) or is_retried or any(map(_goes_on, reachable.values()))

    def _is_due(self, followed: _Followed, now: float) -> bool:
        if followed.facts is None or followed.has_new_events or followed.is_failed:
            return True
        told = followed.facts.series
        if any(key in told and key not in followed.points for key in self._wishes):
            return True
        return _goes_on(followed) and now >= followed.next_look

    def _ask(self, run_id: str, followed: _Followed, now: float) -> None:
        source = followed.source = followed.source or self._made(run_id)
        followed.has_new_events = False
        asks_state = now >= followed.next_state
        if asks_state:
            followed.next_state = now + _STATE_S
        # Counted from when it was due, not from the answer: beats and answers take time too.
        followed.next_look = max(followed.next_look, now - followed.look_every)
        followed.next_look += followed.look_every
        axis, wishes, known = self._axis, dict(self._wishes), dict(followed.points)
        followed.is_asked = True
        self._tasks.run(
            self,
            lambda: source.look(axis, wishes, known, asks_state=asks_state),
            self._answer(run_id, followed, wishes),
            lambda error: self._on_refused(run_id, followed, error),
        )

    def _made(self, run_id: str) -> Source:
        return FolderSource(run_id) if is_folder(run_id) else CurveSource(self._link.client, run_id)

    def _read_events(self, followed: _Followed, now: float) -> None:
        """After the first look, so that they keep nothing else from the screen."""
        source, is_over = followed.source, not _goes_on(followed)
        if source is None or followed.facts is None or followed.is_reading_events:
            return
        if followed.events_are_final or (now < followed.next_events and not is_over):
            return
        followed.is_reading_events = True
        followed.next_events = now + _EVENTS_S
        followed.events_are_final = is_over

        def take(is_new: bool) -> None:
            followed.is_reading_events = False
            followed.has_new_events = followed.has_new_events or is_new
            self._pulse.wake()

        def refuse(error: UserError) -> None:
            _log.warning("%s", error)
            take(False)

        self._tasks.run(self, source.read_events, take, refuse)

    def _answer(
        self, run_id: str, followed: _Followed, wishes: dict[MetricKey, Wish]
    ) -> Callable[[Look], None]:
        def take(look: Look) -> None:
            followed.is_asked = False
            was_failed, followed.is_failed = followed.is_failed, False
            followed.retry_at = math.inf
            if self._runs.get(run_id) is not followed:
                return
            before, followed.facts = followed.facts, look.facts
            followed.look_every = _pause_of(look.facts)
            # What comes between the last line and the end is read once more.
            was_final = before is not None and before.run.state.is_final
            followed.was_final = was_final or (before is None and look.facts.run.state.is_final)
            # An answer to a wish that has changed since is stale.
            current = {
                key: curve
                for key, curve in look.curves.items()
                if self._wishes.get(key) == wishes[key]
            }
            followed.curves |= current
            followed.points |= {key: look.facts.series.get(key, 0) for key in current}
            if before != look.facts or was_failed:
                self.facts_changed.emit(run_id)
            if current:
                self.arrived.emit(set(current))
            self._pulse.wake()

        return take

    def _on_refused(self, run_id: str, followed: _Followed, error: UserError) -> None:
        followed.is_asked = False
        followed.is_failed = True
        passes = isinstance(error, DaemonUnreachableError | CallTimeoutError)
        followed.retry_at = time.monotonic() + _RETRY_S if passes else math.inf
        if self._runs.get(run_id) is followed:
            self.failed.emit(run_id, error)


def _pause_of(facts: RunFacts) -> float:
    return _LIVE_S if facts.run.state is RunState.RUNNING else _WAITING_S


def _goes_on(followed: _Followed) -> bool:
    return followed.facts is None or not followed.was_final
