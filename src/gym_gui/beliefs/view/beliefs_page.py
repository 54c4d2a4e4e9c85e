"""BeliefsPage: beliefs, goals and intentions of an agent, and their timeline."""

from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.beliefs.model.beliefs_model import BeliefsModel, When
from gym_gui.beliefs.view.bdi_cards import BdiCards
from gym_gui.beliefs.view.bdi_header import BdiHeader
from gym_gui.beliefs.view.timeline_view import TimelineView
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.empty_state import EmptyState


class BeliefsPage(QWidget):
    """Shows `BeliefsModel`, which reads a run only while the page is visible."""

    step_requested = Signal(str, int, int)
    """Run id, episode and step to replay."""

    def __init__(
        self, model: BeliefsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.header = BdiHeader(model, theme)
        self.cards = BdiCards(theme)
        self.timeline = TimelineView(model.timeline, theme)
        self.empty = EmptyState("robot", "", "", theme)
        self.banner = Banner(theme)
        """Warnings about data that could not be read."""
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.cards)
        self._splitter.addWidget(self.timeline)
        self._splitter.setSizes([1_100, 900])  # relative sizes
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        self._banner_layout = QVBoxLayout()
        self._banner_layout.addWidget(self.banner)
        self._update_banner_margins()
        column.addLayout(self._banner_layout)
        column.addWidget(self._splitter, 1)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.empty)
        self._stack.addWidget(full)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        self._subscribe()
        self._update()

    def _subscribe(self) -> None:
        model = self._model
        model.changed.connect(self._update)
        self.header.agent_selected.connect(model.select_agent)
        self.header.when_selected.connect(lambda when: model.select_when(cast("When", when)))
        self.timeline.searched.connect(model.search)
        self.timeline.row_activated.connect(self._replay_row)
        self.empty.action_triggered.connect(model.retry)

    @property
    def shows_state(self) -> bool:
        return self._stack.currentIndex() == 1

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_visible(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_visible(False)

    def _update_banner_margins(self) -> None:
        """Set the same margins as the cards; none while the banner is empty."""
        line = self.fontMetrics().height()
        below = line // 2 if self.banner.message else 0
        self._banner_layout.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, below)

    def _replay_row(self, row: int) -> None:
        position = self._model.replayable(row)
        if position is not None:
            self.step_requested.emit(self._model.run_id, position.episode, position.step)

    def _update(self) -> None:
        is_ready = self._model.phase == "ready"
        if is_ready:
            self.header.update_header()
            self.cards.show_state(self._model.bdi_state)
            self.timeline.update_timeline(self._model.dropped)
            self._update_banner()
        else:
            self.empty.show_message(*self._empty_text())
        self._stack.setCurrentIndex(1 if is_ready else 0)

    def _update_banner(self) -> None:
        warning = self._model.warning
        if warning == self.banner.message:
            return
        if warning:
            self.banner.show_message(warning, "warning", [("Try again", self._model.retry)])
        else:
            self.banner.clear()
        self._update_banner_margins()

    def _empty_text(self) -> tuple[str, str, str]:
        model = self._model
        match model.phase:
            case "none":
                return ("No run selected", "Select a run in the list below.", "")
            case "waiting" if model.is_live:
                text = "Beliefs, goals and intentions appear here when the agent reports them."
                return ("No BDI data yet", text, "")
            case "waiting":
                return ("Loading", "", "")
            case "failed":
                text = f"{model.problem.message} {model.problem.remedy}" if model.problem else ""
                return ("The beliefs cannot be read", text, "Try again")
        text = "The worker reported no beliefs, goals or intentions."
        return ("No BDI data in this run", text, "")
