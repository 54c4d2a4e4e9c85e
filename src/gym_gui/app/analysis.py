"""Analysis: the pages about runs, each built when it is first looked at, and what leads from them.

Charts, TensorBoard, W&B and the others import much that a person who only plays never needs.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from gym_gui.app.analysis_models import AnalysisModels
from gym_gui.app.lazy_page import LazyPage
from gym_gui.models import run_tabs

if TYPE_CHECKING:
    from gym_gui.app.wiring import Workbench
    from gym_gui.views.analytics.study_page import StudyPage
    from gym_gui.views.analytics.tensorboard_page import TensorBoardPage
    from gym_gui.views.analytics.wandb_page import WandbPage
    from gym_gui.views.charts.charts_page import ChartsPage
    from gym_gui.views.compare.compare_page import ComparePage
    from gym_gui.views.run_page.run_page import RunPage


class Analysis(QObject):
    """Made once, by the wiring, before the window: what its pages lead to is looked up later."""

    def __init__(self, bench: "Workbench") -> None:
        super().__init__(bench)
        self._bench = bench
        self.compared: tuple[str, ...] = ()
        """The runs that a person chose to compare; empty: the shown one alone."""
        self._opening = ""
        """The run that a person has opened, until its papers say in which tab."""
        self.models = AnalysisModels(bench)
        self.shown = self.models.shown
        self.run_page: LazyPage[RunPage] = LazyPage(self._make_run_page)
        self.charts_page: LazyPage[ChartsPage] = LazyPage(self._make_charts_page)
        self.compare_page: LazyPage[ComparePage] = LazyPage(self._make_compare_page)
        self.tensorboard_page: LazyPage[TensorBoardPage] = LazyPage(self._make_tensorboard_page)
        self.wandb_page: LazyPage[WandbPage] = LazyPage(self._make_wandb_page)
        self.study_page: LazyPage[StudyPage] = LazyPage(self._make_study_page)

    def begin(self) -> None:
        """Once the window is there."""
        self.shown.changed.connect(self._update_tabs)
        self.shown.papers_changed.connect(self._update_tabs)
        self.shown.papers_changed.connect(self._show_first_tab)
        self._update_tabs()

    # What is shown.

    def show_run(self, run_id: str) -> None:
        self.shown.show(run_id)
        if run_id not in self.compared:
            self.compared = ()
            if self.charts_page.is_made:
                self.models.charts.show(self._charted)

    def compare(self, run_ids: Sequence[str]) -> None:
        """Curves of several runs in one chart, and their episodes side by side."""
        self.compared = tuple(run_ids)
        if self.charts_page.is_made:
            self.models.charts.show(self._charted)
        if self.compare_page.is_made:
            self.models.compare.show(self.compared)
        self._bench.window.centre.show_tab("charts")

    def open_run(self, run_id: str) -> None:
        """In the tab that suits it, as soon as it is known what the run is."""
        self._opening = run_id
        self._bench.conduct.show_run(run_id)
        self._show_first_tab()

    def show_overview(self, run_id: str) -> None:
        self._bench.conduct.show_run(run_id)
        self._bench.window.centre.show_tab("run")

    def _show_first_tab(self) -> None:
        shown, run = self.shown, self.shown.run
        if shown.run_id != self._opening or run is None or not (shown.is_known or shown.problem):
            return
        self._opening = ""
        tab = run_tabs.first_tab(run, shown.config, shown.descriptor)
        if tab == "replay":
            self._bench.conduct.replay(run.run_id)
        else:
            self._bench.window.centre.show_tab(tab)

    # TensorBoard, also without its page.

    def open_tensorboard(self, run_ids: Sequence[str]) -> None:
        self.models.tensorboard.open_runs(run_ids)
        self._bench.window.centre.show_tab("tensorboard")

    def choose_tensorboard_folder(self) -> None:
        from PySide6.QtWidgets import QFileDialog  # noqa: PLC0415 - when asked for

        dialog = QFileDialog(self._bench.window, "Folder of event files")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self._open_folder)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_folder(self, folder: str) -> None:
        self.models.tensorboard.open_folder(Path(folder))

    @property
    def _charted(self) -> tuple[str, ...]:
        return self.compared or ((self.shown.run_id,) if self.shown.run_id else ())

    def _update_tabs(self) -> None:
        shown, centre = self.shown, self._bench.window.centre
        for name, why_not in run_tabs.reasons(shown.run, shown.config, shown.manifest).items():
            centre.set_tab_reason(name, why_not)

    # Pages, and what leads from them.

    def _make_run_page(self) -> "RunPage":
        from gym_gui.views.run_page.run_page import RunPage  # noqa: PLC0415 - when shown

        return RunPage(self.models.run_page, self._bench.theme)

    def _make_charts_page(self) -> "ChartsPage":
        from gym_gui.views.charts.charts_page import ChartsPage  # noqa: PLC0415 - when shown

        page = ChartsPage(self.models.charts, self._bench.theme)
        self.models.charts.show(self._charted)
        return page

    def _make_compare_page(self) -> "ComparePage":
        from gym_gui.views.compare.compare_page import ComparePage  # noqa: PLC0415 - when shown

        page = ComparePage(self.models.compare, self._bench.theme)
        self.models.compare.show(self.compared)
        return page

    def _make_tensorboard_page(self) -> "TensorBoardPage":
        from gym_gui.views.analytics.tensorboard_page import (  # noqa: PLC0415 - when shown
            TensorBoardPage,
        )

        return TensorBoardPage(self.models.tensorboard, self._bench.theme)

    def _make_wandb_page(self) -> "WandbPage":
        from gym_gui.views.analytics.wandb_page import WandbPage  # noqa: PLC0415 - when shown

        return WandbPage(self.models.wandb, self._bench.theme)

    def _make_study_page(self) -> "StudyPage":
        from gym_gui.views.analytics.study_page import StudyPage  # noqa: PLC0415 - when shown

        return StudyPage(self.models.study, self._bench.theme)
