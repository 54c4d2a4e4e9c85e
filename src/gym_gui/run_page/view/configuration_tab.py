"""ConfigurationTab: every setting of a run, compared with the defaults or with another run."""

from typing import cast

from PySide6.QtWidgets import QCheckBox, QLabel, QStackedWidget, QVBoxLayout, QWidget

from gym_gui.run_page.model.configuration_table import ROW_ROLE, Against
from gym_gui.run_page.model.run_configuration import ConfigRow
from gym_gui.run_page.model.run_page_model import RunPageModel
from gym_gui.run_page.view.comparison_run_picker import ComparisonRunPicker
from gym_gui.run_page.view.marked_cells import MarkedCells
from gym_gui.run_page.view.text_widgets import SearchField
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.buttons import CopyButton, SegmentedControl
from gym_gui.widgets.empty_state import EmptyState
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.tables.cell_delegate import Index
from gym_gui.widgets.tables.data_table import DataTable

_WIDTHS = (-20, -18, -14)


class ConfigurationTab(QWidget):
    """Shows `ConfigurationTable`. The bar wraps if it is narrow."""

    def __init__(
        self, model: RunPageModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._table = model.configuration
        line = self.fontMetrics().height()
        self.against = SegmentedControl([("defaults", "Defaults"), ("run", "Another run")], theme)
        self.against.setAccessibleName("Compare with")
        self.against.set_option_tool_tip(
            "defaults", "Compare with the default values of the worker"
        )
        self.against.set_option_tool_tip("run", "Compare with another run")
        self.picker = ComparisonRunPicker(model)
        self.only = QCheckBox("Only differences")
        self.search = SearchField("Search settings", theme)
        self.copy = CopyButton("Copy configuration as JSON", self._table.as_json, theme)
        bar = FlowLayout(gap=line * 2 // 3)
        for widget in (self.against, self.picker, self.only, self.search, self.copy):
            bar.addWidget(widget)
        self._count = QLabel()
        self._count.setProperty("role", "caption")
        self._count.setWordWrap(True)
        delegate = MarkedCells(
            theme,
            self,
            is_marked=self._is_marked,
            is_heading=lambda index: isinstance(index.data(ROW_ROLE), str),
        )
        self.grid = DataTable(self._table, delegate, _WIDTHS, theme)
        self.grid.setAccessibleName("Configuration")
        self._empty = EmptyState("settings", "", "", theme)
        self._stack = QStackedWidget()
        self._stack.setMinimumHeight(line * 3)
        self._stack.addWidget(self.grid)
        self._stack.addWidget(self._empty)
        above = QVBoxLayout()
        above.setContentsMargins(line, line * 2 // 3, line, line // 3)
        above.setSpacing(line // 3)
        above.addLayout(bar)
        above.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(above)
        layout.addWidget(self._stack, 1)
        self._subscribe()
        self._update()

    def _subscribe(self) -> None:
        table = self._table
        self.against.activated.connect(lambda word: table.compare_against(cast("Against", word)))
        self.only.toggled.connect(table.show_only_differences)
        self.search.textChanged.connect(table.search)
        self.grid.copy_requested.connect(
            lambda: self.grid.copy_to_clipboard(table.as_text(self.grid.selected_rows()))
        )
        self._empty.action_triggered.connect(self._clear_filters)
        table.changed.connect(self._update)
        self._model.other_changed.connect(self._update)
        self._model.changed.connect(self._update)

    def _is_marked(self, index: Index) -> bool:
        row = index.data(ROW_ROLE)
        return isinstance(row, ConfigRow) and self._table.is_marked(row)

    def _clear_filters(self) -> None:
        self.only.setChecked(False)
        self.search.clear()

    def _update(self) -> None:
        table, model = self._table, self._model
        is_with_run = table.against == "run"
        self.picker.setVisible(is_with_run)
        self._update_count(is_with_run)
        is_empty = not table.rowCount()
        self._stack.setCurrentIndex(1 if is_empty else 0)
        if not is_empty:
            return
        if not table.is_known:
            problem = model.selected.problem
            title = "No configuration yet" if problem is None else "Configuration unavailable"
            text = f"{problem.message} {problem.remedy}" if problem else "Loading configuration."
            self._empty.show_message(title, text)
        elif table.only_differences and not table.differences and not table.text:
            reference = "the other run" if is_with_run else "the defaults"
            self._empty.show_message(
                "No differences", f"All values equal {reference}.", "Show all values"
            )
        else:
            self._empty.show_message(
                "No matches", "No setting contains this text.", "Show all values"
            )

    def _update_count(self, is_with_run: bool) -> None:
        table, model = self._table, self._model
        if is_with_run and model.other_problem is not None:
            text = f"{model.other_problem.message} {model.other_problem.remedy}"
        elif is_with_run and not model.other_id:
            text = "Select a run to compare with."
        elif is_with_run and model.other is None:
            text = "Loading configuration."
        else:
            reference = "the other run" if is_with_run else "the defaults"
            text = f"{table.differences:,} of {table.total:,} values differ from {reference}"
        if self._count.text() != text:
            self._count.setText(text)
