"""RunHead: above every part of the page: which run, how it stands, how far it is, what to do."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QProgressBar,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model import run_summary
from gym_gui.run_page.model.run_page_model import RunAction, RunPageModel
from gym_gui.runtime.models import run_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.elided_label import ElidedLabel
from gym_gui.widgets.fonts import scaled
from gym_gui.widgets.icons import IconName, keep_icon

_ACTIONS: tuple[tuple[RunAction, str, IconName, str], ...] = (
    ("pause", "Pause", "pause", "Let it stand still"),
    ("resume", "Resume", "play", "Let it go on"),
    ("stop", "Stop", "stop", "End it; what it has done so far is kept"),
    ("replay", "Replay", "replay", "See its episodes again"),
    ("duplicate", "Duplicate", "copy", "Begin a new run with the same settings"),
    ("compare", "Compare", "chart", "See its curves beside those of other runs"),
)
_WORDS_FROM = 40
"""Ems of width, from which buttons have words beside their pictures: those used most first."""
_ALL_WORDS_FROM = 56
_FIRST: tuple[RunAction, ...] = ("pause", "resume", "stop", "replay")
_STEPS = 1000
_NOT_KNOWN = run_text.StateLook("?", "not known now", "plain")
"""While the daemon does not answer: what is shown is what it said last."""


class RunHead(QWidget):
    """`acted` for what leads elsewhere; pausing and stopping are the model's."""

    acted = Signal(str)

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.title = _Title()
        self._where = ElidedLabel("muted")
        self._state = Badge("", "plain", theme)
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setRange(0, _STEPS)
        self._bar.setAccessibleName("Progress")
        self._words = ElidedLabel("muted")
        self.buttons = {each[0]: self._make_button(theme, *each) for each in _ACTIONS}
        above = QHBoxLayout()
        above.setSpacing(line // 2)
        above.addWidget(self.title, 3)
        above.addWidget(self._where, 2)
        above.addWidget(self._state)
        below = QHBoxLayout()
        below.setSpacing(line // 4)
        below.addWidget(self._words, 1)
        for button in self.buttons.values():
            below.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line, line // 2, line, line // 4)
        layout.setSpacing(line // 3)
        layout.addLayout(above)
        layout.addWidget(self._bar)
        layout.addLayout(below)
        self.title.renamed.connect(model.rename)
        model.changed.connect(self._update)
        self._update()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        ems = self.width() / self.fontMetrics().height()
        for action, button in self.buttons.items():
            has_words = ems >= (_WORDS_FROM if action in _FIRST else _ALL_WORDS_FROM)
            button.setToolButtonStyle(
                Qt.ToolButtonStyle.ToolButtonTextBesideIcon
                if has_words
                else Qt.ToolButtonStyle.ToolButtonIconOnly
            )
        self._where.setVisible(ems >= _WORDS_FROM)

    def _make_button(
        self, theme: ThemeModel, action: RunAction, text: str, picture: IconName, _tip: str
    ) -> QToolButton:
        button = QToolButton()
        keep_icon(button, picture, theme, "muted")
        button.setText(text)
        button.setAccessibleName(text)
        button.clicked.connect(lambda: self._act(action))
        return button

    def _act(self, action: RunAction) -> None:
        run = self._model.run
        if run is None:
            return
        actions = self._model.actions
        if action == "pause":
            actions.pause((run.run_id,))
        elif action == "resume":
            actions.resume((run.run_id,))
        elif action == "stop":
            actions.stop((run.run_id,))
        else:
            self.acted.emit(action)

    def _update(self) -> None:
        run = self._model.run
        if run is None:
            return
        look = run_text.STATE_LOOKS[run.state] if self._model.is_known_now else _NOT_KNOWN
        self.title.show_name(run.run_id, run_text.title_of(run), run.name)
        where = f"{run_text.worker_word(run.worker)} · {run_text.short_id(run.run_id)}"
        self._where.say(where)
        self._where.setToolTip(run.run_id)
        if self._state.text() != f"{look.symbol} {look.word}":
            self._state.show_text(f"{look.symbol} {look.word}", look.tone)
        share = run_text.progress_of(run)
        self._bar.setValue(round(_STEPS * (share or 0.0)))
        self._bar.setToolTip("" if share is None else f"{share:.0%} done")
        none = "It took no step" if run.state.is_final else "No step yet"
        self._words.say(run_summary.progress_words(run) or none)
        for action, _, _, tip in _ACTIONS:
            self._show_button(action, tip)

    def _show_button(self, action: RunAction, tip: str) -> None:
        button, why_not = self.buttons[action], self._model.why_not(action)
        button.setEnabled(not why_not)
        button.setToolTip(why_not or f"{button.text()}: {tip[0].lower()}{tip[1:]}")
        if action in ("pause", "resume"):
            is_paused = not self._model.why_not("resume")
            button.setVisible(is_paused == (action == "resume"))


class _Title(QLineEdit):
    """The name, as a heading that can be written over. Enter keeps it, Escape does not."""

    renamed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._run_id = self._shown = ""
        font = scaled(self.font(), 1.12)
        font.setWeight(font.Weight.DemiBold)
        self.setFont(font)
        # A frame only where it is about to be changed; colours and focus are the theme's.
        self.setStyleSheet(
            "QLineEdit { font-weight: 600; padding-left: 0; }"
            "QLineEdit:!hover:!focus { background: transparent; border-color: transparent; }"
        )
        self.setAccessibleName("Name of the run")
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.editingFinished.connect(self._on_finished)

    def show_name(self, run_id: str, title: str, name: str) -> None:
        """A name that is being changed is left alone."""
        is_other = run_id != self._run_id
        if is_other or not self.hasFocus():
            if self.text() != title:
                self.setText(title)
                self.setCursorPosition(0)
            self._shown = title
        self._run_id = run_id
        self.setToolTip("Click to rename" if name else "Click to give it a name")

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 4, super().minimumSizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() == Qt.Key.Key_Escape:
            self.setText(self._shown)
            self.clearFocus()
        else:
            super().keyPressEvent(event)
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.clearFocus()

    def _on_finished(self) -> None:
        if self.text() != self._shown:
            self._shown = self.text()
            self.renamed.emit(self.text())
        self.setCursorPosition(0)
