"""Analysis: the pages about runs, each created when it is first shown, and their connections.

The pages are imported on demand, because charts, TensorBoard and W&B need large libraries.

Worker tabs are opened by their kind: a worker's descriptor names kinds in `tabs`, and
`runtime.models.run_tabs` decides which of them a run has. A kind that is not in `_WORKER_TABS` is
ignored.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.models import AnalysisModels
from gym_gui.app.screens import WorkerTab, WorkerTabPage
from gym_gui.runtime.models import run_tabs

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext
    from gym_gui.beliefs.view.beliefs_page import BeliefsPage
    from gym_gui.charts.view.charts_page import ChartsPage
    from gym_gui.compare.view.compare_page import ComparePage
    from gym_gui.optuna.view.study_page import StudyPage
    from gym_gui.run_page.view.run_page_view import RunPageView
    from gym_gui.tensorboard.view.tensorboard_page import TensorBoardPage
    from gym_gui.wandb.view.wandb_page import WandbPage
    from gym_gui.widgets.embedded_page import DashboardHost


@dataclass(frozen=True, slots=True)
class _WorkerTab:
    title: str
    why_not: str
    """Why a run does not have this tab, as a complete sentence."""
    modules: tuple[str, ...]
    """Modules of `gym_gui` that `make` imports."""
    make: "Callable[[AppContext, AnalysisModels], QWidget]"


class Analysis(QObject):
    """Created by `AppContext` before the window, so its pages connect to the window on demand."""

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._context = context
        self._opening = ""
        """The run to open, until its metadata is known and its first tab can be selected."""
        self._worker_tabs: tuple[str, ...] = ()
        """Kinds of worker tabs that the selected run has."""
        self.models = AnalysisModels(context)
        self.selected_run = self.models.selected_run
        self.run_page: LazyPage[RunPageView] = LazyPage(
            self._make_run_page,
            context.tasks,
            ("run_page.model.run_page_model", "run_page.view.run_page_view"),
        )
        self.charts_page: LazyPage[ChartsPage] = LazyPage(
            self._make_charts_page,
            context.tasks,
            ("charts.model.charts_model", "charts.view.charts_page", "charts.view.metric_plot"),
        )
        self.compare_page: LazyPage[ComparePage] = LazyPage(
            self._make_compare_page,
            context.tasks,
            ("compare.model.compare_model", "compare.view.compare_page", "charts.view.metric_plot"),
        )
        self.tensorboard_page: LazyPage[DashboardHost[TensorBoardPage]] = LazyPage(
            self._make_tensorboard_page,
            context.tasks,
            (
                "tensorboard.model.tensorboard_model",
                "tensorboard.view.tensorboard_page",
                "widgets.embedded_page",
            ),
        )
        self.wandb_page: LazyPage[DashboardHost[WandbPage]] = LazyPage(
            self._make_wandb_page,
            context.tasks,
            ("wandb.model.wandb_model", "wandb.view.wandb_page", "widgets.embedded_page"),
        )
        self.study_page: LazyPage[StudyPage] = LazyPage(
            self._make_study_page,
            context.tasks,
            ("optuna.model.study_model", "optuna.view.study_page", "optuna.view.study_plots"),
        )
        self.worker_pages = worker_pages(context, self.models)

    def start(self) -> None:
        """Called after the window is created."""
        self.selected_run.changed.connect(self._update_tabs)
        self.selected_run.metadata_changed.connect(self._update_tabs)
        self.selected_run.metadata_changed.connect(self._show_first_tab)
        self._update_tabs()

    # The selected run.

    def show_run(self, run_id: str) -> None:
        self.selected_run.select(run_id)
        if self.charts_page.is_created:
            self.models.charts.show(self._chart_runs)

    def open_run(self, run_id: str) -> None:
        """Open a run in its first tab, as soon as its metadata is known."""
        self._opening = run_id
        self._context.runs_view.select(run_id)
        self._context.navigation.show_run(run_id)
        self._show_first_tab()

    def show_overview(self, run_id: str) -> None:
        self._context.navigation.show_run(run_id)
        self._context.window.centre.show_tab("run")

    def compare(self, run_ids: Sequence[str]) -> None:
        """Compare the curves, scores and episodes of these runs."""
        self.models.compare.show(run_ids)
        self._context.window.centre.show_tab("compare")

    @property
    def _chart_runs(self) -> tuple[str, ...]:
        return (self.selected_run.run_id,) if self.selected_run.run_id else ()

    def _show_first_tab(self) -> None:
        selected_run, run = self.selected_run, self.selected_run.run
        if selected_run.run_id != self._opening or run is None or not self._has_metadata:
            return
        self._opening = ""
        tab = run_tabs.first_tab(run, selected_run.config, selected_run.descriptor)
        if tab == "replay":
            self._context.navigation.replay(run.run_id)
        else:
            self._context.window.centre.show_tab(tab)

    def _update_tabs(self) -> None:
        selected_run, centre = self.selected_run, self._context.window.centre
        reasons = run_tabs.empty_reasons(
            selected_run.run, selected_run.config, selected_run.manifest
        )
        if self.tensorboard_page.is_created and self.models.tensorboard.servers:
            reasons["tensorboard"] = ""  # the page lists the servers and can stop them
        for name, why_not in reasons.items():
            centre.set_tab_reason(name, why_not)
        centre.set_tab_reason("replay", run_tabs.no_replay_reason(selected_run.run))
        if self._has_metadata:  # a tab that both runs have must not flicker
            worker_tabs = run_tabs.extra_tabs(selected_run.descriptor, selected_run.event_types)
            centre.show_worker_tabs(worker_tabs)
            if worker_tabs != self._worker_tabs:
                self._worker_tabs = worker_tabs
                self._context.commands.update()

    def worker_tab_reason(self, name: WorkerTab) -> str:
        """Why the selected run has no tab of this kind; empty if it has one."""
        if not self.selected_run.run_id:
            return run_tabs.NO_RUN
        if name in self._worker_tabs:
            return ""
        if not self._has_metadata:
            return "The selected run is being loaded."
        return self.worker_pages[name].why_not

    @property
    def _has_metadata(self) -> bool:
        """Whether the metadata of the selected run is known, or reading it has failed."""
        selected_run = self.selected_run
        return not selected_run.run_id or selected_run.is_known or selected_run.problem is not None

    # External dashboards.

    def open_tensorboard(self, run_ids: Sequence[str]) -> None:
        """Runs without event files are exported first."""
        self._context.window.centre.show_tab("tensorboard")
        self.models.tensorboard.open_runs(run_ids)

    def select_tensorboard_folder(self) -> None:
        self._context.window.centre.show_tab("tensorboard")
        self.tensorboard_page.content.page.select_folder()

    def _open_dashboard(self, host: "DashboardHost[Any]", url: str, proxy: str = "") -> None:
        if self._context.models.settings.dashboards.is_on:
            host.open(url, proxy)
        else:
            self._context.navigation.open_externally(url)

    # Pages and their connections.

    def _make_run_page(self) -> "RunPageView":
        from gym_gui.log.view.log_view import RunLogView  # noqa: PLC0415 - when shown
        from gym_gui.run_page.view.run_page_view import RunPageView  # noqa: PLC0415 - when shown

        context, model = self._context, self.models.run_page

        def make_log() -> RunLogView:
            view = RunLogView(self.models.run_log, context.theme)
            view.open_requested.connect(context.navigation.open_externally)
            return view

        page = RunPageView(model, context.theme, make_log)
        page.replay_requested.connect(context.navigation.replay)
        page.compare_requested.connect(self.compare)
        page.duplicate_requested.connect(context.training_navigation.duplicate)
        page.tab_requested.connect(context.window.centre.show_tab)
        page.video_requested.connect(context.navigation.show_video)
        page.open_requested.connect(context.navigation.open_externally)
        page.checkpoint_requested.connect(context.training_navigation.play_checkpoint)
        page.train_on_requested.connect(context.training_navigation.train_on)
        page.runs_requested.connect(context.window.show_runs)
        model.show_requested.connect(context.navigation.open_externally)
        return page

    def _make_charts_page(self) -> "ChartsPage":
        from gym_gui.charts.view.charts_page import ChartsPage  # noqa: PLC0415 - when shown

        context, model = self._context, self.models.charts
        page = ChartsPage(model, context.theme)
        page.episode_requested.connect(context.navigation.replay_step)
        page.run_requested.connect(context.window.show_runs)
        model.exports.reveal_requested.connect(context.navigation.open_externally)
        model.show(self._chart_runs)
        return page

    def _make_compare_page(self) -> "ComparePage":
        from gym_gui.charts.view.charts_page import ChartsPage  # noqa: PLC0415 - when shown
        from gym_gui.charts.view.score_panel import ScorePanel  # noqa: PLC0415 - as above
        from gym_gui.compare.view.compare_page import ComparePage  # noqa: PLC0415 - as above

        context, charts = self._context, self.models.compare_charts
        curves = ChartsPage(charts, context.theme, has_scores=False)
        curves.bar.folder.hide()  # only runs can be compared
        curves.episode_requested.connect(context.navigation.replay_step)
        charts.exports.reveal_requested.connect(context.navigation.open_externally)
        scores = ScorePanel(charts, context.theme)
        return ComparePage(self.models.compare, curves, scores, context.theme)

    def _make_tensorboard_page(self) -> "DashboardHost[TensorBoardPage]":
        from gym_gui.tensorboard.view.tensorboard_page import (  # noqa: PLC0415 - as above
            TensorBoardPage,
        )
        from gym_gui.widgets.embedded_page import DashboardHost  # noqa: PLC0415 - when shown

        context, model = self._context, self.models.tensorboard
        page = TensorBoardPage(model, context.theme)
        host = DashboardHost(page, context.theme)
        page.charts_requested.connect(lambda _: context.window.centre.show_tab("charts"))
        model.address_ready.connect(lambda url: self._open_dashboard(host, url))
        model.reveal_requested.connect(context.navigation.open_externally)
        model.changed.connect(self._update_tabs)
        return host

    def _make_wandb_page(self) -> "DashboardHost[WandbPage]":
        from gym_gui.wandb.view.wandb_page import WandbPage  # noqa: PLC0415 - as above
        from gym_gui.widgets.embedded_page import DashboardHost  # noqa: PLC0415 - when shown

        context = self._context
        page = WandbPage(self.models.wandb, context.theme)
        host = DashboardHost(page, context.theme)
        page.open_requested.connect(lambda url, proxy: self._open_dashboard(host, url, proxy))
        page.key_requested.connect(lambda _: context.training_navigation.show_keys())
        context.models.settings.secrets.changed.connect(self.models.wandb.refresh_key)
        page.reveal_requested.connect(context.navigation.open_externally)
        return host

    def _make_study_page(self) -> "StudyPage":
        from gym_gui.optuna.view.study_page import StudyPage  # noqa: PLC0415 - when shown

        page = StudyPage(self.models.study, self._context.theme)
        page.run_requested.connect(self.open_run)
        page.compare_requested.connect(self.compare)
        self.models.study.exports.reveal_requested.connect(self._context.navigation.open_externally)
        return page


def worker_pages(context: "AppContext", models: "AnalysisModels") -> dict[WorkerTab, WorkerTabPage]:
    """One page of each kind, created when it is first shown."""
    return {
        name: WorkerTabPage(
            kind.title,
            LazyPage(partial(kind.make, context, models), context.tasks, kind.modules),
            kind.why_not,
        )
        for name, kind in _WORKER_TABS.items()
    }


def _make_beliefs_page(context: "AppContext", models: "AnalysisModels") -> "BeliefsPage":
    from gym_gui.beliefs.view.beliefs_page import BeliefsPage  # noqa: PLC0415 - when shown

    page = BeliefsPage(models.beliefs, context.theme)
    page.step_requested.connect(context.navigation.replay_step)
    return page


_WORKER_TABS: dict[WorkerTab, _WorkerTab] = {
    "beliefs": _WorkerTab(
        "Beliefs",
        "The worker of the selected run does not report beliefs.",
        ("beliefs.model.beliefs_model", "beliefs.view.beliefs_page"),
        _make_beliefs_page,
    ),
}
