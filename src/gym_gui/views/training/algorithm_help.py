"""AlgorithmHelp: the page that an algorithm brings along, to be read beside its form."""

import re

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

_ID_IN_TITLE = re.compile(r"\A(# [^\n`]*?) \(`[^`\n]*`\)")
"""Large letters beside small ones of one width look like a mistake."""
_OTHER_PAGE = re.compile(r"(?P<algorithm>[\w-]+)\.md")


class AlgorithmHelp(QTextBrowser):
    """As high as its text: the dock scrolls, not the page in it. Made when it is first seen."""

    algorithm_asked = Signal(str)
    """A link to the page of another algorithm was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = ""
        self._shown = ""
        self.setAccessibleName("About this algorithm")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(self.fontMetrics().height() / 2)
        self.anchorClicked.connect(self._on_link)

    def show_page(self, markdown: str) -> None:
        self._page = markdown
        if self.isVisible():
            self._show()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._show()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802 - Qt's name
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._shown:
            self._shown = ""  # its links have the colour of the earlier theme
            if self.isVisible():
                self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        bar = self.horizontalScrollBar()
        room = bar.sizeHint().height() if bar.maximum() > 0 else 0
        return QSize(200, round(self.document().size().height()) + room + 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 8, self.sizeHint().height())

    def _show(self) -> None:
        if self._page != self._shown:
            self._shown = self._page
            self.setMarkdown(_ID_IN_TITLE.sub(r"\1", self._page))
            self.updateGeometry()

    def _on_link(self, address: QUrl) -> None:
        if found := _OTHER_PAGE.fullmatch(address.toString()):
            self.algorithm_asked.emit(found["algorithm"])
