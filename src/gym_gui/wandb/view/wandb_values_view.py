"""WandbValuesView: the summary or the configuration of a W&B run, to be searched and copied."""

from PySide6.QtCore import QSortFilterProxyModel, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QHeaderView, QTableView, QWidget

from gym_gui.wandb.model.wandb_values import NAME, VALUE, WandbValues

_VALUE_SHARE = 0.45


class WandbValuesView(QTableView):
    """Ctrl+C copies the chosen rows, or all of them where none is chosen."""

    def __init__(self, values: WandbValues, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._values = values
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(values)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._found.setFilterKeyColumn(NAME)
        self.setModel(self._found)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows, head = self.verticalHeader(), self.horizontalHeader()
        rows.hide()
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(round(self.fontMetrics().height() * 1.75))
        head.setHighlightSections(False)
        head.setSectionResizeMode(NAME, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(VALUE, QHeaderView.ResizeMode.Fixed)

    def search(self, text: str) -> None:
        self._found.setFilterFixedString(text)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.matches(QKeySequence.StandardKey.Copy):
            chosen = self.selectionModel().selectedRows()
            texts = (f"{row.data()}\t{row.siblingAtColumn(VALUE).data()}" for row in chosen)
            QGuiApplication.clipboard().setText("\n".join(texts) or self._values.as_text())
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        width = round(self.viewport().width() * _VALUE_SHARE)
        self.horizontalHeader().resizeSection(VALUE, width)
