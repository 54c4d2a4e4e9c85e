"""PackagesView: the packages that the run had, and how those of another run differ."""

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gym_gui.run_page.model.packages_table import PACKAGE_ROLE, PackageColumn
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.view.marked_cells import MarkedCells
from gym_gui.run_page.view.run_picker import RunPicker
from gym_gui.run_page.view.search_line import SearchLine
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.tables.data_table import DataTable

_WIDTHS = (-16, -10, -10)
_LEAST_ROWS, _MOST_ROWS = 3, 12


class PackagesView(QWidget):
    """As high as its rows, up to a limit."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._table = model.packages
        line = self.fontMetrics().height()
        heading = QLabel("Packages")
        heading.setProperty("role", "heading")
        self.requirements = QPushButton("Export requirements")
        self.requirements.clicked.connect(model.export_requirements)
        self.picker = RunPicker(model)
        self.only = QCheckBox("Only differences")
        self.search = SearchLine("Search packages", theme)
        self._count = QLabel()
        self._count.setProperty("role", "caption")
        self._count.setWordWrap(True)
        delegate = MarkedCells(
            theme, self, is_marked=lambda index: bool(index.data(PACKAGE_ROLE).differs)
        )
        self.grid = DataTable(self._table, delegate, _WIDTHS, theme)
        self.grid.setAccessibleName("Packages")
        head = QHBoxLayout()
        head.addWidget(heading, 1)
        head.addWidget(self.requirements)
        bar = FlowLayout(gap=line * 2 // 3)
        for widget in (self.picker, self.only, self.search):
            bar.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addLayout(head)
        layout.addLayout(bar)
        layout.addWidget(self._count)
        layout.addWidget(self.grid)
        self.only.toggled.connect(self._table.show_only_differences)
        self.search.textChanged.connect(self._table.search)
        self.grid.copy_asked.connect(
            lambda: self.grid.put_on_clipboard(self._table.as_text(self.grid.chosen_rows()))
        )
        self._table.changed.connect(self._update)
        model.other_changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        table, model = self._table, self._model
        self.grid.use_column(PackageColumn.THERE, table.has_other)
        self.only.setEnabled(table.has_other)
        self.only.setToolTip("" if table.has_other else "Choose a run to compare with first.")
        self.requirements.setEnabled(table.total > 0)
        self.requirements.setToolTip(
            "A file for pip, with every version" if table.total else "No packages are known."
        )
        if model.other_problem is not None:
            words = f"{model.other_problem.message} {model.other_problem.remedy}"
        elif table.has_other:
            words = f"{table.differences:,} of {table.total:,} packages differ from the other run"
        elif table.total:
            words = f"{table.total:,} packages. Choose a run above to see how its differ."
        else:
            words = "No packages are known: the run has not been prepared, or needs none."
        if self._count.text() != words:
            self._count.setText(words)
        rows = max(_LEAST_ROWS, min(_MOST_ROWS, table.rowCount()))
        row = self.grid.verticalHeader().defaultSectionSize()
        height = row * rows + round(self.fontMetrics().height() * 2.2)
        self.grid.setVisible(table.total > 0)
        if self.grid.height() != height:
            self.grid.setFixedHeight(height)
