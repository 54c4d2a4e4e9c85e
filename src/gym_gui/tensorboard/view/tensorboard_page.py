"""TensorBoardPage: the event files of the shown run, and the TensorBoards that show them."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFileDialog, QFrame, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.tensorboard_looks import ServerLook
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
from gym_gui.tensorboard.model.tensorboard_text import EmptyWords, export_words, no_files_words
from gym_gui.tensorboard.view.tensorboard_head import TensorBoardHead
from gym_gui.tensorboard.view.tensorboard_run_picker import TensorBoardRunPicker
from gym_gui.tensorboard.view.tensorboard_server_card import TensorBoardServerCard
from gym_gui.tensorboard.view.tensorboard_tags import TensorBoardTags
from gym_gui.widgets.empty_state import EmptyState


class TensorBoardServerList(QWidget):
    """Cards stay while their server does, so a pressed button is never torn away."""

    open_wanted = Signal(str)

    def __init__(
        self, model: TensorBoardModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self._cards: dict[object, TensorBoardServerCard] = {}
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(self.fontMetrics().height() // 2)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        looks = self._model.servers
        there = {look.server for look in looks}
        for gone in [server for server in self._cards if server not in there]:
            card = self._cards.pop(gone)
            self._layout.removeWidget(card)
            card.hide()
            card.deleteLater()
        for place, look in enumerate(looks):
            card = self._cards.get(look.server) or self._make_card(look)
            card.show_look(look)
            if self._layout.indexOf(card) != place:
                self._layout.removeWidget(card)
                self._layout.insertWidget(place, card)
        self.setVisible(bool(looks))

    def _make_card(self, look: ServerLook) -> TensorBoardServerCard:
        card = TensorBoardServerCard(look, self._theme)
        card.open_wanted.connect(self.open_wanted)
        card.stop_wanted.connect(self._model.stop)
        card.retry_wanted.connect(self._model.retry)
        self._cards[look.server] = card
        return card


_NO_RUN = EmptyWords(
    "No run is selected",
    "Choose a run in the list below, or open any folder that has event files.",
    "Open a folder…",
)
_LOOKING = EmptyWords("Looking for event files…", "")


class TensorBoardPage(QWidget):
    """A tab of the centre."""

    charts_wanted = Signal(str)
    """The curves of that run are to be drawn in the charts."""

    def __init__(
        self, model: TensorBoardModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        em = self.fontMetrics().height()
        self._head = TensorBoardHead(model, theme)
        self._servers = TensorBoardServerList(model, theme)
        self._empty = EmptyState("chart", *_NO_RUN[:2], theme)
        self._tags = TensorBoardTags(model.events.tags, theme)
        self._tags.setMinimumHeight(em * 9)
        self._below = QStackedWidget()
        self._below.addWidget(self._empty)
        self._below.addWidget(self._tags)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(em, em * 2 // 3, em, em * 2 // 3)
        layout.setSpacing(em * 2 // 3)
        layout.addWidget(self._head)
        layout.addWidget(self._servers)
        layout.addWidget(self._below, 1)
        scroll = QScrollArea()
        scroll.setWidget(content)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName("TensorBoard")
        self._overview = scroll
        self._picker = TensorBoardRunPicker(model)
        self._pages = QStackedWidget()
        self._pages.addWidget(self._overview)
        self._pages.addWidget(self._picker)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._pages)
        self._empty.acted.connect(self._act)
        self._head.several_wanted.connect(self.choose_runs)
        self._head.folder_wanted.connect(self.choose_folder)
        self._servers.open_wanted.connect(model.show_address)
        self._tags.charts_wanted.connect(lambda: self.charts_wanted.emit(model.shown.run_id))
        self._picker.left.connect(lambda: self._pages.setCurrentWidget(self._overview))
        model.changed.connect(self._show)
        self._show()

    def choose_runs(self) -> None:
        """Which runs one TensorBoard is to show."""
        self._picker.begin()
        self._pages.setCurrentWidget(self._picker)

    def choose_folder(self) -> None:
        dialog = QFileDialog(self, "Folder of event files")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(lambda folder: self._model.open_folder(Path(folder)))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_watched(True)
        super().showEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        self._model.set_watched(False)
        super().hideEvent(event)

    def _show(self) -> None:
        found = self._model.events.found
        if found is None:
            self._empty.say(*self._empty_words())
        self._below.setCurrentWidget(self._empty if found is None else self._tags)

    def _empty_words(self) -> EmptyWords:
        model = self._model
        if model.shown.run is None:
            return _NO_RUN
        if model.export.run_id == model.shown.run_id:
            return export_words(model.export.points)
        if model.events.is_looking:
            return _LOOKING
        return no_files_words(model.why_no_events, model.why_not_export)

    def _act(self) -> None:
        model = self._model
        if model.shown.run is None:
            self.choose_folder()
        elif model.export.run_id:
            model.export.cancel()
        else:
            model.export_event_files(model.shown.run_id)
