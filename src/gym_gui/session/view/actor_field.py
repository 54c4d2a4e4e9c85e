"""ActorField: combo box of the actors, and a card with the selected one and its availability.

Each row of the open combo box has the description of the actor, or why it is unavailable.
"""

from PySide6.QtCore import (
    Qt,
    Signal,
)
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.actors_model import (
    ACTOR_ROLE,
    HUMAN,
    ActorDescriptor,
    ActorsModel,
    reason_of,
)
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.forms.editors import ignore_wheel_without_focus
from gym_gui.widgets.icons import IconName
from gym_gui.widgets.labels import LabelledField
from gym_gui.widgets.title_detail_delegate import Index, TitleDetail, TitleDetailDelegate

_POPUP_EMS = 30


class ActorField(QWidget):
    """Shows `SessionPanelModel.actors`. Disabled in Human mode."""

    def __init__(
        self, model: SessionPanelModel, theme: ThemeModel, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.combo = _ActorCombo(model.actors, theme)
        self._card = QFrame()
        self._name = QLabel()
        self._badge = Badge("", "plain", theme)
        self._description = QLabel()
        self._reason = QLabel()
        self._build()
        self.combo.activated.connect(self._on_activated)
        self.combo.about_to_open.connect(model.refresh_actors)
        model.changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self._card.setProperty("role", "card")
        self._name.setProperty("role", "heading")
        self._description.setProperty("role", "muted")
        self._reason.setProperty("tone", "warning")
        for label in (self._name, self._description, self._reason):
            label.setWordWrap(True)
        head = QHBoxLayout()
        head.setSpacing(em // 2)
        head.addWidget(self._name, 1)
        head.addWidget(self._badge, 0, Qt.AlignmentFlag.AlignTop)
        inside = QVBoxLayout(self._card)
        inside.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em // 2)
        inside.setSpacing(em // 3)
        inside.addLayout(head)
        inside.addWidget(self._description)
        inside.addWidget(self._reason)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(LabelledField("Active actor", self.combo))
        layout.addWidget(self._card)

    def _on_activated(self, row: int) -> None:
        actor = self._model.actors.actor_at(row)
        if actor is not None:
            self._model.choose_actor(actor.id)
        self._show()

    def _show(self) -> None:
        model = self._model
        is_human = model.mode == "human"
        self.combo.setCurrentIndex(model.actors.row_of(model.actor_id))
        self.combo.setEnabled(not is_human)
        self.combo.setToolTip(
            "In Human mode you act. Select Hybrid or Agent to use another actor."
            if is_human
            else "Actor of the next session; saved per environment"
        )
        actor = model.actor
        if actor is None:
            self._show_no_actor()
            return
        self.combo.setPlaceholderText("")
        self._name.setText(actor.label)
        self._description.setText(actor.description)
        self._description.setVisible(bool(actor.description))
        self._reason.setText(reason_of(actor))
        self._reason.setVisible(not actor.is_available)
        self._badge.show_text(
            "ready" if actor.is_available else "not ready",
            "good" if actor.is_available else "warning",
        )
        self._badge.setVisible(True)
        # The mode, or the list of policies, already shows this.
        is_redundant = is_human or actor.source == "checkpoint"
        self._card.setVisible(not (is_redundant and actor.is_available))

    def _show_no_actor(self) -> None:
        """Before the daemon has answered, or when no actor is available."""
        model = self._model
        problem = model.actors.problem
        if model.mode == "human":
            self.combo.setPlaceholderText("Human-Only")
            self._card.setVisible(False)
            return
        has_answer = bool(model.actors.actors) or problem is not None
        self.combo.setPlaceholderText("No actor" if has_answer else "Loading actors")
        self._name.setText("No actor" if has_answer else "Loading actors")
        self._badge.setVisible(False)
        text = "Loading the actors from the daemon."
        if problem is not None:
            text = f"{problem.message} {problem.remedy}"
        elif has_answer:
            text = "No actor is available yet. Train a policy, or play in Human mode."
        self._description.setText(text)
        self._description.setVisible(True)
        self._reason.setVisible(False)
        self._card.setVisible(True)


class _ActorCombo(QComboBox):
    about_to_open = Signal()

    def __init__(self, actors: ActorsModel, theme: ThemeModel) -> None:
        super().__init__()
        self.setModel(actors)
        self.setAccessibleName("Active actor")
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(8)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setItemDelegate(TitleDetailDelegate(_row_content, theme, _POPUP_EMS, self))
        self.setMaxVisibleItems(12)
        self.view().setMinimumWidth(self.fontMetrics().height() * _POPUP_EMS)
        ignore_wheel_without_focus(self)

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self.about_to_open.emit()
        super().showPopup()


def _row_content(index: Index) -> TitleDetail:
    """The actor with its description, or the reason why it is unavailable."""
    actor: ActorDescriptor = index.data(ACTOR_ROLE)
    icon: IconName = "person" if actor.id == HUMAN else "robot"
    if actor.is_available:
        return TitleDetail(actor.label, actor.description, icon=icon)
    return TitleDetail(
        actor.label,
        reason_of(actor),
        is_enabled=False,
        title_role="muted",
        detail_role="warning",
        icon=icon,
    )
