"""TrainingDriver: operates the training dock by mouse and keyboard."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractItemView, QLabel, QLineEdit

from gym_gui.session.view.environment_field import EnvironmentField
from gym_gui.session.view.environment_picker import EnvironmentPicker
from gym_gui.training.model.training_fields import SectionId
from gym_gui.training.view.training_panel import TrainingPanel
from gym_gui.widgets.badge import Badge
from tests.gym_gui.end_to_end.window_driver import WindowDriver


@dataclass(frozen=True, slots=True)
class TrainingDriver:
    """Waits only for what is visible on the screen."""

    driver: WindowDriver

    def open_form(self) -> None:
        """Open the tab *Train new*."""
        panel = self.driver.context.session_panel
        self.driver.click_on("Agent", panel)
        self.driver.click_on("Train new", panel.training_area)
        self.driver.wait(lambda: panel.findChildren(TrainingPanel))
        self.wait_for_form()

    @property
    def dock(self) -> TrainingPanel:
        return self.driver.context.session_panel.findChildren(TrainingPanel)[0]

    def select_environment(self, env_id: str) -> None:
        """Search in the picker, then click the match."""
        field = self.driver.context.session_panel.findChildren(EnvironmentField)[0]
        self.driver.click(field)
        picker = field.findChildren(EnvironmentPicker)[0]
        assert picker.isVisible()
        (search,) = picker.findChildren(QLineEdit)
        self.driver.write(env_id, search)
        (rows,) = (
            view
            for view in picker.findChildren(QAbstractItemView)
            if view.accessibleName() == "Environments"
        )
        self.driver.click(rows.viewport(), rows.visualRect(rows.currentIndex()).center())
        assert not picker.isVisible()
        assert env_id in field.toolTip()
        self.wait_for_form()

    def select_agent(self, label: str) -> None:
        """Select it in the combo box."""
        combo = self.dock.agent.combo
        self.driver.click(combo)
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
        self.driver.write(text, row.findChildren(QLineEdit)[0])

    def launch(self) -> str:
        """Wait until Launch is enabled, launch, and give consent. Returns the id of the run."""
        bar = self.dock.launch_bar
        before = self.driver.context.training.model.run.run
        self.driver.wait(bar.launch.isEnabled)
        self.driver.click(bar.launch)
        if bar.consent.isVisible():
            self.driver.click(bar.consent.allow)
        self.driver.wait(lambda: self.driver.context.training.model.run.run is not before)
        run = self.driver.context.training.model.run.run
        assert run is not None
        return run.run_id

    def wait_for_form(self) -> None:
        """Wait for the complete form of the agent."""
        dock = self.dock
        self.driver.wait(
            lambda: (
                dock.isVisible() and dock.agent.combo.currentText() and dock.sections.is_finished
            )
        )

    def badge(self) -> str:
        """Text of the badge of the current run."""
        return self.dock.launch_bar.run_card.findChildren(Badge)[0].text()

    def run_card_texts(self) -> list[str]:
        """Visible texts of the run card."""
        return self.driver.texts(self.dock.launch_bar.run_card)

    def notes(self) -> str:
        """Text of the notes, with the title of the newest first."""
        notes = self.dock.notes
        (title,) = (label.text() for label in notes.findChildren(QLabel))
        return f"{title}\n{notes.text.toPlainText()}"
