"""ParameterForm: a form made of typed parameters, for environments and for workers.

The caller shows parameters and values, listens to `changed`, checks `values()` and shows problems.
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

_MANY = 12
"""From so many on there is a search field."""
_AT_ONCE = 4


class ParameterForm(QWidget):
    """Groups are sections in the order in which they first come."""

    changed = Signal()
    """By the person, not by `show_parameters`."""
    finished = Signal()
    """All rows of what was shown last are there."""

    def __init__(
        self, theme: ThemeModel, parent: QWidget | None = None, *, has_search: bool = True
    ) -> None:
        """Without `has_search` whoever shows the form may search it, with `search`."""
        super().__init__(parent)
        self._theme = theme
        self._has_search = has_search
        self._words: list[str] = []
        self._rows: dict[str, ParameterRow] = {}
        self._headings: dict[str, QLabel] = {}
        self._shown: tuple[Parameter, ...] = ()
        self._waiting: list[Parameter] = []
        self._given: dict[str, Any] = {}
        self._problems: tuple[Problem, ...] = ()
        self._long_texts: frozenset[str] = frozenset()
        self._titles: dict[str, str] = {}
        self._shown_when: tuple[ShownWhen, ...] = ()
        em = self.fontMetrics().height()
        # Most forms never need these, and a dock has many forms.
        self._search: QLineEdit | None = None
        self._nothing: QLabel | None = None
        self._general: QLabel | None = None
        self._frame = QVBoxLayout(self)
        self._frame.setContentsMargins(0, 0, 0, 0)
        self._frame.setSpacing(em // 2)
        self._list = QVBoxLayout()
        self._list.setSpacing(em // 2)
        self._frame.addLayout(self._list)

    def show_parameters(
        self,
        parameters: Sequence[Parameter],
        values: Mapping[str, Any],
        *,
        long_texts: Collection[str] = (),
        titles: Mapping[str, str] | None = None,
        shown_when: Sequence[ShownWhen] = (),
    ) -> None:
        """`values` may leave out what has its default. `long_texts` name texts of several lines,
        `titles` has what to call parameters whose name says too little; `shown_when` says which
        are left out as long as they would change nothing."""
        self._given = dict(values)
        self._problems = ()
        if tuple(parameters) != self._shown:
            self._clear(parameters)
            self._long_texts, self._titles = frozenset(long_texts), dict(titles or {})
            self._shown_when = tuple(shown_when)
            self._build_some()
        for name, row in self._rows.items():
            row.show_value(values.get(name, row.parameter.default))
        self._show_rows()
        self.show_problems(())

    def values(self) -> dict[str, Any]:
        """Of those parameters that count and have something else than their default."""
        told = {
            name: row.value
            for name, row in self._rows.items()
            if not row.is_default and self._counts(name)
        }
        waiting = {parameter.name for parameter in self._waiting}
        return told | {name: self._given[name] for name in waiting if name in self._given}

    def show_problems(self, problems: Sequence[Problem]) -> None:
        """Each beneath its field; those of no field above all."""
        self._problems = tuple(problems)
        by_name: dict[str, Problem] = {}
        general: list[str] = []
        for problem in problems:
            name = str(problem.path[-1]) if problem.path else ""
            if any(parameter.name == name for parameter in self._shown):
                by_name.setdefault(name, problem)
            else:
                general.append(f"{problem.sentence} {problem.remedy}".strip())
        for name, row in self._rows.items():
            row.show_problem(by_name.get(name))
        self._show_general("\n".join(general))

    def search(self, text: str) -> None:
        """Show those that have the words."""
        self._words = text.lower().split()
        self._show_rows()

    def reset(self) -> None:
        """Everything back to its default."""
        self.finish()
        for row in self._rows.values():
            row.show_value(row.parameter.default)
        self._on_edited()

    def shows(self, parameters: Sequence[Parameter]) -> bool:
        """Whether it is these that were shown last."""
        return self._shown == tuple(parameters)

    @property
    def is_finished(self) -> bool:
        return not self._waiting

    def row(self, name: str) -> ParameterRow:
        self.finish()
        return self._rows[name]

    def finish(self) -> None:
        """Make all rows that are still to come, now."""
        while self._waiting:
            self._add(self._waiting.pop(0))
        self._after_adding()

    def _clear(self, parameters: Sequence[Parameter]) -> None:
        self._shown = tuple(parameters)
        groups = list(dict.fromkeys(parameter.group for parameter in parameters))
        self._waiting = sorted(parameters, key=lambda parameter: groups.index(parameter.group))
        self._rows.clear()
        self._headings.clear()
        while (item := self._list.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        is_searched = self._has_search and len(parameters) >= _MANY
        if is_searched and self._search is None:
            self._add_search()
        if self._search is not None:
            self._search.clear()
            self._search.setVisible(is_searched)

    def _add_search(self) -> None:
        self._search = QLineEdit()
        self._search.setPlaceholderText("Search settings")
        self._search.setAccessibleName("Search settings")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self.search)
        self._nothing = QLabel("No setting has these words.")
        self._nothing.setProperty("role", "muted")
        self._nothing.setVisible(False)
        self._frame.insertWidget(0, self._search)
        self._frame.addWidget(self._nothing)

    def _show_general(self, text: str) -> None:
        if self._general is None:
            if not text:
                return
            self._general = QLabel()
            self._general.setProperty("tone", "bad")
            self._general.setWordWrap(True)
            self._frame.insertWidget(self._frame.indexOf(self._list), self._general)
        self._general.setText(text)
        self._general.setVisible(bool(text))

    def _build_some(self) -> None:
        """A few rows at a time, so that a long form never holds the window up."""
        if not self._waiting:
            return
        for _ in range(min(_AT_ONCE, len(self._waiting))):
            self._add(self._waiting.pop(0))
        self._after_adding()
        if self._waiting:
            QTimer.singleShot(0, self, self._build_some)

    def _add(self, parameter: Parameter) -> None:
        if parameter.group and parameter.group not in self._headings:
            self._headings[parameter.group] = heading = QLabel(parameter.group)
            heading.setProperty("role", "caption")
            self._list.addWidget(heading)
        row = ParameterRow(
            parameter,
            self._theme,
            title=self._titles.get(parameter.name, ""),
            is_long_text=parameter.name in self._long_texts,
        )
        row.show_value(self._given.get(parameter.name, parameter.default))
        row.changed.connect(self._on_edited)
        self._rows[parameter.name] = row
        self._list.addWidget(row)

    def _after_adding(self) -> None:
        self._order_tabs()
        self.show_problems(self._problems)
        self._show_rows()
        if not self._waiting:
            self.finished.emit()

    def _order_tabs(self) -> None:
        """New widgets come last in the window; here they follow the search field."""
        before: QWidget | None = self._search
        for row in self._rows.values():
            before = row.follow_in_tab_order(before)

    def _on_edited(self) -> None:
        if self._shown_when:
            self._show_rows()
        self.changed.emit()

    def _counts(self, name: str) -> bool:
        """Whether it changes anything, as the other values are."""
        return all(
            self._rows[rule.other].value in rule.values
            for rule in self._shown_when
            if name in rule.fields and rule.other in self._rows
        )

    def _show_rows(self) -> None:
        """Those that count and have the words that are searched for."""
        found = {
            name
            for name, row in self._rows.items()
            if row.matches(self._words) and self._counts(name)
        }
        for name, row in self._rows.items():
            row.setVisible(name in found)
        groups = {self._rows[name].parameter.group for name in found}
        for group, heading in self._headings.items():
            heading.setVisible(group in groups)
        if self._nothing is not None:
            self._nothing.setVisible(not found and bool(self._rows))
