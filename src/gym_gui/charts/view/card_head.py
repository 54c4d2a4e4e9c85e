"""CardHead: above a plot: the metric's name, what is to be said of it, and its buttons."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QToolButton, QWidget

from gym_gui.charts.model.chart_metrics import MetricKey, name_of
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.icons import IconName, keep_icon


class CardHead(QWidget):
    """Made when its card comes in sight."""

    whole_wanted = Signal()
    enlarge_wanted = Signal()
    more_wanted = Signal()

    def __init__(self, key: MetricKey, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ElidedLabel("heading")
        self._title.say(name_of(key))
        self._title.setToolTip(key.name)
        self._note = QLabel()
        self._note.setProperty("role", "caption")
        self._whole = _tool("reset", "Show the whole curve (double-click, or Home)", theme)
        self._whole.hide()
        self._large = _tool("fullscreen", "Enlarge this plot", theme)
        self.more = _tool("more", f"More for {name_of(key)}", theme)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self.fontMetrics().height() // 4)
        row.addWidget(self._title, 1)
        for each in (self._note, self._whole, self._large, self.more):
            row.addWidget(each)
        self._whole.clicked.connect(self.whole_wanted)
        self._large.clicked.connect(self.enlarge_wanted)
        self.more.clicked.connect(self.more_wanted)

    def say(self, note: str) -> None:
        if note != self._note.text():
            self._note.setText(note)

    def set_zoomed(self, is_zoomed: bool) -> None:
        self._whole.setVisible(is_zoomed)

    def set_enlarged(self, is_enlarged: bool) -> None:
        self._large.setToolTip("Back to all plots (Esc)" if is_enlarged else "Enlarge this plot")
        self._large.setAccessibleName(self._large.toolTip())


def _tool(name: IconName, tip: str, theme: ThemeModel) -> QToolButton:
    button = QToolButton()
    keep_icon(button, name, theme, "muted")
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    return button
