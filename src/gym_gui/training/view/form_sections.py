"""FormSections: the fields of a draft, section by section, made a few at a time.

The panel places the sections in one column or in two; values and problems go by way of the model.
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
from gym_gui.widgets.forms.parameter_row import has_words
from gym_gui.widgets.section import Section

_HEADINGS: dict[SectionId, tuple[str, bool]] = {
    "params": ("Parameters", True),
    "more_params": ("More parameters", False),
    "artifacts": ("Artifacts", True),
    "tracking": ("Weights & Biases", False),
    "extras": ("Extra packages", False),
    "about": ("Name, tags and notes", False),
}
_MANY = 12
_EXTRA_TITLES = {"wandb": "Weights and Biases", "video": "Video files"}


class FormSections(QObject):
    """One form after the other, so that no turn of the event loop takes long; a folded one when it
    is unfolded."""

    begun = Signal()
    finished = Signal()
    """All fields that are in sight are there."""

    def __init__(self, model: TrainingForm, theme: ThemeModel, parent: QObject) -> None:
        super().__init__(parent)
        self._model = model
        self._waiting: list[SectionId] = []
        self._begun: SectionId | None = None
        self._words: list[str] = []
        self._folded_before: frozenset[SectionId] = frozenset()
        self.forms: dict[SectionId, ParameterForm] = {}
        self.widgets: dict[SectionId, QWidget] = {}
        for section in SECTIONS:
            form = ParameterForm(theme, has_search=False)
            self.forms[section] = form
            self.widgets[section] = self._framed(section, form, theme)
            form.changed.connect(lambda section=section: self._on_edited(section))
        model.draft_changed.connect(self._show_values)
        model.problems_changed.connect(self._show_problems)
        model.document_changed.connect(self._renew_extras)

    def show_agent(self) -> None:
        """Begin to build what the agent asks for."""
        if self._model.draft.of("tracking").get("wandb"):
            self.unfold("tracking")
        for section in SECTIONS:
            self.widgets[section].setVisible(self._is_found(section))
        self._build([section for section in SECTIONS if self._is_unfolded(section)])

    def search(self, text: str) -> bool:
        """Only what has the words is in sight, also of folded sections. Returns whether any has."""
        if not self._words:
            self._folded_before = frozenset(
                section for section in SECTIONS if not self._is_unfolded(section)
            )
        self._words = text.lower().split()
        for section in SECTIONS:
            is_found = self._is_found(section)
            self.forms[section].search(text)
            self.widgets[section].setVisible(is_found)
            frame = self.widgets[section]
            if isinstance(frame, Section) and section in self._folded_before:
                frame.set_open(bool(self._words) and is_found)
        return any(self._is_found(section) for section in SECTIONS)

    @property
    def is_long(self) -> bool:
        """Whether there is enough to search in."""
        return sum(len(self._model.parameters(section)) for section in SECTIONS) >= _MANY

    def _is_found(self, section: SectionId) -> bool:
        titles = TITLES | (_EXTRA_TITLES if section == "extras" else {})
        return any(
            has_words(parameter, titles.get(parameter.name, ""), self._words)
            for parameter in self._model.parameters(section)
        )

    @property
    def is_finished(self) -> bool:
        return not self._waiting

    def unfold(self, section: SectionId) -> None:
        frame = self.widgets[section]
        if isinstance(frame, Section):
            frame.set_open(True)

    def _framed(self, section: SectionId, form: ParameterForm, theme: ThemeModel) -> QWidget:
        if section not in _HEADINGS:
            return form
        title, is_open = _HEADINGS[section]
        framed = Section(title, form, theme, is_open=is_open)
        framed.toggled.connect(lambda is_open: self._on_folded(section, is_open=is_open))
        return framed

    def _is_unfolded(self, section: SectionId) -> bool:
        frame = self.widgets[section]
        return not isinstance(frame, Section) or frame.is_open

    def _build(self, sections: Sequence[SectionId]) -> None:
        is_at_work = bool(self._waiting)
        self._waiting = [*sections]
        self._begun = None
        if not is_at_work and sections:
            self.begun.emit()
            QTimer.singleShot(0, self, self._go_on)

    def _go_on(self) -> None:
        """One small thing per turn. A form is hidden while its rows are made: each row that comes
        into sight would lay out the whole dock again."""
        section = self._waiting[0]
        form = self.forms[section]
        if self._begun != section and form.is_finished:
            self._begun = section
            if not form.shows(self._model.parameters(section)):
                form.setVisible(False)
            self._fill(section)
        elif form.is_finished:
            form.setVisible(self._is_unfolded(section) and bool(self._model.parameters(section)))
            self._waiting.remove(section)
        for widget in form.findChildren(QWidget):
            widget.ensurePolished()
        if self._waiting:
            QTimer.singleShot(0, self, self._go_on)
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

    def _on_folded(self, section: SectionId, *, is_open: bool) -> None:
        if is_open and section not in self._waiting:
            self._build([*self._waiting, section])

    def _on_edited(self, section: SectionId) -> None:
        self._model.set_values(section, self.forms[section].values())

    def _show_values(self) -> None:
        for section in SECTIONS:
            is_to_come = section in self._waiting and section != self._begun
            if not is_to_come and self._is_unfolded(section):
                self._fill(section)

    def _renew_extras(self) -> None:
        """Which of them are on by themselves depends on the other sections."""
        parameters = self._model.parameters("extras")
        is_stale = bool(parameters) and not self.forms["extras"].shows(parameters)
        if is_stale and self._is_unfolded("extras") and "extras" not in self._waiting:
            self._build([*self._waiting, "extras"])

    def _show_problems(self) -> None:
        for section in SECTIONS:
            problems = self._model.section_problems(section)
            if problems:
                self.unfold(section)
            if self.forms[section].shows(self._model.parameters(section)):
                self.forms[section].show_problems(problems)
