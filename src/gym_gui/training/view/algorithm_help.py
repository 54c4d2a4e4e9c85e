"""AlgorithmHelp: the Markdown help page of an algorithm, from its descriptor."""

import re

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent, QTextCharFormat, QTextCursor, QTextFormat
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser, QWidget

_SIZE = QTextFormat.Property.FontSizeAdjustment
_ID_IN_TITLE = re.compile(r"\A(# [^\n`]*?) \(`[^`\n]*`\)")
"""The id in the title, which is removed: monospaced text in a heading is too small."""
_TABLE = re.compile(r"(?:^\|.*\|[ ]*\n)+", re.MULTILINE)
_EMPTY_CELLS = ("\N{EN DASH}", "-", "")
_MIN_TABLE_EMS = 32
"""Below this width tables are shown as lists."""
_PAGE_LINK = re.compile(r"(?P<algorithm>[\w-]+)\.md")


class AlgorithmHelp(QTextBrowser):
    """As high as its text: the dock scrolls, not the page. Rendered when it is first visible."""

    algorithm_requested = Signal(str)
    """A link to the page of another algorithm was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = ""
        self._displayed = ""
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
        if event.type() == QEvent.Type.PaletteChange and self._displayed:
            self._displayed = ""  # The link colour of the previous theme.
            if self.isVisible():
                self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        if self._displayed and self._is_narrow != self._was_narrow:
            self._displayed = ""
            self._show()
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        bar = self.horizontalScrollBar()
        bar_height = bar.sizeHint().height() if bar.maximum() > 0 else 0
        return QSize(200, round(self.document().size().height()) + bar_height + 4)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 8, self.sizeHint().height())

    def _show(self) -> None:
        if self._page != self._displayed:
            self._displayed = self._page
            self._was_narrow = self._is_narrow
            page = _ID_IN_TITLE.sub(r"\1", self._page)
            self.setMarkdown(_TABLE.sub(_as_list, page) if self._was_narrow else page)
            self._adapt_format()
            self.updateGeometry()

    @property
    def _is_narrow(self) -> bool:
        return self.width() < self.fontMetrics().height() * _MIN_TABLE_EMS

    def _adapt_format(self) -> None:
        """Limit the size of headings, and wrap all lines."""
        document = self.document()
        cursor = QTextCursor(document)
        block = document.begin()
        while block.isValid():
            block_format = block.blockFormat()
            cursor.setPosition(block.position())
            if level := block_format.headingLevel():
                block_format.setTopMargin(self.fontMetrics().height() / 2)
                cursor.setBlockFormat(block_format)
                cursor.select(QTextCursor.SelectionType.BlockUnderCursor)
                char_format = QTextCharFormat()
                char_format.setProperty(_SIZE, 1 if level == 1 else 0)
                cursor.mergeCharFormat(char_format)
            elif block_format.nonBreakableLines():
                block_format.setNonBreakableLines(False)
                cursor.setBlockFormat(block_format)
            block = block.next()

    def _on_link(self, address: QUrl) -> None:
        if match := _PAGE_LINK.fullmatch(address.toString()):
            self.algorithm_requested.emit(match["algorithm"])


def _as_list(table: re.Match[str]) -> str:
    """Convert a Markdown table to a list: first column, values, then the last column as text."""
    rows = [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in table[0].splitlines()
    ]
    header, *lines = rows
    items = []
    for first, *others in lines[1:]:
        values = [
            f"{name} {value}"
            for name, value in zip(header[1:-1], others, strict=False)
            if value not in _EMPTY_CELLS
        ]
        subject = ", ".join([f"**{first}**", *values])
        items.append(f"- {subject}: {others[-1]}" if others else f"- {subject}")
    return "\n".join(items) + "\n"
