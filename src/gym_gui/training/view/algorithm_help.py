"""AlgorithmHelp: the page that an algorithm brings along, to be read beside its form."""

import re

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

_SIZE = QTextFormat.Property.FontSizeAdjustment
_ID_IN_TITLE = re.compile(r"\A(# [^\n`]*?) \(`[^`\n]*`\)")
"""Large letters beside small ones of one width look like a mistake."""
_TABLE = re.compile(r"(?:^\|.*\|[ ]*\n)+", re.MULTILINE)
_NOTHING = ("\N{EN DASH}", "-", "")
_WIDE_EMS = 32
"""Below this a table of several columns is a column of syllables."""
_OTHER_PAGE = re.compile(r"(?P<algorithm>[\w-]+)\.md")


class AlgorithmHelp(QTextBrowser):
    """As high as its text: the dock scrolls, not the page in it. Made when it is first seen."""

    algorithm_asked = Signal(str)
    """A link to the page of another algorithm was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = ""
        self._shown = ""
        self._was_narrow = False
        self.setAccessibleName("About this algorithm")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(self.fontMetrics().height() / 2)
        self.document().setIndentWidth(self.fontMetrics().height())
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
        if self._shown and self._is_narrow != self._was_narrow:
            self._shown = ""
            self._show()
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
            self._was_narrow = self._is_narrow
            page = _ID_IN_TITLE.sub(r"\1", self._page)
            self.setMarkdown(_TABLE.sub(_as_list, page) if self._was_narrow else page)
            self._fit_to_dock()
            self.updateGeometry()

    @property
    def _is_narrow(self) -> bool:
        return self.width() < self.fontMetrics().height() * _WIDE_EMS

    def _fit_to_dock(self) -> None:
        """Headings no larger than those around the page, and no line that is cut off."""
        document = self.document()
        cursor = QTextCursor(document)
        block = document.begin()
        while block.isValid():
            shape = block.blockFormat()
            cursor.setPosition(block.position())
            if level := shape.headingLevel():
                shape.setTopMargin(self.fontMetrics().height() / 2)
                cursor.setBlockFormat(shape)
                cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
                letters = QTextCharFormat()
                letters.setProperty(_SIZE, 1 if level == 1 else 0)
                cursor.mergeCharFormat(letters)
            elif shape.nonBreakableLines():
                shape.setNonBreakableLines(False)
                cursor.setBlockFormat(shape)
            block = block.next()

    def _on_link(self, address: QUrl) -> None:
        if found := _OTHER_PAGE.fullmatch(address.toString()):
            self.algorithm_asked.emit(found["algorithm"])


def _as_list(table: re.Match[str]) -> str:
    """A table of Markdown as one point per row: what it is about, its values, then the words."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in table[0].splitlines()
    ]
    head, *rest = rows
    points = []
    for first, *others in rest[1:]:
        values = [
            f"{name} {value}"
            for name, value in zip(head[1:-1], others, strict=False)
            if value not in _NOTHING
        ]
        about = ", ".join([f"**{first}**", *values])
        points.append(f"- {about}: {others[-1]}" if others else f"- {about}")
    return "\n".join(points) + "\n"
