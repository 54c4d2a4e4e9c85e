"""ReproduceTab: commands, environment and packages to reproduce a run."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.run_page.model.packages_table import PACKAGE_ROLE, PackageColumn
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.model.run_summary import SummaryField
from gym_gui.run_page.view.comparison_run_picker import ComparisonRunPicker
from gym_gui.run_page.view.marked_cells import MarkedCells
from gym_gui.run_page.view.text_widgets import FieldGrid, SearchField, TextCard
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.styling import set_disabled_reason
from gym_gui.widgets.tables.data_table import DataTable

_WIDTHS = (-16, -10, -10)
_MIN_ROWS, _MAX_ROWS = 3, 12


class PackagesView(QWidget):
    """Shows `PackagesTable`. As high as its rows, up to a limit."""

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
        self.picker = ComparisonRunPicker(model)
        self.only = QCheckBox("Only differences")
        self.search = SearchField("Search packages", theme)
        self._count = QLabel()
        self._count.setProperty("role", "caption")
        self._count.setWordWrap(True)
        delegate = MarkedCells(
            theme, self, is_marked=lambda index: bool(index.data(PACKAGE_ROLE).differs)
        )
        self.grid = DataTable(self._table, delegate, _WIDTHS, theme)
        self.grid.setAccessibleName("Packages")
        header = QHBoxLayout()
        header.addWidget(heading, 1)
        header.addWidget(self.requirements)
        bar = FlowLayout(gap=line * 2 // 3)
        for widget in (self.picker, self.only, self.search):
            bar.addWidget(widget)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(line // 3)
        layout.addLayout(header)
        layout.addLayout(bar)
        layout.addWidget(self._count)
        layout.addWidget(self.grid)
        self.only.toggled.connect(self._table.show_only_differences)
        self.search.textChanged.connect(self._table.search)
        self.grid.copy_requested.connect(
            lambda: self.grid.copy_to_clipboard(self._table.as_text(self.grid.selected_rows()))
        )
        self._table.changed.connect(self._update)
        model.other_changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        table, model = self._table, self._model
        self.grid.set_column_used(PackageColumn.THERE, table.has_other)
        self.only.setEnabled(table.has_other)
        self.only.setToolTip("" if table.has_other else "Select a run to compare with first.")
        self.requirements.setEnabled(table.total > 0)
        self.requirements.setToolTip(
            "Requirements file for pip with exact versions" if table.total else "No packages known."
        )
        if model.other_problem is not None:
            text = f"{model.other_problem.message} {model.other_problem.remedy}"
        elif table.has_other:
            text = f"{table.differences:,} of {table.total:,} packages differ from the other run"
        elif table.total:
            text = f"{table.total:,} packages. Select a run above to compare."
        else:
            text = "No packages known: the run is not prepared, or needs none."
        if self._count.text() != text:
            self._count.setText(text)
        rows = max(_MIN_ROWS, min(_MAX_ROWS, table.rowCount()))
        row = self.grid.verticalHeader().defaultSectionSize()
        height = row * rows + round(self.fontMetrics().height() * 2.2)
        self.grid.setVisible(table.total > 0)
        if self.grid.height() != height:
            self.grid.setFixedHeight(height)


class ReproduceTab(QScrollArea):
    """Shows `RunPageModel`. Scrolls if it is too small."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self.command = TextCard("Command to start this run again", theme)
        self.command.set_hint(
            f"Run it in a terminal. Add `--home {model.home}` if that is not the default home."
        )
        self._human_played = QLabel(
            "A person played this run, so no command can reproduce it. Use Replay to see it."
        )
        self._human_played.setProperty("role", "muted")
        self._human_played.setWordWrap(True)
        self.worker_command = TextCard("Worker command", theme)
        self.environment = FieldGrid()
        self.packages = PackagesView(model, theme)
        heading = QLabel("Environment")
        heading.setProperty("role", "heading")
        self._export = QPushButton("Export as JSON")
        self._export.setToolTip("Commands, configuration, bundle and packages in one file")
        self._export.clicked.connect(model.export_json)
        header = QHBoxLayout()
        header.addWidget(heading, 1)
        header.addWidget(self._export)
        content = QWidget()
        layout = QVBoxLayout(content)
        layout.setContentsMargins(line, line * 2 // 3, line, line)
        layout.setSpacing(line * 2 // 3)
        layout.addWidget(self.command)
        layout.addWidget(self._human_played)
        layout.addWidget(self.worker_command)
        layout.addLayout(header)
        layout.addWidget(self.environment)
        layout.addWidget(self.packages)
        layout.addStretch(1)
        self.setWidget(content)
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        model.changed.connect(self._update)
        self._update()

    def _update(self) -> None:
        model = self._model
        self.command.set_text(model.train_command)
        self._human_played.setVisible(model.is_human_played)
        self.worker_command.set_text(model.worker_command)
        self.environment.show_fields(
            [SummaryField(name, value) for name, value in model.environment]
        )
        set_disabled_reason(
            self._export, "" if model.selected.is_known else "The run is still loading."
        )
