"""ComparePage: curves, scores and replays of the same runs. Shows `CompareModel`."""

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.compare.model.compare_model import CompareModel
from gym_gui.compare.view.compare_run_picker import CompareRunPicker
from gym_gui.compare.view.replay_pair import ReplayPair
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.labels import ElidedLabel

CompareTab = Literal["curves", "scores", "replays"]
_ONE_RUN = "Choose a second run to compare with."


class ComparePage(QWidget):
    """Shows the run picker with fewer than two runs."""

    def __init__(
        self,
        model: CompareModel,
        curves: QWidget,
        scores: QWidget,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        """`curves` and `scores` are views of the charts of the model."""
        super().__init__(parent)
        self._model = model
        self._is_choosing = False
        line = self.fontMetrics().height()
        self.tab = SegmentedControl(
            (("curves", "Curves"), ("scores", "Scores"), ("replays", "Replays")), theme
        )
        self.tab.setAccessibleName("Comparison")
        self._runs = ElidedLabel("muted")
        self.choose = QPushButton("Choose runs")
        self.choose.setToolTip("Choose the runs to compare")
        self.picker = CompareRunPicker(model.choice, theme)
        self.replays = ReplayPair(model, theme)
        self._stack = QStackedWidget()
        for page in (self.picker, curves, self._scrolling(scores), self.replays):
            self._stack.addWidget(page)
        self._header = QWidget()
        header = QHBoxLayout(self._header)
        header.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 4)
        header.setSpacing(line * 2 // 3)
        header.addWidget(self.tab)
        header.addWidget(self._runs, 1)
        header.addWidget(self.choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._header)
        layout.addWidget(self._stack, 1)
        self._subscribe()
        self._update()

    def show_tab(self, tab: CompareTab) -> None:
        self.tab.set_current(tab)
        self._is_choosing = False
        self._update()
        if tab == "replays":
            self.replays.setFocus()  # keys move the playhead

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._update()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.charts.set_visible(False)

    def _subscribe(self) -> None:
        self._model.changed.connect(self._update)
        self.tab.activated.connect(self.show_tab)
        self.choose.clicked.connect(self._start_choosing)
        self.picker.compared.connect(self._apply_choice)
        self.picker.cancelled.connect(self._cancel_choosing)

    def _start_choosing(self) -> None:
        self._model.choice.choose(self._model.run_ids)
        self._is_choosing = True
        self._update()

    def _cancel_choosing(self) -> None:
        self._is_choosing = False
        self._model.choice.choose(self._model.run_ids)
        self._update()

    def _apply_choice(self) -> None:
        self._is_choosing = False
        self._model.show(tuple(self._model.choice.chosen))
        self._update()

    def _update(self) -> None:
        model = self._model
        is_choosing = self._is_choosing or model.phase != "many"
        self._header.setVisible(not is_choosing)
        count = len(model.run_ids)
        self._runs.show_text(f"{count} runs")
        self._runs.setToolTip("\n".join(model.titles.values()))
        if is_choosing:
            hint = _ONE_RUN if model.phase == "one" else ""
            self.picker.show_state(hint, can_cancel=model.phase == "many")
            self._stack.setCurrentWidget(self.picker)
        else:
            no_replays = model.no_replays
            self.tab.set_option_enabled("replays", not no_replays, no_replays)
            if no_replays and self.tab.current == "replays":
                self.tab.set_current("curves")
            index = {"curves": 1, "scores": 2, "replays": 3}[self.tab.current]
            self._stack.setCurrentIndex(index)
        # Scores are fetched like curves.
        is_needed = not is_choosing and self.tab.current in ("curves", "scores")
        model.charts.set_visible(self.isVisible() and is_needed)

    def _scrolling(self, content: QWidget) -> QWidget:
        line = self.fontMetrics().height()
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line)
        heading = QLabel("Final scores")
        heading.setProperty("role", "heading")
        column.addWidget(heading)
        column.addWidget(content)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidget(holder)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return area
