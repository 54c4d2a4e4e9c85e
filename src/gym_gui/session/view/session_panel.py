"""SessionPanel: the left dock: mode, environment, seed, actor, settings, help, and Play.

In Hybrid and Agent mode it also contains the training pages that `training` creates.
"""

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.session.view.actor_field import ActorField
from gym_gui.session.view.environment_field import EnvironmentField, EnvironmentHelp
from gym_gui.session.view.session_buttons import SessionButtons
from gym_gui.session.view.start_fields import SeedField, SpeedField
from gym_gui.session.view.training_area import TrainingArea, TrainingPages
from gym_gui.widgets.buttons import SegmentedControl
from gym_gui.widgets.forms.parameter_form import ParameterForm
from gym_gui.widgets.labels import LabelledField
from gym_gui.widgets.section import Section

_MIN_WIDTH_EMS = 18
_TITLES = {"desc": "Custom map"}
_MODES = (
    ("human", "Human", "You act."),
    ("hybrid", "Hybrid", "An agent acts; you can take over."),
    ("agent", "Agent", "An agent acts; you watch."),
)


class SessionPanel(QWidget):
    """Play stays visible, the rest scrolls. Shows `SessionPanelModel`."""

    def __init__(
        self,
        model: SessionPanelModel,
        theme: ThemeModel,
        training: TrainingPages | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.setAccessibleName("Session")
        self._page = QWidget()
        self._scroll = QScrollArea()
        self._mode = SegmentedControl([(mode, text) for mode, text, _ in _MODES], theme)
        self._mode_help = QLabel()
        self._environment = EnvironmentField(model.environments, theme)
        self._needs = QLabel()
        self._start = QWidget()
        self._seed = SeedField(model.choice, theme)
        self._speed = SpeedField(model.choice)
        self._form = ParameterForm(theme)
        self._next_episode_hint = QLabel("Takes effect at the next episode.")
        self.training_area = TrainingArea(model, training, theme)
        self._actor = ActorField(model, theme)
        self._help = EnvironmentHelp(theme)
        self.buttons = SessionButtons(model, theme)
        self._was_training = False
        self._configuration = Section("Game configuration", self._configuration_section(), theme)
        self._about = Section("About this environment", self._help, theme)
        self._build(theme)
        self._mode.activated.connect(model.set_mode)
        self._environment.chosen.connect(model.choice.choose)
        self._form.changed.connect(self._on_form_changed)
        self._form.finished.connect(self._show_page_soon)
        model.choice.environment_changed.connect(lambda _: self._show_environment())
        model.choice.values_changed.connect(self._show_values)
        model.environments.modelReset.connect(self._show_needs)
        model.changed.connect(self._show)
        self._show_environment()
        self._show()

    def open_environment_picker(self) -> None:
        """For the command table."""
        self._environment.open_picker()

    def focus_environment(self) -> None:
        """Focus the environment field."""
        self._environment.setFocus(Qt.FocusReason.OtherFocusReason)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        em = self.fontMetrics().height()
        return QSize(em * 21, em * 50)

    def _build(self, theme: ThemeModel) -> None:
        em = self.fontMetrics().height()
        edge = em * 3 // 4
        self._mode.setAccessibleName("Mode")
        self._mode_help.setProperty("role", "caption")
        self._mode_help.setWordWrap(True)
        self._needs.setWordWrap(True)
        self._needs.setProperty("tone", "warning")
        for mode, _, tip in _MODES:
            self._mode.set_option_tool_tip(mode, tip)
        start = QHBoxLayout(self._start)
        start.setContentsMargins(0, 0, 0, 0)
        start.setSpacing(em // 2)
        start.addWidget(LabelledField("Seed", self._seed), 4)
        start.addWidget(LabelledField("Speed", self._speed), 2)
        page = self._page
        page_layout = QVBoxLayout(page)
        page_layout.setContentsMargins(edge, edge, edge, edge)
        page_layout.setSpacing(edge)
        top = QVBoxLayout()
        top.setSpacing(em // 3)
        top.addWidget(self._mode)
        top.addWidget(self._mode_help)
        page_layout.addLayout(top)
        page_layout.addWidget(self.training_area)
        page_layout.addWidget(LabelledField("Environment", self._environment))
        page_layout.addWidget(self._needs)
        page_layout.addWidget(self._start)
        page_layout.addWidget(self.training_area.trained)
        page_layout.addWidget(self._actor)
        page_layout.addWidget(self._configuration)
        page_layout.addWidget(self.training_area.new)
        page_layout.addWidget(self._about)
        page_layout.addStretch(1)
        scroll = self._scroll
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        footer = _Footer(theme)
        footer_layout = QVBoxLayout(footer)
        footer_layout.setContentsMargins(edge, em // 2, edge, edge)
        footer_layout.addWidget(self.buttons)
        footer_layout.addWidget(self.training_area.footer)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(scroll, 1)
        layout.addWidget(footer)
        self.setMinimumWidth(em * _MIN_WIDTH_EMS)

    def _configuration_section(self) -> QWidget:
        section = QWidget()
        layout = QVBoxLayout(section)
        layout.setContentsMargins(0, 0, 0, 0)
        self._next_episode_hint.setProperty("role", "caption")
        layout.addWidget(self._next_episode_hint)
        layout.addWidget(self._form)
        return section

    def _on_form_changed(self) -> None:
        self._model.choice.set_values(self._form.values())

    def _show(self) -> None:
        model = self._model
        self._mode.set_current(model.mode)
        self._mode_help.setText(next(tip for mode, _, tip in _MODES if mode == model.mode))
        is_human = model.mode == "human"
        self.training_area.refresh()
        trains = self.training_area.trains
        for widget in (self._start, self._actor, self._about):
            widget.setVisible(not trains)
        self.buttons.set_compact(trains)
        self._show_needs()
        if trains != self._was_training:
            # In training, fold the game configuration so the agent comes first.
            self._was_training = trains
            self._scroll.verticalScrollBar().setValue(0)
            self._configuration.set_open(not trains)
        self._speed.set_waits_for_user(is_human and model.choice.entry.turn_based)
        self._next_episode_hint.setVisible(model.plays_selected_environment)

    def _show_needs(self) -> None:
        needs = self._model.needs
        self._needs.setText(needs)
        # For a training run, preflight reports missing packages.
        self._needs.setVisible(bool(needs) and not self.training_area.trains)

    def _show_environment(self) -> None:
        entry = self._model.choice.entry
        self._environment.show_environment(entry)
        self._show_needs()
        # Do not paint a partial form: the previous one stays until this one is complete.
        self._page.setUpdatesEnabled(not self.isVisible())
        QTimer.singleShot(0, self, self._show_details)

    def _show_details(self) -> None:
        """Build the slow widgets one event-loop turn later."""
        choice = self._model.choice
        entry = choice.entry
        self._help.show_environment(entry)
        self._configuration.setVisible(bool(entry.fields))
        self._form.show_parameters(
            entry.fields,
            choice.values,
            long_texts=(entry.map_field,) if entry.map_field else (),
            titles=_TITLES,
            shown_when=entry.shown_when,
        )
        self._form.show_problems(choice.problems)
        if self._form.is_finished:
            self._show_page_soon()

    def _show_page_soon(self) -> None:
        """One event-loop turn later, when the layout is final."""
        QTimer.singleShot(0, self, lambda: self._page.setUpdatesEnabled(self._form.is_finished))

    def _show_values(self) -> None:
        choice = self._model.choice
        if self._form.values() != choice.values and self._form.is_showing(choice.entry.fields):
            self._form.show_parameters(choice.entry.fields, choice.values)
        self._form.show_problems(choice.problems)


class _Footer(QWidget):
    """A line separates it from the scrolling content."""

    def __init__(self, theme: ThemeModel) -> None:
        super().__init__()
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), 1, QColor(self._theme.colours.line))
        painter.end()
