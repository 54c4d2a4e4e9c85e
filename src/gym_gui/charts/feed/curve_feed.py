"""CurveFeed: fetches the visible curves of the selected runs and keeps them up to date.

At most one request per run is in flight. An active run is polled ten times a second, and only
visible curves with new points are fetched. Owned by `ChartsModel`.
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
from gym_gui.charts.feed.curves import (
    ChartRunInfo,
    Curve,
    CurveRequest,
    CurveSnapshot,
    MetricKey,
    XAxis,
)
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.client.errors import CallTimeoutError, DaemonUnreachableError
from mosaic.contract.errors import UserError
from mosaic.contract.run_states import RunState

_log = logging.getLogger(__name__)
_LIVE_S = 0.1
_WAITING_S = 1.0
"""Poll interval of a running run, and of one that has not started."""
_STATE_S = 1.0
_EVENTS_S = 5.0
_RETRY_S = 3.0
"""Delay after a call that timed out or did not reach the daemon."""
_MAX_REQUESTS = 4
"""Concurrent runs: unpacking responses slows the UI thread."""


@dataclass(slots=True)
class _Followed:
    """A run and what was fetched of it."""

    source: Source | None = None
    info: ChartRunInfo | None = None
    curves: dict[MetricKey, Curve] = field(default_factory=dict)
    points: dict[MetricKey, int] = field(default_factory=dict)
    """Point count of each curve when it was fetched; a missing entry must be fetched."""
    is_requested: bool = False
    is_failed: bool = False
    retry_at: float = math.inf
    """When to retry after a temporary error."""
    has_new_events: bool = False
    is_reading_events: bool = False
    next_events: float = 0.0
    events_are_final: bool = False
    """They were read after the run ended."""
    next_poll: float = 0.0
    poll_interval_s: float = _WAITING_S
    next_state: float = 0.0
    was_final: bool = False


class CurveFeed(QObject):
    """UI thread only."""

    info_changed = Signal(str)
    """A run has new metrics, a new state or new stats."""
    arrived = Signal(object)
    """A set of `MetricKey` for which a run has a new curve."""
    failed = Signal(str, object)
    """The id of a run that cannot be read, and the `UserError`."""

    def __init__(
        self, link: TrainerLink, tasks: Tasks, ticker: UiTicker, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._link = link
        self._tasks = tasks
        self._ticker = ticker
        self._axis: XAxis = "step"
        self._runs: dict[str, _Followed] = {}
        self._requests: dict[MetricKey, CurveRequest] = {}
        self._is_suspended = False
        link.connected.connect(ticker.wake)
        link.recovered.connect(self._retry)
        ticker.subscribe(self, self._on_tick)

    def show(self, run_ids: Sequence[str]) -> None:
        """Follow these runs; data of runs that were followed before stays."""
        self._runs = {run_id: self._runs.get(run_id) or _Followed() for run_id in run_ids}
        self._ticker.wake()

    def run_info(self, run_id: str) -> ChartRunInfo | None:
        followed = self._runs.get(run_id)
        return followed.info if followed else None

    def curve(self, run_id: str, key: MetricKey) -> Curve | None:
        followed = self._runs.get(run_id)
        return followed.curves.get(key) if followed else None

    def source(self, run_id: str) -> Source | None:
        """To be called on a thread; None before the first poll of the run."""
        followed = self._runs.get(run_id)
        return followed.source if followed else None

    def score(self, info: ChartRunInfo) -> Score:
        """The final score of a run. Blocks."""
        source = self.source(info.run.run_id)
        return source.score(info) if source else Score()

    def set_axis(self, axis: XAxis) -> None:
        """Change the x axis; all subscriptions are cleared."""
        self._axis = axis
        self._requests.clear()
        for run_id, followed in self._runs.items():
            # Requests in flight are for the previous axis.
            self._runs[run_id] = _Followed(followed.source, followed.info)
        self._ticker.wake()

    def subscribe(self, key: MetricKey, request: CurveRequest) -> None:
        """Fetch this range and keep it up to date until `unsubscribe`."""
        if self._requests.get(key) == request:
            return
        self._requests[key] = request
        for followed in self._runs.values():
            followed.points.pop(key, None)
        self._ticker.wake()

    def unsubscribe(self, key: MetricKey) -> None:
        self._requests.pop(key, None)

    def forget(self, key: MetricKey) -> None:
        """Unsubscribe and free the memory of its curves."""
        self.unsubscribe(key)
        for followed in self._runs.values():
            followed.curves.pop(key, None)
            followed.points.pop(key, None)

    def suspend(self, is_suspended: bool) -> None:
        """Stop polling while the charts are hidden."""
        self._is_suspended = is_suspended
        self._ticker.wake()

    def _retry(self) -> None:
        for followed in self._runs.values():
            followed.is_failed, followed.retry_at = False, math.inf
        self._ticker.wake()

    def _on_tick(self) -> bool:
        if self._is_suspended:
            return False
        now = time.monotonic()
        has_daemon = self._link.has_client and self._link.is_ready
        reachable = {
            run_id: followed
            for run_id, followed in self._runs.items()
            if now >= followed.retry_at or not followed.is_failed
            if has_daemon or is_folder(run_id)
        }
        free = _MAX_REQUESTS - sum(followed.is_requested for followed in self._runs.values())
        due = [
            (run_id, followed)
            for run_id, followed in reachable.items()
            if not followed.is_requested and self._is_due(followed, now)
        ]
        # The longest wait comes first, so that every one of many runs is polled.
        due.sort(key=lambda item: item[1].next_poll)
        for run_id, followed in due[: max(0, free)]:
            self._poll(run_id, followed, now)
        for followed in reachable.values():
            self._read_events(followed, now)
        # Keep ticking while any run is active.
        has_retry = has_daemon and any(
            followed.retry_at < math.inf for followed in self._runs.values()
        )
        return bool(due) or has_retry or any(map(_is_running, reachable.values()))

    def _is_due(self, followed: _Followed, now: float) -> bool:
        if followed.info is None or followed.has_new_events or followed.is_failed:
            return True
        series = followed.info.series
        if any(key in series and key not in followed.points for key in self._requests):
            return True
        return _is_running(followed) and now >= followed.next_poll

    def _poll(self, run_id: str, followed: _Followed, now: float) -> None:
        source = followed.source = followed.source or self._make_source(run_id)
        followed.has_new_events = False
        with_state = now >= followed.next_state
        if with_state:
            followed.next_state = now + _STATE_S
        # Counted from when it was due, because ticks and responses take time too.
        followed.next_poll = max(followed.next_poll, now - followed.poll_interval_s)
        followed.next_poll += followed.poll_interval_s
        axis, requests, known = self._axis, dict(self._requests), dict(followed.points)
        followed.is_requested = True
        self._tasks.run(
            self,
            lambda: source.poll(axis, requests, known, with_state=with_state),
            self._on_snapshot(run_id, followed, requests),
            lambda error: self._on_error(run_id, followed, error),
        )

    def _make_source(self, run_id: str) -> Source:
        return FolderSource(run_id) if is_folder(run_id) else CurveSource(self._link.client, run_id)

    def _read_events(self, followed: _Followed, now: float) -> None:
        """After the first poll, so that the other curves appear first."""
        source, is_finished = followed.source, not _is_running(followed)
        if source is None or followed.info is None or followed.is_reading_events:
            return
        if followed.events_are_final or (now < followed.next_events and not is_finished):
            return
        followed.is_reading_events = True
        followed.next_events = now + _EVENTS_S
        followed.events_are_final = is_finished

        def apply(is_new: bool) -> None:
            followed.is_reading_events = False
            followed.has_new_events = followed.has_new_events or is_new
            self._ticker.wake()

        def reject(error: UserError) -> None:
            _log.warning("%s", error)
            apply(False)

        self._tasks.run(self, source.read_events, apply, reject)

    def _on_snapshot(
        self, run_id: str, followed: _Followed, requests: dict[MetricKey, CurveRequest]
    ) -> Callable[[CurveSnapshot], None]:
        def apply(snapshot: CurveSnapshot) -> None:
            followed.is_requested = False
            was_failed, followed.is_failed = followed.is_failed, False
            followed.retry_at = math.inf
            if self._runs.get(run_id) is not followed:
                return
            before, followed.info = followed.info, snapshot.info
            followed.poll_interval_s = _poll_interval(snapshot.info)
            # Poll once more for lines written between the last poll and the end.
            was_final = before is not None and before.run.state.is_final
            followed.was_final = was_final or (before is None and snapshot.info.run.state.is_final)
            # A response to a changed request is stale.
            current = {
                key: curve
                for key, curve in snapshot.curves.items()
                if self._requests.get(key) == requests[key]
            }
            followed.curves |= current
            followed.points |= {key: snapshot.info.series.get(key, 0) for key in current}
            if before != snapshot.info or was_failed:
                self.info_changed.emit(run_id)
            if current:
                self.arrived.emit(set(current))
            self._ticker.wake()

        return apply

    def _on_error(self, run_id: str, followed: _Followed, error: UserError) -> None:
        followed.is_requested = False
        followed.is_failed = True
        is_temporary = isinstance(error, DaemonUnreachableError | CallTimeoutError)
        followed.retry_at = time.monotonic() + _RETRY_S if is_temporary else math.inf
        if self._runs.get(run_id) is followed:
            self.failed.emit(run_id, error)


def _poll_interval(info: ChartRunInfo) -> float:
    return _LIVE_S if info.run.state is RunState.RUNNING else _WAITING_S


def _is_running(followed: _Followed) -> bool:
    return followed.info is None or not followed.was_final
