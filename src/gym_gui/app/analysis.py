"""Analysis: the pages about runs, each built when it is first looked at, and what leads from them.

Charts, TensorBoard, W&B and the others import much that a person who only plays never needs.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from gym_gui.app.analysis_models import AnalysisModels
from gym_gui.app.descriptor_tabs import further_pages
from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.screens import FurtherTab
from gym_gui.runtime.models import run_tabs

if TYPE_CHECKING:
    from gym_gui.app.dashboard_host import DashboardHost
    from gym_gui.app.wiring import AppContext
    from gym_gui.charts.view.charts_page import ChartsPage
    from gym_gui.compare.view.compare_page import ComparePage
    from gym_gui.optuna.view.study_page import StudyPage
    from gym_gui.run_page.view.run_page_view import RunPageView
    from gym_gui.tensorboard.view.tensorboard_page import TensorBoardPage
    from gym_gui.wandb.view.wandb_page import WandbPage


class Analysis(QObject):
    """Made once, by the wiring, before the window: what its pages lead to is looked up later."""

    def __init__(self, bench: "AppContext") -> None:
        super().__init__(bench)
        self._bench = bench
        self._opening = ""
        """The run that a person has opened, until its papers say in which tab."""
        self._further: tuple[str, ...] = ()
        """Kinds of tabs that only some runs open, of the shown one."""
        self.models = AnalysisModels(bench)
        self.shown = self.models.shown
        self.run_page: LazyPage[RunPageView] = LazyPage(
            self._make_run_page,
            bench.tasks,
            ("run_page.model.run_page_model", "run_page.view.run_page_view"),
        )
        self.charts_page: LazyPage[ChartsPage] = LazyPage(
            self._make_charts_page,
            bench.tasks,
            ("charts.model.charts_model", "charts.view.charts_page", "charts.view.metric_plot"),
        )
        self.compare_page: LazyPage[ComparePage] = LazyPage(
            self._make_compare_page,
            bench.tasks,
            ("compare.model.compare_model", "compare.view.compare_page", "charts.view.metric_plot"),
        )
        self.tensorboard_page: LazyPage[DashboardHost[TensorBoardPage]] = LazyPage(
            self._make_tensorboard_page,
            bench.tasks,
            (
                "tensorboard.model.tensorboard_model",
                "tensorboard.view.tensorboard_page",
                "app.dashboard_host",
            ),
        )
        self.wandb_page: LazyPage[DashboardHost[WandbPage]] = LazyPage(
            self._make_wandb_page,
            bench.tasks,
            ("wandb.model.wandb_model", "wandb.view.wandb_page", "app.dashboard_host"),
        )
        self.study_page: LazyPage[StudyPage] = LazyPage(
            self._make_study_page,
            bench.tasks,
            ("optuna.model.study_model", "optuna.view.study_page", "optuna.view.study_plots"),
        )
        self.further_pages = further_pages(bench, self.models)

    def begin(self) -> None:
        """Once the window is there."""
        self.shown.changed.connect(self._update_tabs)
        self.shown.metadata_changed.connect(self._update_tabs)
        self.shown.metadata_changed.connect(self._show_first_tab)
        self._update_tabs()

    # What is shown.

    def show_run(self, run_id: str) -> None:
        self.shown.show(run_id)
        if self.charts_page.is_made:
            self.models.charts.show(self._charted)

    def open_run(self, run_id: str) -> None:
        """In the tab that suits it, as soon as it is known what the run is."""
        self._opening = run_id
        self._bench.runs_view.select(run_id)
        self._bench.conduct.show_run(run_id)
        self._show_first_tab()

    def show_overview(self, run_id: str) -> None:
        self._bench.conduct.show_run(run_id)
        self._bench.window.centre.show_tab("run")

    def compare(self, run_ids: Sequence[str]) -> None:
        """Their curves in one chart, their scores in one table, their episodes side by side."""
        self.models.compare.show(run_ids)
        self._bench.window.centre.show_tab("compare")

    @property
    def _charted(self) -> tuple[str, ...]:
        return (self.shown.run_id,) if self.shown.run_id else ()

    def _show_first_tab(self) -> None:
        shown, run = self.shown, self.shown.run
        if shown.run_id != self._opening or run is None or not self._is_settled:
            return
        self._opening = ""
        tab = run_tabs.first_tab(run, shown.config, shown.descriptor)
        if tab == "replay":
            self._bench.conduct.replay(run.run_id)
        else:
            self._bench.window.centre.show_tab(tab)

    def _update_tabs(self) -> None:
        shown, centre = self.shown, self._bench.window.centre
        reasons = run_tabs.reasons(shown.run, shown.config, shown.manifest)
        if self.tensorboard_page.is_made and self.models.tensorboard.servers:
            reasons["tensorboard"] = ""  # where they are listed and stopped
        for name, why_not in reasons.items():
            centre.set_tab_reason(name, why_not)
        centre.set_tab_reason("replay", run_tabs.no_replay(shown.run))
        if self._is_settled:  # between two runs that both have a tab, it stays in front
            further = run_tabs.further(shown.descriptor, shown.event_types)
            centre.show_further(further)
            if further != self._further:
                self._further = further
                self._bench.commands.update()

    def why_no_further(self, name: FurtherTab) -> str:
        """Why the shown run does not open a tab of this kind; empty when it does."""
        if not self.shown.run_id:
            return run_tabs.NO_RUN
        if name in self._further:
            return ""
        if not self._is_settled:
            return "The selected run is being read."
        return self.further_pages[name].why_not

    @property
    def _is_settled(self) -> bool:
        """The metadata of the selected run is known."""
        shown = self.shown
        return not shown.run_id or shown.is_known or shown.problem is not None

    # Dashboards of others.

    def open_tensorboard(self, run_ids: Sequence[str]) -> None:
        """Runs without event files are exported first."""
        self._bench.window.centre.show_tab("tensorboard")
        self.models.tensorboard.open_runs(run_ids)

    def choose_tensorboard_folder(self) -> None:
        self._bench.window.centre.show_tab("tensorboard")
        self.tensorboard_page.content.page.choose_folder()

    def _open_dashboard(self, host: "DashboardHost[Any]", url: str, proxy: str = "") -> None:
        if self._bench.models.settings.dashboards.is_on:
            host.open(url, proxy)
        else:
            self._bench.conduct.open_outside(url)

    # Pages, and what leads from them.

    def _make_run_page(self) -> "RunPageView":
        from gym_gui.run_page.view.run_page_view import RunPageView  # noqa: PLC0415 - when shown

        bench, model = self._bench, self.models.run_page
        page = RunPageView(model, bench.theme)
        page.replay_requested.connect(bench.conduct.replay)
        page.compare_requested.connect(self.compare)
        page.duplicate_requested.connect(bench.training_conduct.duplicate)
        page.tab_requested.connect(bench.window.centre.show_tab)
        page.video_requested.connect(bench.conduct.show_video)
        page.open_requested.connect(bench.conduct.open_outside)
        page.checkpoint_requested.connect(bench.training_conduct.play_checkpoint)
        page.train_on_requested.connect(bench.training_conduct.train_on)
        page.runs_requested.connect(bench.window.show_runs)
        model.show_requested.connect(bench.conduct.open_outside)
        return page

    def _make_charts_page(self) -> "ChartsPage":
        from gym_gui.charts.view.charts_page import ChartsPage  # noqa: PLC0415 - when shown

        bench, model = self._bench, self.models.charts
        page = ChartsPage(model, bench.theme)
        page.episode_requested.connect(bench.conduct.replay_step)
        page.run_requested.connect(bench.window.show_runs)
        model.exports.reveal_requested.connect(bench.conduct.open_outside)
        model.show(self._charted)
        return page

    def _make_compare_page(self) -> "ComparePage":
        from gym_gui.charts.view.charts_page import ChartsPage  # noqa: PLC0415 - when shown
        from gym_gui.charts.view.score_panel import ScorePanel  # noqa: PLC0415 - as above
        from gym_gui.compare.view.compare_page import ComparePage  # noqa: PLC0415 - as above

        bench, charts = self._bench, self.models.compare_charts
        curves = ChartsPage(charts, bench.theme, has_scores=False)
        curves.bar.folder.hide()  # what is compared are runs
        curves.episode_requested.connect(bench.conduct.replay_step)
        charts.exports.reveal_requested.connect(bench.conduct.open_outside)
        scores = ScorePanel(charts, bench.theme)
        return ComparePage(self.models.compare, curves, scores, bench.theme)

    def _make_tensorboard_page(self) -> "DashboardHost[TensorBoardPage]":
        from gym_gui.app.dashboard_host import DashboardHost  # noqa: PLC0415 - when shown
        from gym_gui.tensorboard.view.tensorboard_page import (  # noqa: PLC0415 - as above
            TensorBoardPage,
        )

        bench, model = self._bench, self.models.tensorboard
        page = TensorBoardPage(model, bench.theme)
        host = DashboardHost(page, bench.theme)
        page.charts_requested.connect(lambda _: bench.window.centre.show_tab("charts"))
        model.address_ready.connect(lambda url: self._open_dashboard(host, url))
        model.reveal_requested.connect(bench.conduct.open_outside)
        model.changed.connect(self._update_tabs)
        return host

    def _make_wandb_page(self) -> "DashboardHost[WandbPage]":
        from gym_gui.app.dashboard_host import DashboardHost  # noqa: PLC0415 - when shown
        from gym_gui.wandb.view.wandb_page import WandbPage  # noqa: PLC0415 - as above

        bench = self._bench
        page = WandbPage(self.models.wandb, bench.theme)
        host = DashboardHost(page, bench.theme)
        page.open_requested.connect(lambda url, proxy: self._open_dashboard(host, url, proxy))
        page.key_requested.connect(lambda _: bench.training_conduct.show_keys())
        bench.models.settings.secrets.changed.connect(self.models.wandb.refresh_key)
        page.reveal_requested.connect(bench.conduct.open_outside)
        return host

    def _make_study_page(self) -> "StudyPage":
        from gym_gui.optuna.view.study_page import StudyPage  # noqa: PLC0415 - when shown

        page = StudyPage(self.models.study, self._bench.theme)
        page.run_requested.connect(self.open_run)
        page.compare_requested.connect(self.compare)
        self.models.study.exports.reveal_requested.connect(self._bench.conduct.open_outside)
        return page
