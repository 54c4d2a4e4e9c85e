"""TensorBoardHeader: event files of the selected run, and actions."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
from gym_gui.widgets.banner import Banner
from gym_gui.widgets.buttons import CopyButton
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.labels import ElidedLabel

_SEVERAL_TIP = "Open several runs in one TensorBoard"
_FOLDER_TIP = "Open any folder with event files in TensorBoard"
_EMBEDDED_TIP = "TensorBoard and W&B open in a tab of this window instead of the browser"


class TensorBoardHeader(QWidget):
    """Shows `TensorBoardModel.header`."""

    several_requested = Signal()
    folder_requested = Signal()

    def __init__(
        self, model: TensorBoardModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        em = self.fontMetrics().height()
        self._title = ElidedLabel("heading")
        self._stats = QLabel()
        self._stats.setProperty("role", "muted")
        self._stats.setWordWrap(True)
        self._damage = QLabel()
        self._damage.setProperty("tone", "warning")
        self._damage.setWordWrap(True)
        self._folder = ElidedLabel("caption")
        self._copy = CopyButton("Copy folder path", self._folder.text, theme)
        self._reveal = QPushButton("Show folder")
        self._reveal.setProperty("role", "quiet")
        self._start = QPushButton()
        self._start.setProperty("role", "primary")
        self._several = QPushButton("Several runs…")
        self._other = QPushButton("Folder…")
        self._embedded = QCheckBox("Open inside this window")
        self._preparing = QLabel()
        self._preparing.setProperty("role", "muted")
        self._missing_program = Banner(theme)
        folder_row = QHBoxLayout()
        folder_row.setSpacing(em // 4)
        folder_row.addWidget(self._folder, 1)
        folder_row.addWidget(self._copy)
        folder_row.addWidget(self._reveal)
        buttons = QWidget()
        flow = FlowLayout(buttons, gap=em // 2)
        for widget in (self._start, self._several, self._other, self._embedded, self._preparing):
            flow.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 3)
        layout.addWidget(self._title)
        layout.addWidget(self._stats)
        layout.addWidget(self._damage)
        layout.addLayout(folder_row)
        layout.addWidget(buttons)
        layout.addWidget(self._missing_program)
        self._start.clicked.connect(model.open)
        self._several.clicked.connect(self.several_requested)
        self._other.clicked.connect(self.folder_requested)
        self._reveal.clicked.connect(model.reveal)
        self._embedded.clicked.connect(model.embedded.set_on)
        model.embedded.changed.connect(self._show)
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        model = self._model
        text = model.header
        self._title.show_text(model.title or "TensorBoard")
        self._stats.setText(text.stats)
        self._stats.setToolTip(text.stats_tip)
        self._stats.setVisible(bool(text.stats))
        self._damage.setText(text.damage)
        self._damage.setVisible(bool(text.damage))
        self._folder.show_text(text.folder)
        for widget in (self._folder, self._copy, self._reveal):
            widget.setVisible(bool(text.folder))
        self._start.setText(text.start)
        self._start.setEnabled(not text.why_not_start)
        self._start.setToolTip(text.why_not_start or text.start_tip)
        can_open = not model.preparing and not model.why_no_program
        for button, tip in (
            (self._several, _SEVERAL_TIP),
            (self._other, _FOLDER_TIP),
        ):
            button.setEnabled(can_open)
            button.setToolTip(tip if can_open else model.preparing or model.why_no_program)
        self._embedded.setEnabled(not model.embedded.disabled_reason)
        self._embedded.setToolTip(model.embedded.disabled_reason or _EMBEDDED_TIP)
        self._embedded.setChecked(model.embedded.is_on)
        self._preparing.setText(model.preparing)
        self._preparing.setVisible(bool(model.preparing))
        self._show_missing_program()

    def _show_missing_program(self) -> None:
        why_not = self._model.why_no_program
        if why_not == self._missing_program.message:
            return
        if why_not:
            retry = ("Search again", self._model.find_program)
            self._missing_program.show_message(why_not, "warning", [retry])
        else:
            self._missing_program.clear()
