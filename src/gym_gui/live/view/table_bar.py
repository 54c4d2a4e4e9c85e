"""TableBar: the bar above a table of episodes or steps: count, filters, follow, copy, export."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.live.model.episodes_table import EpisodesTable
from gym_gui.live.model.steps_table import StepsTable
from gym_gui.runtime.models.formatting import format_integer
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.icons import IconName, set_icon
from gym_gui.widgets.labels import ElidedLabel
from gym_gui.widgets.styling import set_disabled_reason

Table = EpisodesTable | StepsTable


class TableBar(QWidget):
    """Shows an `EpisodesTable` or a `StepsTable`; `noun` names a row."""

    follow_changed = Signal(bool)
    copy_requested = Signal()

    def __init__(
        self, table: Table, noun: str, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._table = table
        self._noun = noun
        self._count = ElidedLabel("muted")  # elided first if the bar is narrow
        self.follow = self._button("skip-end", "Follow the newest rows", theme)
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.follow.toggled.connect(self.follow_changed)
        copy = self._button("copy", "Copy the selected rows (Ctrl+C)", theme)
        copy.clicked.connect(self.copy_requested)
        self._export = self._button(
            "export", f"Export these {noun}s as CSV to the exports folder", theme
        )
        self._export.clicked.connect(table.export_csv)
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setAccessibleName("Export")
        self._progress.setMaximumWidth(self.fontMetrics().height() * 6)
        self._cancel = self._button("close", "Cancel the export", theme)
        self._cancel.clicked.connect(table.cancel_export)
        self.title = QLabel()
        self.title.setVisible(False)
        self._filters = QWidget()
        self._filters.setVisible(False)
        self._first_field: QWidget | None = None
        self._filter = self._button("filter", f"Filter the {noun}s", theme)
        self._filter.setCheckable(True)
        self._filter.setVisible(False)
        self._filter.toggled.connect(self._show_filters)
        line = self.fontMetrics().height()
        top = QHBoxLayout()
        top.setSpacing(line // 4)
        top.addWidget(self.title)
        top.addWidget(self._count, 1)
        buttons = (self._progress, self._cancel, self._filter, self.follow, copy, self._export)
        for widget in buttons:
            top.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(line // 2, line // 4, line // 4, line // 4)
        layout.setSpacing(line // 4)
        layout.addLayout(top)
        layout.addWidget(self._filters)
        table.changed.connect(self._update)
        self._update()

    def add_filters(self, *fields: QWidget) -> None:
        """Add filter fields, shown by the filter button."""
        layout = QHBoxLayout(self._filters)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(self.fontMetrics().height() // 4)
        for field in fields:
            layout.addWidget(field)
        layout.addStretch(1)
        self._filter.setVisible(True)
        self._first_field = fields[0]

    def _show_filters(self, is_visible: bool) -> None:
        self._filters.setVisible(is_visible)
        if is_visible and self._first_field is not None:
            self._first_field.setFocus(Qt.FocusReason.TabFocusReason)

    def _button(self, icon: IconName, tip: str, theme: ThemeModel) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setToolTip(tip)
        button.setAccessibleName(tip.removesuffix("…"))
        set_icon(button, icon, theme, "muted")
        return button

    def _update(self) -> None:
        table = self._table
        count = table.rowCount()
        self._count.show_text(self._count_text(count))
        reason = "" if count else f"There are no {self._noun}s."
        set_disabled_reason(
            self._export, "An export is running." if table.export_progress is not None else reason
        )
        self.follow.setVisible(table.is_live and table.appends_rows)
        self._progress.setVisible(table.export_progress is not None)
        self._cancel.setVisible(table.export_progress is not None)
        if table.export_progress is not None:
            written, total = table.export_progress
            self._progress.setRange(0, 1000)
            self._progress.setValue(round(1000 * written / max(1, total)))
            self._progress.setToolTip(
                f"{format_integer(written)} of {format_integer(total)} {self._noun}s"
            )

    def _count_text(self, count: int) -> str:
        table = self._table
        if isinstance(table, EpisodesTable) and table.is_filtered:
            return (
                f"{format_integer(count)} of {format_integer(table.unfiltered_count)} {self._noun}s"
            )
        return f"{format_integer(count)} {self._noun}{'' if count == 1 else 's'}" if count else ""
