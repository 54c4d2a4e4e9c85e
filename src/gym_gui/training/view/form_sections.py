"""FormSections: the parameter forms of the training panel, one per section, built incrementally.

The panel lays out the sections. Values and problems come from `TrainingForm`.
"""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.training_fields import (
    LONG_TEXTS,
    SECTIONS,
    SHOWN_WHEN,
    TITLES,
    SectionId,
)
from gym_gui.training.model.training_form import TrainingForm
from gym_gui.widgets.forms.parameter_form import ParameterForm
from gym_gui.widgets.forms.parameter_row import matches_search
from gym_gui.widgets.section import Section

_HEADINGS: dict[SectionId, tuple[str, bool]] = {
    "params": ("Parameters", True),
    "more_params": ("More parameters", False),
    "artifacts": ("Artifacts", True),
    "tracking": ("Weights & Biases", False),
    "extras": ("Extra packages", False),
    "about": ("Name, tags and note", False),
}
_MIN_SEARCHABLE = 12
_EXTRA_TITLES = {"wandb": "Weights and Biases", "video": "Video files"}


class FormSections(QObject):
    """Builds one form per event-loop turn, to keep each turn short; a collapsed one on demand."""

    started = Signal()
    finished = Signal()
    """All expanded sections are built."""

    def __init__(self, model: TrainingForm, theme: ThemeModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._waiting: list[SectionId] = []
        self._current: SectionId | None = None
        self._search_terms: list[str] = []
        self._collapsed_before_search: frozenset[SectionId] = frozenset()
        self.forms: dict[SectionId, ParameterForm] = {}
        self.widgets: dict[SectionId, QWidget] = {}
        for section in SECTIONS:
            form = ParameterForm(theme, has_search=False)
            self.forms[section] = form
            self.widgets[section] = self._wrap(section, form, theme)
            form.changed.connect(lambda section=section: self._on_edited(section))
        model.draft_changed.connect(self._show_values)
        model.problems_changed.connect(self._show_problems)
        model.document_changed.connect(self._rebuild_extras)

    def show_agent(self) -> None:
        """Start to build the sections of the agent."""
        if self._model.draft.section("tracking").get("wandb"):
            self.expand("tracking")
        for section in SECTIONS:
            self.widgets[section].setVisible(self._has_match(section))
        self._build([section for section in SECTIONS if self._is_expanded(section)])

    def search(self, text: str) -> bool:
        """Show matching fields only, also of collapsed sections. Returns whether any match."""
        if not self._search_terms:
            self._collapsed_before_search = frozenset(
                section for section in SECTIONS if not self._is_expanded(section)
            )
        self._search_terms = text.lower().split()
        for section in SECTIONS:
            has_match = self._has_match(section)
            self.forms[section].search(text)
            self.widgets[section].setVisible(has_match)
            frame = self.widgets[section]
            if isinstance(frame, Section) and section in self._collapsed_before_search:
                frame.set_open(bool(self._search_terms) and has_match)
        return any(self._has_match(section) for section in SECTIONS)

    @property
    def is_searchable(self) -> bool:
        """Whether there are enough fields for a search."""
        return sum(len(self._model.parameters(section)) for section in SECTIONS) >= _MIN_SEARCHABLE

    def _has_match(self, section: SectionId) -> bool:
        titles = TITLES | (_EXTRA_TITLES if section == "extras" else {})
        return any(
            matches_search(parameter, titles.get(parameter.name, ""), self._search_terms)
            for parameter in self._model.parameters(section)
        )

    @property
    def is_finished(self) -> bool:
        return not self._waiting

    def expand(self, section: SectionId) -> None:
        frame = self.widgets[section]
        if isinstance(frame, Section):
            frame.set_open(True)

    def _wrap(self, section: SectionId, form: ParameterForm, theme: ThemeModel) -> QWidget:
        if section not in _HEADINGS:
            return form
        title, is_open = _HEADINGS[section]
        frame = Section(title, form, theme, is_open=is_open)
        frame.toggled.connect(lambda is_open: self._on_toggled(section, is_open=is_open))
        return frame

    def _is_expanded(self, section: SectionId) -> bool:
        frame = self.widgets[section]
        return not isinstance(frame, Section) or frame.is_open

    def _build(self, sections: Sequence[SectionId]) -> None:
        is_building = bool(self._waiting)
        self._waiting = [*sections]
        self._current = None
        if not is_building and sections:
            self.started.emit()
            QTimer.singleShot(0, self, self._build_next)

    def _build_next(self) -> None:
        """One step per event-loop turn.

        A form is hidden while its rows are created: each visible row would lay out the dock again.
        """
        section = self._waiting[0]
        form = self.forms[section]
        if self._current != section and form.is_finished:
            self._current = section
            if not form.is_showing(self._model.parameters(section)):
                form.setVisible(False)
            self._fill(section)
        elif form.is_finished:
            form.setVisible(self._is_expanded(section) and bool(self._model.parameters(section)))
            self._waiting.remove(section)
        for widget in form.findChildren(QWidget):
            widget.ensurePolished()
        if self._waiting:
            QTimer.singleShot(0, self, self._build_next)
        else:
            self.finished.emit()

    def _fill(self, section: SectionId) -> None:
        parameters = self._model.parameters(section)
        names = {parameter.name for parameter in parameters}
        form = self.forms[section]
        form.show_parameters(
            parameters,
            self._model.values(section),
            long_texts=LONG_TEXTS,
            titles=TITLES | (_EXTRA_TITLES if section == "extras" else {}),
            shown_when=[rule for rule in SHOWN_WHEN if rule.other in names],
        )
        form.show_problems(self._model.section_problems(section))

    def _on_toggled(self, section: SectionId, *, is_open: bool) -> None:
        if is_open and section not in self._waiting:
            self._build([*self._waiting, section])

    def _on_edited(self, section: SectionId) -> None:
        self._model.set_values(section, self.forms[section].values())

    def _show_values(self) -> None:
        for section in SECTIONS:
            is_pending = section in self._waiting and section != self._current
            if not is_pending and self._is_expanded(section):
                self._fill(section)

    def _rebuild_extras(self) -> None:
        """The defaults of the extras depend on the other sections."""
        parameters = self._model.parameters("extras")
        is_stale = bool(parameters) and not self.forms["extras"].is_showing(parameters)
        if is_stale and self._is_expanded("extras") and "extras" not in self._waiting:
            self._build([*self._waiting, "extras"])

    def _show_problems(self) -> None:
        for section in SECTIONS:
            problems = self._model.section_problems(section)
            if problems:
                self.expand(section)
            if self.forms[section].is_showing(self._model.parameters(section)):
                self.forms[section].show_problems(problems)
