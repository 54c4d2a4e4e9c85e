"""TensorBoardTags: a table of the curves in the event files."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.tensorboard.model.event_tags_table import EventTagsTable, TagColumn
from gym_gui.widgets.tables.cell_delegate import CellDelegate
from gym_gui.widgets.tables.data_table import DataTable

_WIDTHS = (-16, 7, 9, 13)
_NUMBER_COLUMNS = (TagColumn.POINTS, TagColumn.STEP, TagColumn.VALUE)
_OPTIONAL_COLUMNS = (TagColumn.POINTS, TagColumn.STEP)


class TensorBoardTags(QWidget):
    """Shows `EventTagsTable`. A double click or Enter opens the charts."""

    charts_requested = Signal()

    def __init__(
        self, table: EventTagsTable, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        em = self.fontMetrics().height()
        heading = QLabel("Curves")
        heading.setProperty("role", "heading")
        self._search = QLineEdit()
        self._search.setPlaceholderText("Filter curves")
        self._search.setAccessibleName("Filter curves")
        self._search.setClearButtonEnabled(True)
        self._search.setMaximumWidth(em * 14)
        self._charts = QPushButton("Show in charts")
        self._charts.setToolTip("Plot these curves in the charts")
        bar = QHBoxLayout()
        bar.setSpacing(em // 2)
        bar.addWidget(heading)
        bar.addStretch(1)
        bar.addWidget(self._search, 2)
        bar.addWidget(self._charts)
        self.grid = DataTable(
            table,
            _TagDelegate(theme, self),
            _WIDTHS,
            theme,
            number_columns=_NUMBER_COLUMNS,
            optional_columns=_OPTIONAL_COLUMNS,
        )
        self.grid.setAccessibleName("Curves in the event files")
        self._no_matches = QLabel("No curve matches the filter.")
        self._no_matches.setProperty("role", "muted")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 3)
        layout.addLayout(bar)
        layout.addWidget(self._no_matches)
        layout.addWidget(self.grid, 1)
        self._table = table
        self._search.textChanged.connect(table.set_filter)
        self._charts.clicked.connect(self.charts_requested)
        self.grid.row_activated.connect(lambda _: self.charts_requested.emit())
        self.grid.copy_requested.connect(self._copy)
        table.modelReset.connect(self._show)
        self._show()

    def _show(self) -> None:
        self._no_matches.setVisible(self._table.is_filtered and not self._table.rowCount())

    def _copy(self) -> None:
        lines = (
            "\t".join(
                str(self._table.index(row, column).data() or "") for column in range(len(TagColumn))
            )
            for row in self.grid.selected_rows()
        )
        self.grid.copy_to_clipboard("\n".join(lines))


class _TagDelegate(CellDelegate):
    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        self.paint_background(painter, option)
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        column = index.column()
        self.record_text(column, text)
        is_plain = column in (TagColumn.TAG, TagColumn.VALUE)
        self.paint_text(
            painter,
            option,
            text,
            "text" if is_plain else "muted",
            align_right=column != TagColumn.TAG,
        )
