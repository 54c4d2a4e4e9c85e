"""MainWindow: three docks around a centre; the layout is saved in the settings.

It only places the widgets that `AppContext` has created; `Navigation` connects them.
"""

from PySide6.QtCore import QByteArray, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QDockWidget, QMainWindow, QTabWidget, QWidget

from gym_gui.app.centre import Centre
from gym_gui.app.screens import (
    RUNS_TITLES,
    TELEMETRY_TITLES,
    RunsTab,
    Screens,
    TelemetryTab,
)
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import SettingsStore
from gym_gui.shell.view.snackbar import Snackbar

_LAYOUT_VERSION = 1
_DEFAULT_SIZE = QSize(1440, 900)
_MIN_SIZE = QSize(900, 600)


class MainWindow(QMainWindow):
    """Created by `AppContext`."""

    closing = Signal()
    """The window is about to close; sessions must be stopped now."""

    def __init__(
        self, screens: Screens, notices: Notices, settings: SettingsStore, theme: ThemeModel
    ) -> None:
        super().__init__()
        self.setObjectName("main")
        self.setWindowTitle("MOSAIC")
        self.setMinimumSize(_MIN_SIZE)
        self.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
        )
        self._settings = settings
        self.centre = Centre(screens, theme, self)
        self.setCentralWidget(self.centre)
        self.telemetry_tabs = QTabWidget()
        self.runs_tabs = QTabWidget()
        for tabs in (self.telemetry_tabs, self.runs_tabs):
            tabs.setDocumentMode(True)
        for name, title_height in TELEMETRY_TITLES.items():
            self.telemetry_tabs.addTab(screens.telemetry[name], title_height)
        for runs_name, title_height in RUNS_TITLES.items():
            self.runs_tabs.addTab(screens.runs[runs_name], title_height)
        self.session_dock = self._dock("session", "Session", screens.session_panel)
        self.telemetry_dock = self._dock("telemetry", "Telemetry", self.telemetry_tabs)
        self.runs_dock = self._dock("runs", "Runs and log", self.runs_tabs)
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(screens.status, 1)
        self.snackbar = Snackbar(notices, theme, self)
        self._place_docks()
        self._default_layout = self.saveState(_LAYOUT_VERSION)
        self.resize(self._default_size())
        self._restore()

    def show_telemetry(self, name: TelemetryTab) -> None:
        self.telemetry_tabs.setCurrentIndex(list(TELEMETRY_TITLES).index(name))

    def show_runs(self) -> None:
        self._show_in_runs_dock("runs")

    def show_log(self) -> None:
        self._show_in_runs_dock("log")

    def toggle(self, dock: QDockWidget) -> None:
        dock.setVisible(dock.isHidden())

    def toggle_full_screen(self) -> None:
        self.showNormal() if self.isFullScreen() else self.showFullScreen()

    def reset_layout(self) -> None:
        """Restore the default layout of the docks."""
        self._settings.remove("layout")
        self.restoreState(self._default_layout, _LAYOUT_VERSION)
        self._resize_docks()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802 - Qt's name
        self._settings.set("layout/geometry", self.saveGeometry())
        self._settings.set("layout/docks", self.saveState(_LAYOUT_VERSION))
        self._settings.save()
        self.closing.emit()
        super().closeEvent(event)

    def _dock(self, name: str, title_height: str, content: QWidget) -> QDockWidget:
        dock = QDockWidget(title_height, self)
        dock.setObjectName(name)
        dock.setAccessibleName(title_height)
        dock.setWidget(content)
        dock.setFeatures(
            QDockWidget.DockWidgetFeature.DockWidgetMovable
            | QDockWidget.DockWidgetFeature.DockWidgetFloatable
            | QDockWidget.DockWidgetFeature.DockWidgetClosable
        )
        return dock

    def _place_docks(self) -> None:
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.RightDockWidgetArea)
        self.addDockWidget(Qt.DockWidgetArea.LeftDockWidgetArea, self.session_dock)
        self.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, self.telemetry_dock)
        self.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self.runs_dock)

    def _resize_docks(self) -> None:
        """Resize the docks in proportion to the size of the font."""
        letter = self.fontMetrics().horizontalAdvance("n")
        line = self.fontMetrics().height()
        max_width = self.width() // 4
        self.resizeDocks(
            [self.session_dock, self.telemetry_dock],
            [min(42 * letter, max_width), min(44 * letter, max_width)],
            Qt.Orientation.Horizontal,
        )
        self.resizeDocks(
            [self.runs_dock], [min(17 * line, self.height() * 2 // 7)], Qt.Orientation.Vertical
        )

    def _default_size(self) -> QSize:
        """The default size, limited to the screen without the title bar."""
        screen = QGuiApplication.primaryScreen().availableSize()
        title_height = 2 * self.fontMetrics().height()
        return _DEFAULT_SIZE.boundedTo(QSize(screen.width(), screen.height() - title_height))

    def _restore(self) -> None:
        geometry: QByteArray = self._settings.blob("layout/geometry")
        if not geometry.isEmpty():
            self.restoreGeometry(geometry)
        self._resize_docks()
        docks = self._settings.blob("layout/docks")
        if not docks.isEmpty():
            self.restoreState(docks, _LAYOUT_VERSION)

    def _show_in_runs_dock(self, name: RunsTab) -> None:
        self.runs_tabs.setCurrentIndex(list(RUNS_TITLES).index(name))
        self.runs_dock.show()
        self.runs_dock.raise_()
