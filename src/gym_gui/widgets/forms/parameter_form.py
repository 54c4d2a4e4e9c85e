"""ParameterForm: a form generated from typed parameters of an environment or a worker.

The caller shows parameters and values, connects to `changed`, validates `values()` and shows the
problems.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QLabel, QLineEdit, QVBoxLayout, QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.forms.parameter_row import ParameterRow
from mosaic.contract.parameters import Parameter
from mosaic.contract.problems import Problem
from mosaic.envs.entries import ShownWhen

_MIN_SEARCHABLE = 12
"""A form with this many parameters has a search field."""
_ROWS_PER_BATCH = 4


class ParameterForm(QWidget):
    """Groups are sections, in the order of their first parameters."""

    changed = Signal()
    """The user edited a value; not emitted by `show_parameters`."""
    finished = Signal()
    """All rows have been created."""

    def __init__(
        self, theme: ThemeModel, parent: QWidget | None = None, *, has_search: bool = True
    ) -> None:
        """Without `has_search` the form has no search field; the owner may call `search`."""
        super().__init__(parent)
        self._theme = theme
        self._has_search = has_search
        self._search_terms: list[str] = []
        self._rows: dict[str, ParameterRow] = {}
        self._headings: dict[str, QLabel] = {}
        self._parameters: tuple[Parameter, ...] = ()
        self._pending: list[Parameter] = []
        self._initial_values: dict[str, Any] = {}
        self._problems: tuple[Problem, ...] = ()
        self._long_texts: frozenset[str] = frozenset()
        self._titles: dict[str, str] = {}
        self._shown_when: tuple[ShownWhen, ...] = ()
        em = self.fontMetrics().height()
        # Created when needed: most forms have none, and a dock has many forms.
        self._search: QLineEdit | None = None
        self._no_match: QLabel | None = None
        self._general: QLabel | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(em // 2)
        self._rows_layout = QVBoxLayout()
        self._rows_layout.setSpacing(em // 2)
        self._layout.addLayout(self._rows_layout)

    def show_parameters(
        self,
        parameters: Sequence[Parameter],
        values: Mapping[str, Any],
        *,
        long_texts: Collection[str] = (),
        titles: Mapping[str, str] | None = None,
        shown_when: Sequence[ShownWhen] = (),
    ) -> None:
        """Show `parameters`; those missing in `values` have their default.

        `long_texts` names parameters of several lines, `titles` overrides labels, and `shown_when`
        hides parameters that have no effect with the values of others.
        """
        self._initial_values = dict(values)
        self._problems = ()
        if tuple(parameters) != self._parameters:
            self._clear(parameters)
            self._long_texts, self._titles = frozenset(long_texts), dict(titles or {})
            self._shown_when = tuple(shown_when)
            self._add_batch()
        for name, row in self._rows.items():
            row.show_value(values.get(name, row.parameter.default))
        self._show_rows()
        self.show_problems(())

    def values(self) -> dict[str, Any]:
        """Values that differ from the default, of parameters that have an effect."""
        values = {
            name: row.value
            for name, row in self._rows.items()
            if not row.is_default and self._has_effect(name)
        }
        pending = {parameter.name for parameter in self._pending}
        return values | {
            name: self._initial_values[name] for name in pending if name in self._initial_values
        }

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Show each problem below its field, and those without a field above the form."""
        self._problems = tuple(problems)
        by_name: dict[str, Problem] = {}
        general: list[str] = []
        for problem in problems:
            name = str(problem.path[-1]) if problem.path else ""
            if any(parameter.name == name for parameter in self._parameters):
                by_name.setdefault(name, problem)
            else:
                general.append(f"{problem.sentence} {problem.remedy}".strip())
        for name, row in self._rows.items():
            row.show_problem(by_name.get(name))
        self._show_general("\n".join(general))

    def search(self, text: str) -> None:
        """Show only parameters that contain all words of `text`."""
        self._search_terms = text.lower().split()
        self._show_rows()

    def reset(self) -> None:
        """Reset all parameters to their defaults."""
        self.finish()
        for row in self._rows.values():
            row.show_value(row.parameter.default)
        self._on_edited()

    def is_showing(self, parameters: Sequence[Parameter]) -> bool:
        return self._parameters == tuple(parameters)

    @property
    def is_finished(self) -> bool:
        return not self._pending

    def row(self, name: str) -> ParameterRow:
        self.finish()
        return self._rows[name]

    def finish(self) -> None:
        """Create all pending rows now."""
        while self._pending:
            self._add(self._pending.pop(0))
        self._after_adding()

    def _clear(self, parameters: Sequence[Parameter]) -> None:
        self._parameters = tuple(parameters)
        groups = list(dict.fromkeys(parameter.group for parameter in parameters))
        self._pending = sorted(parameters, key=lambda parameter: groups.index(parameter.group))
        self._rows.clear()
        self._headings.clear()
        while (item := self._rows_layout.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        is_searchable = self._has_search and len(parameters) >= _MIN_SEARCHABLE
        if is_searchable and self._search is None:
            self._add_search()
        if self._search is not None:
            self._search.clear()
            self._search.setVisible(is_searchable)

    def _add_search(self) -> None:
        self._search = QLineEdit()
        self._search.setPlaceholderText("Search settings")
        self._search.setAccessibleName("Search settings")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self.search)
        self._no_match = QLabel("No matching setting.")
        self._no_match.setProperty("role", "muted")
        self._no_match.setVisible(False)
        self._layout.insertWidget(0, self._search)
        self._layout.addWidget(self._no_match)

    def _show_general(self, text: str) -> None:
        if self._general is None:
            if not text:
                return
            self._general = QLabel()
            self._general.setProperty("tone", "bad")
            self._general.setWordWrap(True)
            self._layout.insertWidget(self._layout.indexOf(self._rows_layout), self._general)
        self._general.setText(text)
        self._general.setVisible(bool(text))

    def _add_batch(self) -> None:
        """Create a few rows at a time, so that a long form does not block the UI thread."""
        if not self._pending:
            return
        for _ in range(min(_ROWS_PER_BATCH, len(self._pending))):
            self._add(self._pending.pop(0))
        self._after_adding()
        if self._pending:
            QTimer.singleShot(0, self, self._add_batch)

    def _add(self, parameter: Parameter) -> None:
        if parameter.group and parameter.group not in self._headings:
            self._headings[parameter.group] = heading = QLabel(parameter.group)
            heading.setProperty("role", "caption")
            self._rows_layout.addWidget(heading)
        row = ParameterRow(
            parameter,
            self._theme,
            title=self._titles.get(parameter.name, ""),
            is_long_text=parameter.name in self._long_texts,
        )
        row.show_value(self._initial_values.get(parameter.name, parameter.default))
        row.changed.connect(self._on_edited)
        self._rows[parameter.name] = row
        self._rows_layout.addWidget(row)

    def _after_adding(self) -> None:
        self._order_tabs()
        self.show_problems(self._problems)
        self._show_rows()
        if not self._pending:
            self.finished.emit()

    def _order_tabs(self) -> None:
        """Qt appends new widgets to the tab order; here they follow the search field."""
        previous: QWidget | None = self._search
        for row in self._rows.values():
            previous = row.insert_in_tab_order(previous)

    def _on_edited(self) -> None:
        if self._shown_when:
            self._show_rows()
        self.changed.emit()

    def _has_effect(self, name: str) -> bool:
        """Whether the parameter has an effect with the current values of the others."""
        return all(
            self._rows[rule.other].value in rule.values
            for rule in self._shown_when
            if name in rule.fields and rule.other in self._rows
        )

    def _show_rows(self) -> None:
        """Show the rows that match the search and have an effect."""
        visible = {
            name
            for name, row in self._rows.items()
            if row.matches(self._search_terms) and self._has_effect(name)
        }
        for name, row in self._rows.items():
            row.setVisible(name in visible)
        groups = {self._rows[name].parameter.group for name in visible}
        for group, heading in self._headings.items():
            heading.setVisible(group in groups)
        if self._no_match is not None:
            self._no_match.setVisible(not visible and bool(self._rows))
