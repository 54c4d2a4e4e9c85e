"""TensorBoardServerList: all TensorBoards of this window, that of the shown run first."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.tensorboard_looks import ServerLook
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
from gym_gui.tensorboard.view.tensorboard_server_card import TensorBoardServerCard


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
