"""WandbAccess: whether there is a key, and whether the server can be reached from here."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.wandb.model.wandb_model import KEY, WandbModel
from gym_gui.widgets.banner import ToneMark
from gym_gui.widgets.elided_label import ElidedLabel

_KEY_WORDS: dict[bool | None, tuple[str, Tone]] = {
    True: (f"{KEY} is set", "good"),
    False: (f"{KEY} is not set: runs are tracked offline", "warning"),
    None: ("The daemon has not said whether a key is set", "plain"),
}


class WandbAccess(QWidget):
    """Stands below all else, also where there is nothing yet."""

    key_requested = Signal(str)

    def __init__(self, model: WandbModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._key_mark = ToneMark(theme)
        self._key = ElidedLabel("value")
        self.set_key = QPushButton("Set API key…")
        self.set_key.setToolTip(f"{KEY}, kept by the daemon; from wandb.ai/authorize")
        self._server = ElidedLabel("muted")
        self.test = QPushButton("Test connection")
        self._outcome_mark = ToneMark(theme)
        self._outcome = QLabel()
        self._outcome.setWordWrap(True)
        self._outcome.setProperty("role", "value")
        keys, ways, told = QHBoxLayout(), QHBoxLayout(), QHBoxLayout()
        for row in (keys, ways, told):
            row.setSpacing(line // 2)
        keys.addWidget(self._key_mark)
        keys.addWidget(self._key, 1)
        keys.addWidget(self.set_key)
        ways.addWidget(self._server, 1)
        ways.addWidget(self.test)
        told.addWidget(self._outcome_mark)
        told.addWidget(self._outcome, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line * 3 // 4, line // 2, line * 3 // 4, line // 2)
        layout.setSpacing(line // 3)
        for row in (keys, ways, told):
            layout.addLayout(row)
        self.set_key.clicked.connect(lambda: self.key_requested.emit(KEY))
        self.test.clicked.connect(model.test_connection)

    def update_access(self) -> None:
        model = self._model
        words, tone = _KEY_WORDS[model.key_is_set]
        self._key.say(words)
        self._key_mark.show_tone(tone)
        self.set_key.setText("Change API key…" if model.key_is_set else "Set API key…")
        proxy = f" through the proxy {model.proxy}" if model.proxy else ", no proxy"
        self._server.say(f"{model.server}{proxy}")
        self.test.setEnabled(not model.is_testing)
        self.test.setText("Testing…" if model.is_testing else "Test connection")
        self.test.setToolTip(
            "The server is being asked"
            if model.is_testing
            else "Ask the server for a page, through the proxy where one is set"
        )
        report = model.report
        for widget in (self._outcome, self._outcome_mark):
            widget.setVisible(report is not None)
        if report is not None:
            self._outcome_mark.show_tone("good" if report.is_reached else "bad")
            self._outcome.setText(f"{report.summary}. {report.detail}".strip())
            self._outcome.setToolTip("\n".join(report.steps))
