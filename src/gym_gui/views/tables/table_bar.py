"""TableBar: what stands above a table of episodes or steps: how many, follow, copy, export."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from gym_gui.models.episodes_table import EpisodesTable
from gym_gui.models.run_words import whole
from gym_gui.models.steps_table import StepsTable
from gym_gui.models.theme_model import ThemeModel
from gym_gui.views.elements.elided_label import ElidedLabel
from gym_gui.views.elements.icons import IconName, keep_icon

Table = EpisodesTable | StepsTable


class TableBar(QWidget):
    """`noun` is what a row is."""

    follow_changed = Signal(bool)
    copy_asked = Signal()

    def __init__(
        self, table: Table, noun: str, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._table = table
        self._noun = noun
        self._count = ElidedLabel("muted")  # the first to go where there is little room
        self.follow = self._button("skip-end", "Follow the newest", theme)
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.follow.toggled.connect(self.follow_changed)
        copy = self._button("copy", "Copy the chosen rows (Ctrl+C)", theme)
        copy.clicked.connect(self.copy_asked)
        self._export = self._button("export", f"Export all {noun}s as CSV…", theme)
        self._export.clicked.connect(self._ask_where)
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
        self._filter = self._button("filter", f"Filter the {noun}s", theme)
        self._filter.setCheckable(True)
        self._filter.setVisible(False)
        self._filter.toggled.connect(self._filters.setVisible)
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
        """Shown when the person asks for them."""
        layout = QHBoxLayout(self._filters)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(self.fontMetrics().height() // 4)
        for field in fields:
            layout.addWidget(field)
        layout.addStretch(1)
        self._filter.setVisible(True)

    def _button(self, icon: IconName, tip: str, theme: ThemeModel) -> QToolButton:
        button = QToolButton()
        button.setProperty("role", "quiet")
        button.setToolTip(tip)
        button.setAccessibleName(tip.removesuffix("…"))
        keep_icon(button, icon, theme, "muted")
        return button

    def _update(self) -> None:
        table = self._table
        count = table.rowCount()
        plural = "" if count == 1 else "s"
        self._count.say(f"{whole(count)} {self._noun}{plural}" if count else "")
        self._export.setEnabled(count > 0 and table.exported is None)
        self.follow.setVisible(table.is_live and table.grows_at_the_end)
        self._progress.setVisible(table.exported is not None)
        self._cancel.setVisible(table.exported is not None)
        if table.exported is not None:
            written, total = table.exported
            self._progress.setRange(0, 1000)
            self._progress.setValue(round(1000 * written / max(1, total)))
            self._progress.setToolTip(f"{whole(written)} of {whole(total)} {self._noun}s")

    def _ask_where(self) -> None:
        dialog = QFileDialog(self, f"Export {self._noun}s")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter("CSV files (*.csv)")
        dialog.setDefaultSuffix("csv")
        dialog.selectFile(f"{self._table.run_id[-6:].lower()}-{self._noun}s.csv")
        dialog.fileSelected.connect(self._table.export_csv)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
