"""Trainer: operates the training dock by mouse and keyboard."""

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
    """Waits only for what is visible on the screen."""

    person: Person

    def open_form(self) -> None:
        """Open the tab *Train new*."""
        panel = self.person.bench.session_panel
        self.person.click_on("Agent", panel)
        self.person.click_on("Train new", panel.training_area)
        self.person.wait(lambda: panel.findChildren(TrainingPanel))
        self.wait_for_form()

    @property
    def dock(self) -> TrainingPanel:
        return self.person.bench.session_panel.findChildren(TrainingPanel)[0]

    def choose_environment(self, env_id: str) -> None:
        """Search in the picker, then click the match."""
        field = self.person.bench.session_panel.findChildren(EnvironmentField)[0]
        self.person.click(field)
        picker = field.findChildren(EnvironmentPicker)[0]
        assert picker.isVisible()
        (search,) = picker.findChildren(QLineEdit)
        self.person.write(env_id, search)
        (rows,) = (
            view
            for view in picker.findChildren(QAbstractItemView)
            if view.accessibleName() == "Environments"
        )
        self.person.click(rows.viewport(), rows.visualRect(rows.currentIndex()).center())
        assert not picker.isVisible()
        assert env_id in field.toolTip()
        self.wait_for_form()

    def choose_agent(self, label: str) -> None:
        """Select it in the combo box."""
        combo = self.dock.agent.combo
        self.person.click(combo)
        rows = [combo.itemText(row) for row in range(combo.count())]
        assert label in rows, rows
        popup = combo.view()
        assert popup.isVisible()
        QTest.keyClick(popup, Qt.Key.Key_Home)
        while popup.currentIndex().row() < rows.index(label):
            QTest.keyClick(popup, Qt.Key.Key_Down)
        QTest.keyClick(popup, Qt.Key.Key_Return)
        assert combo.currentText() == label
        self.wait_for_form()

    def write(self, section: SectionId, name: str, text: str) -> None:
        """Type into a field of the form."""
        self.dock.sections.expand(section)
        self.wait_for_form()
        row = self.dock.sections.forms[section].row(name)
        self.person.write(text, row.findChildren(QLineEdit)[0])

    def launch(self) -> str:
        """Wait until Launch is enabled, launch, and give consent. Returns the id of the run."""
        bar = self.dock.launch_bar
        before = self.person.bench.training.model.run.run
        self.person.wait(bar.launch.isEnabled)
        self.person.click(bar.launch)
        if bar.consent.isVisible():
            self.person.click(bar.consent.allow)
        self.person.wait(lambda: self.person.bench.training.model.run.run is not before)
        run = self.person.bench.training.model.run.run
        assert run is not None
        return run.run_id

    def wait_for_form(self) -> None:
        """Wait for the complete form of the agent."""
        dock = self.dock
        self.person.wait(
            lambda: (
                dock.isVisible() and dock.agent.combo.currentText() and dock.sections.is_finished
            )
        )

    def badge(self) -> str:
        """Text of the badge of the current run."""
        return self.dock.launch_bar.run_card.findChildren(Badge)[0].text()

    def run_texts(self) -> list[str]:
        """Visible texts of the run card."""
        return self.person.words(self.dock.launch_bar.run_card)

    def notes(self) -> str:
        """Text of the notes, with the title of the newest first."""
        notes = self.dock.notes
        (title,) = (label.text() for label in notes.findChildren(QLabel))
        return f"{title}\n{notes.text.toPlainText()}"
