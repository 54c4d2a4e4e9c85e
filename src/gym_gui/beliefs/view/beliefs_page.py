"""BeliefsPage: what an agent believes, wants and is at, and how that came about."""

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
    """A run is read only once the page is in sight."""

    step_wanted = Signal(str, int, int)
    """Run, episode, step: to be replayed."""

    def __init__(
        self, model: BeliefsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.head = BdiHeader(model, theme)
        self.cards = BdiCards(theme)
        self.timeline = TimelineView(model.timeline, theme)
        self.empty = EmptyState("robot", "", "", theme)
        self.banner = Banner(theme)
        """What is missing of what is shown."""
        self._splitter = QSplitter(Qt.Orientation.Vertical)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.cards)
        self._splitter.addWidget(self.timeline)
        self._splitter.setSizes([1_100, 900])  # shares, of whatever there is
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.head)
        self._banner_room = QVBoxLayout()
        self._banner_room.addWidget(self.banner)
        self._give_banner_room()
        column.addLayout(self._banner_room)
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
        self.head.agent_chosen.connect(model.choose_agent)
        self.head.when_chosen.connect(lambda when: model.choose_when(cast("When", when)))
        self.timeline.searched.connect(model.search)
        self.timeline.row_chosen.connect(self._replay_row)
        self.empty.acted.connect(model.retry)

    @property
    def shows_mind(self) -> bool:
        return self._stack.currentIndex() == 1

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_in_sight(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_in_sight(False)

    def _give_banner_room(self) -> None:
        """As far from the edges as the cards are; none at all while it says nothing."""
        line = self.fontMetrics().height()
        below = line // 2 if self.banner.message else 0
        self._banner_room.setContentsMargins(line * 3 // 4, 0, line * 3 // 4, below)

    def _replay_row(self, row: int) -> None:
        place = self._model.replayable(row)
        if place is not None:
            self.step_wanted.emit(self._model.run_id, place.episode, place.step)

    def _update(self) -> None:
        is_ready = self._model.phase == "ready"
        if is_ready:
            self.head.update_head()
            self.cards.show_mind(self._model.mind)
            self.timeline.update_timeline(self._model.dropped)
            self._show_trouble()
        else:
            self.empty.say(*self._words())
        self._stack.setCurrentIndex(1 if is_ready else 0)

    def _show_trouble(self) -> None:
        trouble = self._model.trouble
        if trouble == self.banner.message:
            return
        if trouble:
            self.banner.say(trouble, "warning", [("Try again", self._model.retry)])
        else:
            self.banner.clear()
        self._give_banner_room()

    def _words(self) -> tuple[str, str, str]:
        model = self._model
        match model.phase:
            case "none":
                return ("No run is shown", "Select a run in the list below.", "")
            case "waiting" if model.is_live:
                text = "Beliefs, goals and intentions appear here as soon as the agent has some."
                return ("Nothing told yet", text, "")
            case "waiting":
                return ("Reading", "", "")
            case "failed":
                said = f"{model.problem.message} {model.problem.remedy}" if model.problem else ""
                return ("The beliefs cannot be read", said, "Try again")
        text = "Its worker has told no beliefs, goals or intentions in this run."
        return ("Nothing to show of this run", text, "")
