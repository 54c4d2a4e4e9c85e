"""ChartsModel: the metrics of one or several runs, prepared for plotting.

Shown by the Charts tab. A visible plot subscribes to its metric. `CurveFeed` fetches the curves,
and `PlotUpdates` turns them into `PlotData` on a thread.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from PySide6.QtCore import QObject, Signal

from gym_gui.charts.feed.curve_episodes import EpisodePosition, find_episode
from gym_gui.charts.feed.curve_feed import CurveFeed
from gym_gui.charts.feed.curve_folder import folders_with_events
from gym_gui.charts.feed.curve_source import ExportedRun, write_points
from gym_gui.charts.feed.curves import ChartRunInfo, CurveRequest, MetricKey, XAxis
from gym_gui.charts.model.chart_group_scores import GroupScores
from gym_gui.charts.model.chart_metrics import MetricGroup, grouped, matching
from gym_gui.charts.model.chart_runs import EACH, SEED, RunGroup, fields_of, groups_of, titles_of
from gym_gui.charts.model.chart_scores import ScoresTable
from gym_gui.charts.model.plot_updates import PlotOptions, PlotUpdates
from gym_gui.runtime.models.file_exports import FileExports
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.trainer_link import LinkState
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from gym_gui.charts.model.plot_data import PlotData

Result = TypeVar("Result")
Phase = Literal["empty", "connecting", "lost", "loading", "failed", "bare", "ready"]
"""`bare`: the runs have not reported any metrics yet."""

_log = logging.getLogger(__name__)
_AXES: tuple[XAxis, ...] = ("step", "episode", "time")
_MAX_SMOOTHING = 0.99
_EXACT = 20_000
_EXACT_TOTAL = 120_000
"""Up to this number, means use all points: of one curve, and of all curves in a plot."""
_MARGIN = 0.5
"""Share of the visible range that is also fetched on either side, for panning."""
_FEW_RUNS = 6


class ChartsModel(QObject):
    """Created once, by `AnalysisModels`."""

    changed = Signal()
    """Runs, groups, metrics or options changed; at most once per tick."""
    plot_changed = Signal(object)
    """The `MetricKey` with new plot data."""
    axis_changed = Signal()
    """The x axis changed; visible ranges are no longer valid."""
    episode_found = Signal(str, int, int)
    """Run, episode, and number of its steps done at the clicked point."""

    def __init__(self, services: Services, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.axis: XAxis = "step"
        self.run_ids: tuple[str, ...] = ()
        self.hidden: frozenset[str] = frozenset()
        self.search_text = ""
        self.grouped_by = EACH
        """The effective `group_by`: a field that these runs do not have falls back to the seed."""
        self.groups: tuple[RunGroup, ...] = ()
        self.metric_groups: tuple[MetricGroup, ...] = ()
        """All metrics; `matching_metrics` are those that match the search."""
        self._feed = CurveFeed(services.link, services.tasks, services.ticker, self)
        self._plot_updates = PlotUpdates(self._feed, services.tasks, services.ticker, self)
        self.scores = ScoresTable(self._feed, services, self)
        self.group_scores = GroupScores(self.scores, self)
        self.exports = FileExports(services, self)
        self._services = services
        self._problems: dict[str, UserError] = {}
        self._outline: object = None
        """The inputs of the current groups and titles."""
        self._is_changed = self._has_new_info = False
        self._read_settings()
        self._plot_updates.changed.connect(self.plot_changed)
        self._feed.info_changed.connect(self._on_info)
        self._feed.arrived.connect(self._plot_updates.mark_stale)
        self._feed.failed.connect(self._on_failed)
        services.link.changed.connect(self._mark_changed)
        services.ticker.subscribe(self, self._on_tick)

    # Selection.

    def show(self, run_ids: Sequence[str]) -> None:
        """Show these runs, in this order."""
        requested = tuple(dict.fromkeys(run_ids))
        if requested == self.run_ids:
            return
        self.run_ids = requested
        self.hidden &= frozenset(requested)
        self._problems = {}
        self._feed.show(requested)
        self._regroup()
        self._redraw()

    def show_folder(self, folder: Path) -> None:
        """Show event files without a MOSAIC run; each folder with event files is like a run."""
        self._services.tasks.run(
            self, lambda: folders_with_events(folder), self.show, self._services.notices.post_error
        )

    def set_visible(self, is_visible: bool) -> None:
        """Set whether the tab is visible; nothing is fetched while it is not."""
        self._feed.suspend(not is_visible)

    @property
    def phase(self) -> Phase:
        if not self.run_ids:
            return "empty"
        if self.metric_groups:
            return "ready"
        if self._services.link.state in (LinkState.LOST, LinkState.FAILED):
            return "lost"
        if not self._services.link.has_client:
            return "connecting"
        if self._problems and len(self._problems) == len(self.run_ids):
            return "failed"
        return (
            "bare" if len(self.run_infos) + len(self._problems) == len(self.run_ids) else "loading"
        )

    @property
    def is_lost(self) -> bool:
        """Whether the daemon is disconnected; the curves are no longer updated."""
        return self._services.link.state in (LinkState.LOST, LinkState.FAILED)

    @property
    def problem(self) -> str:
        """Why a run cannot be read; empty without errors."""
        if not self._problems:
            return ""
        error = next(iter(self._problems.values()))
        return f"{error.message} {error.remedy}".strip()

    @property
    def run_infos(self) -> list[ChartRunInfo]:
        infos = (self._feed.run_info(run_id) for run_id in self.run_ids)
        return [info for info in infos if info is not None]

    @property
    def is_running(self) -> bool:
        return any(not info.run.state.is_final for info in self.run_infos)

    @property
    def titles(self) -> dict[str, str]:
        return titles_of(self.run_infos)

    @property
    def fields(self) -> tuple[str, ...]:
        return fields_of(self.run_infos)

    @property
    def matching_metrics(self) -> tuple[MetricGroup, ...]:
        return matching(self.metric_groups, self.search_text)

    @property
    def returns(self) -> MetricKey | None:
        return next((info.returns for info in self.run_infos if info.returns), None)

    @property
    def has_means(self) -> bool:
        return any(len(group.run_ids) > 1 for group in self.groups)

    def plot_data(self, key: MetricKey) -> "PlotData | None":
        return self._plot_updates.get(key)

    def is_from_events(self, key: MetricKey) -> bool:
        """Whether runs report it only in event files. False for folders of event files."""
        infos = [info for info in self.run_infos if key in info.series and not info.folder]
        return bool(infos) and all(key in info.from_events for info in infos)

    def group_of(self, run_id: str) -> RunGroup | None:
        return next((group for group in self.groups if run_id in group.run_ids), None)

    def step_at(self, run_id: str, x: float) -> int | None:
        """The step of a run at a position on the x axis."""
        info = self._feed.run_info(run_id)
        mapping = info.axis_mapping if info else None
        if self.axis == "step":
            return max(0, round(x))
        if mapping is None:
            return None
        step = mapping.step_of(x) if self.axis == "episode" else mapping.step_at(x)
        return None if step is None else max(0, round(step))

    def find_episode(self, run_id: str, key: MetricKey, x: float, y: float) -> None:
        """Find the episode at a point of a curve; emits `episode_found`."""
        info, step = self._feed.run_info(run_id), self.step_at(run_id, x)
        if info is None or step is None or not self._services.link.has_client:
            return
        if info.folder:
            self._services.notices.post("Event files have no episodes to replay.")
            return
        value = y if key == info.returns else None

        def emit(position: EpisodePosition) -> None:
            self.episode_found.emit(run_id, position.episode, position.step)

        self._services.call(
            self,
            lambda client: find_episode(client, info, step, value),
            emit,
            self._services.notices.post_error,
        )

    def save_scores(self) -> None:
        """Save the tables of final scores as files."""
        self.exports.save_rows("final scores", self.scores.as_rows())
        if self.group_scores.has_means:
            self.exports.save_rows("final scores by group", self.group_scores.as_rows())

    def save_points(self, title: str, keys: Iterable[MetricKey]) -> None:
        """Save all points of these metrics, of the runs that are not hidden."""
        runs, requested = self.exported_runs(), tuple(keys)
        self.exports.save(title, "csv", lambda path: write_points(runs, requested, path))

    def exported_runs(self) -> list[ExportedRun]:
        """Runs to export: those that are not hidden."""
        return [
            ExportedRun(run_id, title, source)
            for run_id, title in self.titles.items()
            if run_id not in self.hidden and (source := self._feed.source(run_id)) is not None
        ]

    # Options.

    def set_axis(self, axis: XAxis) -> None:
        if axis == self.axis:
            return
        self.axis = axis
        self._services.settings.set("charts/axis", axis)
        self._feed.set_axis(axis)
        self._plot_updates.clear()
        self.axis_changed.emit()
        self._mark_changed()

    def set_smoothing(self, weight: float) -> None:
        self.smoothing = min(_MAX_SMOOTHING, max(0.0, weight))
        self._services.settings.set("charts/smoothing", f"{self.smoothing:.2f}")
        self._redraw()

    def set_log(self, is_log: bool) -> None:
        self.is_log = is_log
        self._services.settings.set("charts/log", "yes" if is_log else "no")
        self._redraw()

    def set_group_by(self, field: str) -> None:
        self.group_by = field
        self._services.settings.set("charts/group by", field or "each")
        self._regroup()
        self._redraw()

    def search(self, text: str) -> None:
        self.search_text = text
        self._mark_changed()

    def set_hidden(self, run_ids: Sequence[str], are_hidden: bool) -> None:
        changed = frozenset(run_ids)
        self.hidden = self.hidden | changed if are_hidden else self.hidden - changed
        self._redraw()

    def show_only(self, run_ids: Sequence[str]) -> None:
        """Hide all other runs; show all runs if the others are hidden already."""
        others = frozenset(self.run_ids) - frozenset(run_ids)
        self.hidden = frozenset() if self.hidden == others else others
        self._redraw()

    def is_folded(self, prefix: str) -> bool:
        return self._services.settings.text(f"charts/folded/{prefix or '-'}") == "yes"

    def set_folded(self, prefix: str, is_folded: bool) -> None:
        self._services.settings.set(f"charts/folded/{prefix or '-'}", "yes" if is_folded else "no")

    # Subscriptions of plots.

    def subscribe(
        self, key: MetricKey, x_range: tuple[float, float] | None, share: float, pixels: int
    ) -> None:
        """A plot of this metric is visible. Without `x_range` it shows the complete curve.

        `share` is the visible part of the curve. The caller rounds `pixels`, so that a small change
        of size fetches nothing.
        """
        exact = min(_EXACT, _EXACT_TOTAL // max(1, len(self.run_ids)))
        first = last = None
        if x_range is not None:
            margin = (x_range[1] - x_range[0]) * _MARGIN
            first, last = x_range[0] - margin, x_range[1] + margin
        # Many overlapping curves are not clearer with a point for every pixel.
        columns = min(pixels, max(pixels // 4, pixels * _FEW_RUNS // max(1, len(self.run_ids))))
        columns = columns if x_range is None else round(columns * (1 + 2 * _MARGIN))
        points = 2 * columns
        self._feed.subscribe(key, CurveRequest(first, last, points, exact, min(1.0, share)))
        self._plot_updates.subscribe(key, columns)

    def unsubscribe(self, key: MetricKey) -> None:
        """The plot of this metric is no longer visible."""
        self._feed.unsubscribe(key)
        self._plot_updates.unsubscribe(key)

    def prepare(self, load: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """Run `load` off the UI thread, then `then`. For imports of the view."""
        self._services.tasks.run(self, load, then)

    def retry(self) -> None:
        """Fetch failed runs again; start the daemon if it is disconnected."""
        if self.is_lost:
            self._services.link.start_daemon()
        run_ids, self.run_ids = self.run_ids, ()
        self._feed.show(())
        self.show(run_ids)

    # Updates.

    def _read_settings(self) -> None:
        axis = self._services.settings.text("charts/axis", "step")
        self.axis = next((known for known in _AXES if known == axis), "step")
        try:
            weight = float(self._services.settings.text("charts/smoothing", "0.6"))
        except ValueError:
            weight = 0.6
        self.smoothing = min(_MAX_SMOOTHING, max(0.0, weight))
        self.is_log = self._services.settings.text("charts/log") == "yes"
        saved = self._services.settings.text("charts/group by", SEED)
        self.group_by = EACH if saved == "each" else saved
        self._feed.set_axis(self.axis)

    def _on_info(self, run_id: str) -> None:
        self._problems.pop(run_id, None)
        self._has_new_info = True
        self._services.ticker.wake()

    def _on_failed(self, run_id: str, error: UserError) -> None:
        _log.warning("C391 charts of run %s cannot be read: %s", run_id, error)
        self._problems[run_id] = error
        self._mark_changed()

    def _outline_of(self, infos: Sequence[ChartRunInfo]) -> object:
        """What groups and titles depend on. The stats of a run change more often."""
        runs = [
            (info.run.run_id, info.run.name, info.run.state, info.config, frozenset(info.series))
            for info in infos
        ]
        sources = [(info.returns, info.from_events) for info in infos]
        return (runs, sources, self.group_by)

    def _regroup(self) -> None:
        infos = self.run_infos
        self._outline = self._outline_of(infos)
        known = self.group_by in (EACH, *fields_of(infos))
        self.grouped_by = self.group_by if known else SEED
        before, self.groups = self.groups, groups_of(infos, self.grouped_by)
        if before != self.groups:
            self._plot_updates.redraw()
        keys = {key for info in infos for key in info.series}
        self.metric_groups = grouped(keys, self.returns)
        self.scores.show(infos, titles_of(infos), self.groups)

    def _redraw(self) -> None:
        self._plot_updates.redraw()
        self._mark_changed()

    def _mark_changed(self) -> None:
        self._is_changed = True
        self._services.ticker.wake()

    def _on_tick(self) -> bool:
        if self._has_new_info:
            self._has_new_info = False
            if self._outline != self._outline_of(self.run_infos):
                self._regroup()
                self._is_changed = True
        options = PlotOptions(self.axis, self.smoothing, self.is_log, self.groups, self.hidden)
        is_busy = self._plot_updates.compose(options)
        if self._is_changed:
            self._is_changed = False
            self.changed.emit()
            return True
        return is_busy
