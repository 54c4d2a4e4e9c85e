"""SettingsPage: all settings on one page, with a list of topics beside it where there is room."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.settings.model.settings_model import SettingsModel
from gym_gui.settings.view.appearance_section import AppearanceSection
from gym_gui.settings.view.daemon_section import DaemonSection
from gym_gui.settings.view.home_section import HomeSection
from gym_gui.settings.view.secrets_section import SecretsSection
from gym_gui.settings.view.section_frame import SectionFrame
from gym_gui.settings.view.shortcuts_section import ShortcutsSection
from gym_gui.settings.view.storage_section import StorageSection

_WIDEST = 46
_TOPICS_FROM = 48
"""Font heights of width."""


class SettingsPage(QWidget):
    """Asks the daemon whenever it is shown. `open_wanted` is a folder for the desktop to show."""

    open_wanted = Signal(str)

    def __init__(
        self,
        model: SettingsModel,
        theme: ThemeModel,
        shortcuts: Sequence[tuple[str, str]] = (),
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        home = HomeSection(model, theme)
        home.open_wanted.connect(self.open_wanted)
        self._sections: list[SectionFrame] = [
            home,
            AppearanceSection(model, theme),
            StorageSection(model),
            DaemonSection(model, theme),
            SecretsSection(model.secrets, theme),
        ]
        if shortcuts:
            self._sections.append(ShortcutsSection(shortcuts, theme))
        self._topics = QListWidget()
        self._topics.setAccessibleName("Topics of the settings")
        for section in self._sections:
            item = QListWidgetItem(section.title, self._topics)
            # By itself it would ask the style before that knows the page.
            item.setSizeHint(QSize(0, round(self.fontMetrics().height() * 1.9)))
        self._topics.setCurrentRow(0)
        self._topics.setFixedWidth(self.fontMetrics().height() * 9)
        self._topics.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setAccessibleName("Settings")
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._content = self._laid_out()
        self._area.setWidget(self._content)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._topics)
        layout.addWidget(self._area, 1)
        self._topics.itemSelectionChanged.connect(self._go_to_topic)
        self._area.verticalScrollBar().valueChanged.connect(self._show_topic)

    def show_topic(self, title: str) -> None:
        """For commands that lead to one of them, such as “Keys”."""
        titles = [section.title for section in self._sections]
        self._topics.setCurrentRow(titles.index(title))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self._topics.setVisible(self.width() >= self.fontMetrics().height() * _TOPICS_FROM)

    def _laid_out(self) -> QWidget:
        line = self.fontMetrics().height()
        column = QWidget()
        column.setMaximumWidth(line * _WIDEST)
        rows = QVBoxLayout(column)
        rows.setContentsMargins(line * 3 // 2, line, line * 3 // 2, line * 2)
        rows.setSpacing(line * 5 // 4)
        for at, section in enumerate(self._sections):
            if at:
                rows.addWidget(_rule())
            rows.addWidget(section)
        rows.addStretch()
        content = QWidget()
        around = QHBoxLayout(content)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(column, 1)
        around.addStretch()
        return content

    def _go_to_topic(self) -> None:
        chosen = self._topics.currentRow()
        if chosen >= 0:
            self._area.verticalScrollBar().setValue(
                self._top_of(self._sections[chosen]) - self.fontMetrics().height()
            )

    def _show_topic(self) -> None:
        """The list says where one is, without scrolling once more."""
        bar = self._area.verticalScrollBar()
        place = bar.value() + 2 * self.fontMetrics().height()
        row = max(sum(self._top_of(section) <= place for section in self._sections) - 1, 0)
        if bar.value() >= bar.maximum():
            # The last topics cannot be scrolled to the top: what was chosen stays chosen.
            row = max(row, self._topics.currentRow())
        self._topics.blockSignals(True)
        self._topics.setCurrentRow(row)
        self._topics.blockSignals(False)

    def _top_of(self, section: SectionFrame) -> int:
        return section.mapTo(self._content, QPoint()).y()


def _rule() -> QFrame:
    rule = QFrame()
    rule.setFrameShape(QFrame.Shape.HLine)
    rule.setFrameShadow(QFrame.Shadow.Plain)
    rule.setForegroundRole(QPalette.ColorRole.Mid)
    return rule
