"""ComparePage: the Compare tab: curves, scores and replays of the same runs."""

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
from gym_gui.compare.view.replay_pair import ReplayPair
from gym_gui.compare.view.run_picker import RunPicker
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.segmented import SegmentedControl

Part = Literal["curves", "scores", "replays"]
_ONE_RUN = "Choose a second run to compare with."


class ComparePage(QWidget):
    """With fewer than two runs it asks for some."""

    def __init__(
        self,
        model: CompareModel,
        curves: QWidget,
        scores: QWidget,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        """`curves` and `scores` show the charts of the model."""
        super().__init__(parent)
        self._model = model
        self._is_choosing = False
        line = self.fontMetrics().height()
        self.part = SegmentedControl(
            (("curves", "Curves"), ("scores", "Scores"), ("replays", "Replays")), theme
        )
        self.part.setAccessibleName("What is compared")
        self._runs = ElidedLabel("muted")
        self.choose = QPushButton("Choose runs")
        self.choose.setToolTip("Which runs are compared")
        self.picker = RunPicker(model.choice, theme)
        self.replays = ReplayPair(model, theme)
        self._stack = QStackedWidget()
        for each in (self.picker, curves, self._scrolling(scores), self.replays):
            self._stack.addWidget(each)
        self._head = QWidget()
        head = QHBoxLayout(self._head)
        head.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 4)
        head.setSpacing(line * 2 // 3)
        head.addWidget(self.part)
        head.addWidget(self._runs, 1)
        head.addWidget(self.choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._head)
        layout.addWidget(self._stack, 1)
        self._subscribe()
        self._update()

    def show_part(self, part: Part) -> None:
        self.part.choose(part)
        self._is_choosing = False
        self._update()
        if part == "replays":
            self.replays.setFocus()  # keys move the playhead

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._update()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.charts.set_in_sight(False)

    def _subscribe(self) -> None:
        self._model.changed.connect(self._update)
        self.part.chosen.connect(self.show_part)
        self.choose.clicked.connect(self._begin_choosing)
        self.picker.compared.connect(self._take_choice)
        self.picker.cancelled.connect(self._end_choosing)

    def _begin_choosing(self) -> None:
        self._model.choice.choose(self._model.run_ids)
        self._is_choosing = True
        self._update()

    def _end_choosing(self) -> None:
        self._is_choosing = False
        self._model.choice.choose(self._model.run_ids)
        self._update()

    def _take_choice(self) -> None:
        self._is_choosing = False
        self._model.show(tuple(self._model.choice.chosen))
        self._update()

    def _update(self) -> None:
        model = self._model
        is_choosing = self._is_choosing or model.phase != "many"
        self._head.setVisible(not is_choosing)
        count = len(model.run_ids)
        self._runs.say(f"{count} runs")
        self._runs.setToolTip("\n".join(model.titles.values()))
        if is_choosing:
            hint = _ONE_RUN if model.phase == "one" else ""
            self.picker.show_state(hint, can_cancel=model.phase == "many")
            self._stack.setCurrentWidget(self.picker)
        else:
            no_replays = model.no_replays
            self.part.set_enabled_option("replays", not no_replays, no_replays)
            if no_replays and self.part.current == "replays":
                self.part.choose("curves")
            place = {"curves": 1, "scores": 2, "replays": 3}[self.part.current]
            self._stack.setCurrentIndex(place)
        # Scores are asked for like curves are.
        is_read = not is_choosing and self.part.current in ("curves", "scores")
        model.charts.set_in_sight(self.isVisible() and is_read)

    def _scrolling(self, content: QWidget) -> QWidget:
        line = self.fontMetrics().height()
        holder = QWidget()
        down = QVBoxLayout(holder)
        down.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line)
        heading = QLabel("Final scores")
        heading.setProperty("role", "heading")
        down.addWidget(heading)
        down.addWidget(content)
        down.addStretch(1)
        area = QScrollArea()
        area.setWidget(holder)
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        return area
