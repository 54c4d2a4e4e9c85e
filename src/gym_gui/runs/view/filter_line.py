"""FilterLine: the line above the list of runs; it offers fields and values while one writes."""

from collections.abc import Callable

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QWidget

from gym_gui.runs.model.run_search import HELP
from gym_gui.widgets.style_popup import style_popup

_MOST_OFFERED = 200


class FilterLine(QLineEdit):
    """`completions` gives what the word that is being written may become."""

    left_downwards = Signal()
    """The Down key: on to the list."""

    def __init__(
        self, completions: Callable[[str], list[str]], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._completions = completions
        self.setPlaceholderText("Filter runs")
        self.setToolTip(HELP)
        self.setAccessibleName("Filter runs")
        self.setClearButtonEnabled(True)
        self._offered = QStringListModel(self)
        self._completer = QCompleter(self._offered, self)
        self._completer.setWidget(self)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self._popup = QListView()
        self._completer.setPopup(self._popup)
        self._completer.activated.connect(self._take)
        style_popup(self._completer, self)
        self.textEdited.connect(self._offer)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        is_offering = self._popup.isVisible()
        if event.key() == Qt.Key.Key_Escape and not is_offering and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Down and not is_offering:
            self.left_downwards.emit()
        else:
            super().keyPressEvent(event)

    def _offer(self) -> None:
        word = self._word()
        offered = self._completions(word)[:_MOST_OFFERED] if word else []
        if not offered or offered == [word]:
            self._popup.hide()
            return
        self._offered.setStringList(offered)
        self._completer.complete()

    def _take(self, completion: str) -> None:
        """A field waits for its value; after a value comes the next word."""
        text, cursor = self.text(), self.cursorPosition()
        start = cursor - len(self._word())
        end = "" if completion.endswith(":") else " "
        rest = text[cursor:].lstrip() if end else text[cursor:]
        self.setText(text[:start] + completion + end + rest)
        self.setCursorPosition(start + len(completion) + len(end))
        if end:
            self._popup.hide()
        else:
            self._offer()

    def _word(self) -> str:
        """What stands left of the cursor, back to the last space that is not between quotes."""
        before = self.text()[: self.cursorPosition()]
        start, is_quoted = 0, False
        for place, letter in enumerate(before):
            is_quoted ^= letter == '"'
            if letter == " " and not is_quoted:
                start = place + 1
        return before[start:]
