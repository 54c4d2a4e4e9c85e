"""RunPageView: the page of the selected run: a header and one tab at a time."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel, RunPageTab
from gym_gui.run_page.view.artifacts_tab import ArtifactsTab
from gym_gui.run_page.view.checkpoints_tab import CheckpointsTab
from gym_gui.run_page.view.configuration_tab import ConfigurationTab
from gym_gui.run_page.view.overview_tab import OverviewTab
from gym_gui.run_page.view.reproduce_tab import ReproduceTab
from gym_gui.run_page.view.run_header import RunHeader
from gym_gui.run_page.view.system_tab import SystemTab
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState

TABS: dict[RunPageTab, tuple[str, str]] = {
    "overview": ("Overview", "Overview"),
    "configuration": ("Configuration", "Config"),
    "log": ("Log", "Log"),
    "artifacts": ("Artifacts", "Artifacts"),
    "checkpoints": ("Checkpoints", "Saved"),
    "system": ("System", "System"),
    "reproduce": ("Reproduce", "Rerun"),
}
"""Tab names, and shorter ones for a narrow page."""
_WIDE_EMS = 40
_MIN_EMS = 6


class _TabFactory(Protocol):
    def __call__(self, model: RunPageModel, theme: ThemeModel) -> QWidget: ...


_TAB_CLASSES: dict[RunPageTab, _TabFactory] = {
    "overview": OverviewTab,
    "configuration": ConfigurationTab,
    "artifacts": ArtifactsTab,
    "checkpoints": CheckpointsTab,
    "system": SystemTab,
    "reproduce": ReproduceTab,
}


class RunPageView(QWidget):
    """Shows `RunPageModel`. Tabs are created when first opened; signals open other pages."""

    replay_requested = Signal(str)
    """Run."""
    compare_requested = Signal(list)
    """Runs to compare."""
    duplicate_requested = Signal(str)
    """Run."""
    tab_requested = Signal(str)
    """tensorboard, wandb or optuna: the page to open for the selected run."""
    video_requested = Signal(str, str)
    """Run, and path of one of its videos."""
    open_requested = Signal(str)
    """A file or folder to open with the desktop."""
    checkpoint_requested = Signal(str)
    """Id of the checkpoint to play."""
    train_on_requested = Signal(str, str)
    """Run and checkpoint."""
    log_requested = Signal(str)
    """Run whose log tab was opened."""
    runs_requested = Signal()
    """No run is selected, and the user asked for the list of runs."""

    def __init__(
        self,
        model: RunPageModel,
        theme: ThemeModel,
        make_log: Callable[[], QWidget],
        parent: QWidget | None = None,
    ) -> None:
        """`make_log` creates the log tab."""
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._make_log = make_log
        self.header = RunHeader(model, theme)
        self.tabs = QTabBar()
        self.tabs.setDocumentMode(True)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.setAccessibleName("Tabs of the run page")
        for name, _ in TABS.values():
            self.tabs.setTabToolTip(self.tabs.addTab(name), name)
        self._tab_widgets: dict[RunPageTab, QWidget] = {}
        self._stack = QStackedWidget()
        # A minimum height of the tab stays visible; the header keeps its height.
        self._stack.setMinimumHeight(self.fontMetrics().height() * _MIN_EMS)
        self.empty = EmptyState(
            "runs",
            "No run selected",
            "Select a run in the list to see its settings, progress and artifacts.",
            theme,
            action="Show runs",
        )
        content = QWidget()
        # The tabs get the keyboard focus first, so that the name is not edited by accident.
        self.tabs.setParent(content)
        layout = QVBoxLayout(content)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.tabs)
        layout.addWidget(_Rule(theme))
        layout.addWidget(self._stack, 1)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(content)
        self._pages.addWidget(self.empty)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self._pages)
        self.tabs.currentChanged.connect(lambda _: self._open_current_tab())
        self.header.action_requested.connect(self._on_action_requested)
        self.empty.action_triggered.connect(self.runs_requested)
        model.changed.connect(self._update)
        self._update()

    @property
    def current(self) -> RunPageTab:
        return tuple(TABS)[self.tabs.currentIndex()]

    def tab(self, name: RunPageTab) -> QWidget:
        """Created when first requested."""
        if name not in self._tab_widgets:
            make = _TAB_CLASSES.get(name)
            widget = make(self._model, self._theme) if make else self._make_log()
            widget.setAccessibleName(TABS[name][0])
            self._tab_widgets[name] = widget
            self._stack.addWidget(widget)
            self._connect(widget)
        return self._tab_widgets[name]

    def show_tab(self, name: RunPageTab) -> None:
        self.tabs.setCurrentIndex(tuple(TABS).index(name))
        self._open_current_tab()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._open_current_tab()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_wide = self.width() >= self.fontMetrics().height() * _WIDE_EMS
        for index, (name, short) in enumerate(TABS.values()):
            if self.tabs.tabText(index) != (name if is_wide else short):
                self.tabs.setTabText(index, name if is_wide else short)

    def _open_current_tab(self) -> None:
        """Only while visible: hidden tabs read nothing."""
        if self.isVisible() and self._model.run is not None:
            self._stack.setCurrentWidget(self.tab(self.current))
            self._model.set_current_tab(self.current)

    def _connect(self, tab: QWidget) -> None:
        if isinstance(tab, OverviewTab):
            tab.log_requested.connect(self._show_log)
        elif isinstance(tab, ArtifactsTab):
            tab.tab_requested.connect(self.tab_requested)
            tab.open_requested.connect(self.open_requested)
            tab.video_requested.connect(self.video_requested)
            tab.checkpoints_requested.connect(lambda: self.show_tab("checkpoints"))
        elif isinstance(tab, CheckpointsTab):
            tab.checkpoint_requested.connect(self.checkpoint_requested)
            tab.train_on_requested.connect(self.train_on_requested)
            tab.open_requested.connect(self.open_requested)

    def _show_log(self) -> None:
        self.show_tab("log")
        self.log_requested.emit(self._model.selected.run_id)

    def _on_action_requested(self, action: str) -> None:
        run_id = self._model.selected.run_id
        if action == "replay":
            self.replay_requested.emit(run_id)
        elif action == "duplicate":
            self.duplicate_requested.emit(run_id)
        else:
            other = self._model.other_id
            self.compare_requested.emit([run_id, other] if other else [run_id])

    def _update(self) -> None:
        has_run = self._model.run is not None
        was_empty = self._pages.currentIndex() == 1
        self._pages.setCurrentIndex(0 if has_run else 1)
        if has_run and was_empty:
            self._open_current_tab()


class _Rule(QWidget):
    """The line between the tab bar and the current tab."""

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedHeight(1)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.colours.line))
        painter.end()
