"""RunPage: one run in full: its head, and below it one part at a time."""

from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QVBoxLayout, QWidget

from gym_gui.run_page.model.run_page_model import RunPageModel, RunPart
from gym_gui.run_page.view.artifacts_part import ArtifactsPart
from gym_gui.run_page.view.checkpoints_part import CheckpointsPart
from gym_gui.run_page.view.configuration_part import ConfigurationPart
from gym_gui.run_page.view.log_part import LogPart
from gym_gui.run_page.view.overview_part import OverviewPart
from gym_gui.run_page.view.reproduce_part import ReproducePart
from gym_gui.run_page.view.run_head import RunHead
from gym_gui.run_page.view.system_part import SystemPart
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.empty_state import EmptyState

PARTS: dict[RunPart, tuple[str, str]] = {
    "overview": ("Overview", "Overview"),
    "configuration": ("Configuration", "Config"),
    "log": ("Log", "Log"),
    "artifacts": ("Artifacts", "Artifacts"),
    "checkpoints": ("Checkpoints", "Saved"),
    "system": ("System", "System"),
    "reproduce": ("Reproduce", "Rerun"),
}
"""Names of the parts, and shorter ones where there is little room."""
_ROOMY_EMS = 40
_LEAST_EMS = 6


class _MakesPart(Protocol):
    def __call__(self, model: RunPageModel, theme: ThemeModel) -> QWidget: ...


_MAKERS: dict[RunPart, _MakesPart] = {
    "overview": OverviewPart,
    "configuration": ConfigurationPart,
    "log": LogPart,
    "artifacts": ArtifactsPart,
    "checkpoints": CheckpointsPart,
    "system": SystemPart,
    "reproduce": ReproducePart,
}


class RunPage(QWidget):
    """Parts are made when they are first looked at. What leads elsewhere is a signal."""

    replay_wanted = Signal(str)
    """Run."""
    compare_wanted = Signal(list)
    """Runs to begin with."""
    duplicate_wanted = Signal(str)
    """Run."""
    tab_wanted = Signal(str)
    """tensorboard, wandb or optuna: the tab of the shown run."""
    video_wanted = Signal(str, str)
    """Run, and where one of its videos is."""
    open_wanted = Signal(str)
    """A file or folder, for the desktop."""
    checkpoint_requested = Signal(str)
    """Its id: it is to be played."""
    train_on_requested = Signal(str, str)
    """Run and checkpoint."""
    log_wanted = Signal(str)
    """Run: its log was brought to the front here."""
    runs_wanted = Signal()
    """No run is shown, and the person wants to choose one."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.head = RunHead(model, theme)
        self.tabs = QTabBar()
        self.tabs.setDocumentMode(True)
        self.tabs.setExpanding(False)
        self.tabs.setDrawBase(False)
        self.tabs.setUsesScrollButtons(True)
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        self.tabs.setAccessibleName("Parts of the run's page")
        for name, _ in PARTS.values():
            self.tabs.setTabToolTip(self.tabs.addTab(name), name)
        self._parts: dict[RunPart, QWidget] = {}
        self._stack = QStackedWidget()
        # So much of a part is always in sight; the head keeps its height.
        self._stack.setMinimumHeight(self.fontMetrics().height() * _LEAST_EMS)
        self.empty = EmptyState(
            "runs",
            "No run is shown",
            "Select one in the list of runs to see what it is, how it went and what it left.",
            theme,
            action="Show the runs",
        )
        whole = QWidget()
        # The keyboard comes to the tabs first, so that no name is written over by chance.
        self.tabs.setParent(whole)
        layout = QVBoxLayout(whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.head)
        layout.addWidget(self.tabs)
        layout.addWidget(_Rule(theme))
        layout.addWidget(self._stack, 1)
        self._either = QStackedWidget(self)
        self._either.addWidget(whole)
        self._either.addWidget(self.empty)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._either)
        self.tabs.currentChanged.connect(lambda _: self._bring_to_front())
        self.head.acted.connect(self._on_acted)
        self.empty.acted.connect(self.runs_wanted)
        model.changed.connect(self._update)
        self._update()

    @property
    def current(self) -> RunPart:
        return tuple(PARTS)[self.tabs.currentIndex()]

    def part(self, name: RunPart) -> QWidget:
        """Made when it is first asked for."""
        if name not in self._parts:
            made = _MAKERS[name](self._model, self._theme)
            made.setAccessibleName(PARTS[name][0])
            self._parts[name] = made
            self._stack.addWidget(made)
            self._connect(made)
        return self._parts[name]

    def show_part(self, name: RunPart) -> None:
        self.tabs.setCurrentIndex(tuple(PARTS).index(name))
        self._bring_to_front()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._bring_to_front()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_roomy = self.width() >= self.fontMetrics().height() * _ROOMY_EMS
        for at, (name, short) in enumerate(PARTS.values()):
            if self.tabs.tabText(at) != (name if is_roomy else short):
                self.tabs.setTabText(at, name if is_roomy else short)

    def _bring_to_front(self) -> None:
        """Only on the screen: what nobody looks at reads nothing."""
        if self.isVisible() and self._model.run is not None:
            self._stack.setCurrentWidget(self.part(self.current))
            self._model.look_at(self.current)

    def _connect(self, part: QWidget) -> None:
        if isinstance(part, OverviewPart):
            part.log_wanted.connect(self._show_log)
        elif isinstance(part, LogPart):
            part.open_wanted.connect(self.open_wanted)
        elif isinstance(part, ArtifactsPart):
            part.tab_wanted.connect(self.tab_wanted)
            part.open_wanted.connect(self.open_wanted)
            part.video_wanted.connect(self.video_wanted)
            part.checkpoints_wanted.connect(lambda: self.show_part("checkpoints"))
        elif isinstance(part, CheckpointsPart):
            part.checkpoint_requested.connect(self.checkpoint_requested)
            part.train_on_requested.connect(self.train_on_requested)
            part.open_wanted.connect(self.open_wanted)

    def _show_log(self) -> None:
        self.show_part("log")
        self.log_wanted.emit(self._model.shown.run_id)

    def _on_acted(self, action: str) -> None:
        run_id = self._model.shown.run_id
        if action == "replay":
            self.replay_wanted.emit(run_id)
        elif action == "duplicate":
            self.duplicate_wanted.emit(run_id)
        else:
            other = self._model.other_id
            self.compare_wanted.emit([run_id, other] if other else [run_id])

    def _update(self) -> None:
        has_run = self._model.run is not None
        was_empty = self._either.currentIndex() == 1
        self._either.setCurrentIndex(0 if has_run else 1)
        if has_run and was_empty:
            self._bring_to_front()


class _Rule(QWidget):
    """The line between the tabs and the part in front."""

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedHeight(1)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.colours.line))
        painter.end()
