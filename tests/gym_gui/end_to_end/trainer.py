"""Trainer: a person at the training dock, who chooses, writes and launches there."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit

from gym_gui.session.view.environment_field import EnvironmentField
from gym_gui.session.view.environment_picker import EnvironmentPicker
from gym_gui.training.model.training_fields import SectionId
from gym_gui.training.view.training_panel import TrainingPanel
from gym_gui.widgets.badge import Badge
from tests.gym_gui.end_to_end.person import Person


@dataclass(frozen=True, slots=True)
class Trainer:
    """Everything by clicks and keys; what is waited for is on the screen."""

    person: Person

    def begin(self) -> None:
        """From whatever the window shows to the form of *Train new*."""
        panel = self.person.bench.session_panel
        self.person.click_on("Agent", panel)
        self.person.click_on("Train new", panel.training_area)
        self.person.wait(lambda: panel.findChildren(TrainingPanel))
        self.wait_for_form()

    @property
    def dock(self) -> TrainingPanel:
        return self.person.bench.session_panel.findChildren(TrainingPanel)[0]

    def choose_environment(self, env_id: str) -> None:
        """In the picker: search, then a click on what was found."""
        field = self.person.bench.session_panel.findChildren(EnvironmentField)[0]
        self.person.click(field)
        picker = field.findChildren(EnvironmentPicker)[0]
        assert picker.isVisible()
        (search,) = picker.findChildren(QLineEdit)
        self.person.write(env_id, search)
        (found,) = (
            each
            for each in picker.findChildren(QAbstractItemView)
            if each.accessibleName() == "Environments"
        )
        self.person.click(found.viewport(), found.visualRect(found.currentIndex()).center())
        assert not picker.isVisible()
        assert env_id in field.toolTip()
        self.wait_for_form()

    def choose_agent(self, label: str) -> None:
        """In the list that drops down."""
        combo = self.dock.agent.combo
        self.person.click(combo)
        rows = [combo.itemText(row) for row in range(combo.count())]
        assert label in rows, rows
        listed = combo.view()
        assert listed.isVisible()
        QTest.keyClick(listed, Qt.Key.Key_Home)
        while listed.currentIndex().row() < rows.index(label):
            QTest.keyClick(listed, Qt.Key.Key_Down)
        QTest.keyClick(listed, Qt.Key.Key_Return)
        assert combo.currentText() == label
        self.wait_for_form()

    def write(self, section: SectionId, name: str, text: str) -> None:
        """Into a field of the form."""
        self.dock.sections.unfold(section)
        self.wait_for_form()
        row = self.dock.sections.forms[section].row(name)
        self.person.write(text, row.findChildren(QLineEdit)[0])

    def launch(self) -> str:
        """As soon as nothing keeps it from starting; a worker that asks is allowed to. Its id."""
        foot = self.dock.foot
        before = self.person.bench.training.model.run.run
        self.person.wait(foot.launch.isEnabled)
        self.person.click(foot.launch)
        if foot.consent.isVisible():
            self.person.click(foot.consent.allow)
        self.person.wait(lambda: self.person.bench.training.model.run.run is not before)
        run = self.person.bench.training.model.run.run
        assert run is not None
        return run.run_id

    def wait_for_form(self) -> None:
        """Of the agent, once the daemon has said which ones there are."""
        dock = self.dock
        self.person.wait(
            lambda: (
                dock.isVisible() and dock.agent.combo.currentText() and dock.sections.is_finished
            )
        )

    def badge(self) -> str:
        """Of the current run."""
        return self.dock.foot.run_card.findChildren(Badge)[0].text()

    def told_of_run(self) -> list[str]:
        """What stands in its card."""
        return self.person.words(self.dock.foot.run_card)

    def notes(self) -> str:
        """What stands in the notes, verdict first."""
        notes = self.dock.notes
        (verdict,) = (each.text() for each in notes.findChildren(QLabel))
        return f"{verdict}\n{notes.text.toPlainText()}"
