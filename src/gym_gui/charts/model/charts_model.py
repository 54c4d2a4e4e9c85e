"""ChartsModel: the metrics of one run or several, as pictures that are ready to be drawn.

Shown by the Charts tab. What is in sight is wished for by its plot; curves come by `CurveFeed`, are
made into pictures on a thread, and kept for as long as they are in sight, and a little longer.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from PySide6.QtCore import QObject, Signal

from gym_gui.charts.feed.curve_episodes import EpisodePlace, find_episode
from gym_gui.charts.feed.curve_feed import CurveFeed
from gym_gui.charts.feed.curve_files import Told, write_points
from gym_gui.charts.feed.curve_folder import folders_with_events
from gym_gui.charts.feed.curves import MetricKey, RunFacts, Wish, XAxis
from gym_gui.charts.model.chart_group_scores import GroupScores
from gym_gui.charts.model.chart_metrics import MetricGroup, grouped, matching
from gym_gui.charts.model.chart_runs import EACH, SEED, RunGroup, fields_of, groups_of, titles_of
from gym_gui.charts.model.chart_scores import ScoresTable
from gym_gui.charts.model.plot_updates import ChartPictures, Drawing
from gym_gui.runtime.models.file_exports import FileExports
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.settings_store import TextSettings
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import LinkState, TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from gym_gui.charts.model.plot_data import Picture

Result = TypeVar("Result")
Phase = Literal["empty", "connecting", "lost", "loading", "failed", "bare", "ready"]
"""`bare`: the runs have told nothing yet that could be drawn."""

_log = logging.getLogger(__name__)
_AXES: tuple[XAxis, ...] = ("step", "episode", "time")
_MOST_SMOOTHING = 0.99
_EXACT = 20_000
_EXACT_IN_ALL = 120_000
"""Points up to which means are taken over all of them: of one curve, and of all in a plot."""
_MARGIN = 0.5
"""Of what is in sight, fetched on either side too, so that panning finds something there."""
_FEW_RUNS = 6


class ChartsModel(QObject):
    """Made once, by the wiring."""

    changed = Signal()
    """Which runs, groups and metrics there are, and how they are to be drawn; once a beat."""
    picture_changed = Signal(object)
    """The `MetricKey` whose picture is new."""
    axis_changed = Signal()
    """What the x axis means: whatever stretch is shown means nothing any more."""
    episode_found = Signal(str, int, int)
    """A run, an episode and how many of its steps were done at a point that was clicked at."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: UiTicker,
        notices: Notices,
        settings: TextSettings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.axis: XAxis = "step"
        self.run_ids: tuple[str, ...] = ()
        self.hidden: frozenset[str] = frozenset()
        self.search_text = ""
        self.grouped_by = EACH
        """What `group_by` comes to: a field that these runs do not have counts as the seed."""
        self.groups: tuple[RunGroup, ...] = ()
        self.metric_groups: tuple[MetricGroup, ...] = ()
        """All that there are; `shown_metrics` are those that are searched for."""
        self._feed = CurveFeed(link, tasks, pulse, self)
        self._pictures = ChartPictures(self._feed, tasks, pulse, self)
        self.scores = ScoresTable(self._feed, link, tasks, pulse, self)
        self.group_scores = GroupScores(self.scores, self)
        self.exports = FileExports(link, tasks, notices, self)
        self._link = link
        self._tasks = tasks
        self._pulse = pulse
        self._settings = settings
        self._notices = notices
        self._problems: dict[str, UserError] = {}
        self._outline: object = None
        """What groups and names depend on, as it was when they were last made."""
        self._has_news = self._has_facts = False
        self._read_settings()
        self._pictures.changed.connect(self.picture_changed)
        self._feed.facts_changed.connect(self._on_facts)
        self._feed.arrived.connect(self._pictures.note_news)
        self._feed.failed.connect(self._on_failed)
        link.changed.connect(self._note_news)
        pulse.subscribe(self, self._on_beat)

    # What is shown.

    def show(self, run_ids: Sequence[str]) -> None:
        """These runs from now on, in this order; none, without ids."""
        wanted = tuple(dict.fromkeys(run_ids))
        if wanted == self.run_ids:
            return
        self.run_ids = wanted
        self.hidden &= frozenset(wanted)
        self._problems = {}
        self._feed.show(wanted)
        self._regroup()
        self._redraw()

    def show_folder(self, folder: Path) -> None:
        """Event files that are no run of ours: each folder that has some is drawn like a run."""
        self._tasks.run(self, lambda: folders_with_events(folder), self.show, self._notices.fail)

    def set_in_sight(self, is_seen: bool) -> None:
        """The tab is in front. While it is not, nothing is asked for."""
        self._feed.rest(not is_seen)

    @property
    def phase(self) -> Phase:
        if not self.run_ids:
            return "empty"
        if self.metric_groups:
            return "ready"
        if self._link.state in (LinkState.LOST, LinkState.FAILED):
            return "lost"
        if not self._link.has_client:
            return "connecting"
        if self._problems and len(self._problems) == len(self.run_ids):
            return "failed"
        return "bare" if len(self.facts) + len(self._problems) == len(self.run_ids) else "loading"

    @property
    def is_lost(self) -> bool:
        """What is shown is no longer kept up to date."""
        return self._link.state in (LinkState.LOST, LinkState.FAILED)

    @property
    def problem(self) -> str:
        """Why a run is missing."""
        if not self._problems:
            return ""
        error = next(iter(self._problems.values()))
        return f"{error.message} {error.remedy}".strip()

    @property
    def facts(self) -> list[RunFacts]:
        found = (self._feed.facts(run_id) for run_id in self.run_ids)
        return [facts for facts in found if facts is not None]

    @property
    def goes_on(self) -> bool:
        return any(not facts.run.state.is_final for facts in self.facts)

    @property
    def titles(self) -> dict[str, str]:
        return titles_of(self.facts)

    @property
    def fields(self) -> tuple[str, ...]:
        return fields_of(self.facts)

    @property
    def shown_metrics(self) -> tuple[MetricGroup, ...]:
        return matching(self.metric_groups, self.search_text)

    @property
    def returns(self) -> MetricKey | None:
        return next((facts.returns for facts in self.facts if facts.returns), None)

    @property
    def has_means(self) -> bool:
        return any(len(group.run_ids) > 1 for group in self.groups)

    def picture(self, key: MetricKey) -> "Picture | None":
        return self._pictures.get(key)

    def is_from_events(self, key: MetricKey) -> bool:
        """Whether runs tell it by event files only; of a folder nobody expects anything else."""
        telling = [facts for facts in self.facts if key in facts.series and not facts.folder]
        return bool(telling) and all(key in facts.from_events for facts in telling)

    def group_of(self, run_id: str) -> RunGroup | None:
        return next((group for group in self.groups if run_id in group.run_ids), None)

    def step_at(self, run_id: str, x: float) -> int | None:
        """Which step of a run stands at a place of the x axis."""
        facts = self._feed.facts(run_id)
        clock = facts.clock if facts else None
        if self.axis == "step":
            return max(0, round(x))
        if clock is None:
            return None
        step = clock.step_of(x) if self.axis == "episode" else clock.step_at(x)
        return None if step is None else max(0, round(step))

    def find_episode(self, run_id: str, key: MetricKey, x: float, y: float) -> None:
        """What was played at a point of a curve; `episode_found` tells."""
        facts, step = self._feed.facts(run_id), self.step_at(run_id, x)
        if facts is None or step is None or not self._link.has_client:
            return
        if facts.folder:
            self._notices.say("Event files have no episodes that could be replayed.")
            return
        client, value = self._link.client, y if key == facts.returns else None

        def tell(place: EpisodePlace) -> None:
            self.episode_found.emit(run_id, place.episode, place.step)

        self._tasks.run(
            self,
            lambda: find_episode(client, facts, step, value),
            tell,
            self._notices.fail,
        )

    def save_scores(self) -> None:
        """The tables of final scores as files."""
        self.exports.save_rows("final scores", self.scores.as_rows())
        if self.group_scores.has_means:
            self.exports.save_rows("final scores by group", self.group_scores.as_rows())

    def save_points(self, title: str, keys: Iterable[MetricKey]) -> None:
        """Every point of these metrics, of the runs that are not hidden."""
        runs, wanted = self.told(), tuple(keys)
        self.exports.save(title, "csv", lambda path: write_points(runs, wanted, path))

    def told(self) -> list[Told]:
        """Runs that are not hidden, for files."""
        return [
            Told(run_id, title, source)
            for run_id, title in self.titles.items()
            if run_id not in self.hidden and (source := self._feed.source(run_id)) is not None
        ]

    # How it is drawn.

    def set_axis(self, axis: XAxis) -> None:
        if axis == self.axis:
            return
        self.axis = axis
        self._settings.keep("charts/axis", axis)
        self._feed.set_axis(axis)
        self._pictures.clear()
        self.axis_changed.emit()
        self._note_news()

    def set_smoothing(self, weight: float) -> None:
        self.smoothing = min(_MOST_SMOOTHING, max(0.0, weight))
        self._settings.keep("charts/smoothing", f"{self.smoothing:.2f}")
        self._redraw()

    def set_log(self, is_log: bool) -> None:
        self.is_log = is_log
        self._settings.keep("charts/log", "yes" if is_log else "no")
        self._redraw()

    def set_group_by(self, field: str) -> None:
        self.group_by = field
        self._settings.keep("charts/group by", field or "each")
        self._regroup()
        self._redraw()

    def search(self, text: str) -> None:
        self.search_text = text
        self._note_news()

    def set_hidden(self, run_ids: Sequence[str], are_hidden: bool) -> None:
        changed = frozenset(run_ids)
        self.hidden = self.hidden | changed if are_hidden else self.hidden - changed
        self._redraw()

    def show_only(self, run_ids: Sequence[str]) -> None:
        """All others are hidden; all are shown again where that is so already."""
        others = frozenset(self.run_ids) - frozenset(run_ids)
        self.hidden = frozenset() if self.hidden == others else others
        self._redraw()

    def is_folded(self, prefix: str) -> bool:
        return self._settings.text(f"charts/folded/{prefix or '-'}") == "yes"

    def keep_folded(self, prefix: str, is_folded: bool) -> None:
        self._settings.keep(f"charts/folded/{prefix or '-'}", "yes" if is_folded else "no")

    # What plots ask for.

    def want(
        self, key: MetricKey, stretch: tuple[float, float] | None, share: float, pixels: int
    ) -> None:
        """This metric is in sight, all of it or a stretch, `share` of the whole, on so much room.

        `pixels` is rounded by the caller, so that a small change of size asks for nothing.
        """
        exact = min(_EXACT, _EXACT_IN_ALL // max(1, len(self.run_ids)))
        first = last = None
        if stretch is not None:
            margin = (stretch[1] - stretch[0]) * _MARGIN
            first, last = stretch[0] - margin, stretch[1] + margin
        # Many curves over each other are told apart no better with a place for every pixel.
        columns = min(pixels, max(pixels // 4, pixels * _FEW_RUNS // max(1, len(self.run_ids))))
        columns = columns if stretch is None else round(columns * (1 + 2 * _MARGIN))
        room = 2 * columns
        self._feed.want(key, Wish(first, last, room, exact, min(1.0, share)))
        self._pictures.want(key, columns)

    def unwant(self, key: MetricKey) -> None:
        """Out of sight."""
        self._feed.unwant(key)
        self._pictures.unwant(key)

    def prepare(self, load: Callable[[], Result], then: Callable[[Result], None]) -> None:
        """For what a view has to import before it can draw: off the UI thread."""
        self._tasks.run(self, load, then)

    def retry(self) -> None:
        """Runs that could not be read are asked for again, and a daemon that is away is started."""
        if self.is_lost:
            self._link.start_daemon()
        run_ids, self.run_ids = self.run_ids, ()
        self._feed.show(())
        self.show(run_ids)

    # What happens.

    def _read_settings(self) -> None:
        axis = self._settings.text("charts/axis", "step")
        self.axis = next((each for each in _AXES if each == axis), "step")
        try:
            weight = float(self._settings.text("charts/smoothing", "0.6"))
        except ValueError:
            weight = 0.6
        self.smoothing = min(_MOST_SMOOTHING, max(0.0, weight))
        self.is_log = self._settings.text("charts/log") == "yes"
        kept = self._settings.text("charts/group by", SEED)
        self.group_by = EACH if kept == "each" else kept
        self._feed.set_axis(self.axis)

    def _on_facts(self, run_id: str) -> None:
        self._problems.pop(run_id, None)
        self._has_facts = True
        self._pulse.wake()

    def _on_failed(self, run_id: str, error: UserError) -> None:
        _log.warning("C391 charts of run %s cannot be read: %s", run_id, error)
        self._problems[run_id] = error
        self._note_news()

    def _outline_of(self, facts: Sequence[RunFacts]) -> object:
        """A run that goes on has other figures ten times a second, and all else seldom."""
        runs = [
            (each.run.run_id, each.run.name, each.run.state, each.config, frozenset(each.series))
            for each in facts
        ]
        sources = [(each.returns, each.from_events) for each in facts]
        return (runs, sources, self.group_by)

    def _regroup(self) -> None:
        facts = self.facts
        self._outline = self._outline_of(facts)
        known = self.group_by in (EACH, *fields_of(facts))
        self.grouped_by = self.group_by if known else SEED
        before, self.groups = self.groups, groups_of(facts, self.grouped_by)
        if before != self.groups:
            self._pictures.redraw()
        keys = {key for each in facts for key in each.series}
        self.metric_groups = grouped(keys, self.returns)
        self.scores.show(facts, titles_of(facts), self.groups)

    def _redraw(self) -> None:
        self._pictures.redraw()
        self._note_news()

    def _note_news(self) -> None:
        self._has_news = True
        self._pulse.wake()

    def _on_beat(self) -> bool:
        if self._has_facts:
            self._has_facts = False
            if self._outline != self._outline_of(self.facts):
                self._regroup()
                self._has_news = True
        drawing = Drawing(self.axis, self.smoothing, self.is_log, self.groups, self.hidden)
        is_busy = self._pictures.compose(drawing)
        if self._has_news:
            self._has_news = False
            self.changed.emit()
            return True
        return is_busy
