"""Appearance: theme, pictures, layout."""

from typing import cast

from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget

from gym_gui.runtime.models.theme_model import ThemeChoice, ThemeModel
from gym_gui.settings.model.settings_model import THEMES, SettingsModel
from gym_gui.settings.view.field_row import FieldRow
from gym_gui.settings.view.section_frame import SectionFrame
from gym_gui.widgets.segmented import SegmentedControl


class AppearanceSection(SectionFrame):
    def __init__(
        self, model: SettingsModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__("Appearance", parent=parent)
        self._model = model
        self._theme_choice = SegmentedControl(THEMES, theme)
        self._theme_choice.chosen.connect(
            lambda chosen: model.choose_theme(cast("ThemeChoice", chosen))
        )
        self.add(
            FieldRow(
                "Theme", self._theme_choice, "System follows the desktop, also when it changes."
            )
        )
        self._scaling = QCheckBox("Whole multiples only")
        self._scaling.clicked.connect(model.set_integer_scaling)
        self.add(
            FieldRow(
                "Pictures",
                self._scaling,
                "Pixels of pictures stay sharp squares; off, pictures fill all the room there is.",
            )
        )
        self._embedded = QCheckBox("Open inside this window")
        self._embedded.clicked.connect(model.dashboards.choose)
        self._embedded.setEnabled(not model.dashboards.why_not)
        self._embedded.setToolTip(model.dashboards.why_not)
        self.add(
            FieldRow(
                "Dashboards",
                self._embedded,
                model.dashboards.why_not
                or "Pages of TensorBoard and W&&B; off, they open in the browser.",
            )
        )
        reset = QPushButton("Reset layout")
        reset.clicked.connect(model.reset_layout)
        self.add(FieldRow("Layout", reset, "Puts all panels back to where they were at first."))
        model.changed.connect(self._show)
        model.dashboards.changed.connect(self._show)
        theme.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        self._theme_choice.choose(self._model.theme_choice)
        self._scaling.setChecked(self._model.integer_scaling)
        self._embedded.setChecked(self._model.dashboards.is_on)
