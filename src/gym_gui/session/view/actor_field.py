"""ActorField: combo box of the actors, and a card with the selected one and its availability.

Each row of the open combo box has the description of the actor, or why it is unavailable.
"""

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
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
from gym_gui.widgets.icons import IconName, draw_icon
from gym_gui.widgets.labels import LabelledField

_POPUP_EMS = 30
_MARK_EMS = 1.3
_LEFT_EMS = 2.5
_LINE_EMS = 1.2
_MAX_LINES = 3
_TOP_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop


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
        self.setItemDelegate(_ActorDelegate(theme, self))
        self.setMaxVisibleItems(12)
        self.view().setMinimumWidth(self.fontMetrics().height() * _POPUP_EMS)
        ignore_wheel_without_focus(self)

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        self.about_to_open.emit()
        super().showPopup()


class _ActorDelegate(QStyledItemDelegate):
    """Paints an actor with its description, or the reason why it is unavailable."""

    def __init__(self, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        em = option.fontMetrics.height()
        text_width = round(em * (_POPUP_EMS - _LEFT_EMS - 2))
        lines = 1 + _lines(_detail_text(index.data(ACTOR_ROLE)), option.fontMetrics, text_width)
        return QSize(em * _POPUP_EMS, round(em * (lines * _LINE_EMS + 0.8)))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        actor: ActorDescriptor = index.data(ACTOR_ROLE)
        colours = self._theme.colours
        em = option.fontMetrics.height()
        box = option.rect.adjusted(2, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if actor.is_available and option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selection))
            painter.drawRoundedRect(QRectF(box), 4, 4)
        ink = colours.text if actor.is_available else colours.muted
        mark: IconName = "person" if actor.id == HUMAN else "robot"
        side = em * _MARK_EMS
        draw_icon(
            painter, mark, ink, QRectF(box.left() + em * 0.5, box.top() + em * 0.4, side, side)
        )
        top = box.top() + round(em * 0.35)
        left = box.left() + round(em * _LEFT_EMS)
        line = round(em * _LINE_EMS)
        first = QRect(left, top, box.right() - left - em // 2, line)
        bold = QFont(option.font)
        bold.setBold(True)
        painter.setFont(bold)
        painter.setPen(QColor(ink))
        name = QFontMetrics(bold).elidedText(
            actor.label, Qt.TextElideMode.ElideRight, first.width()
        )
        painter.drawText(first, _TOP_LEFT, name)
        painter.setFont(option.font)
        painter.setPen(QColor(colours.muted if actor.is_available else colours.warning))
        below = QRect(left, top + line, first.width(), box.bottom() - top - line)
        painter.drawText(below, _TOP_LEFT | Qt.TextFlag.TextWordWrap, _detail_text(actor))
        painter.restore()


def _detail_text(actor: ActorDescriptor) -> str:
    return reason_of(actor) or actor.description


def _lines(text: str, metrics: QFontMetrics, width: int) -> int:
    bounds = metrics.boundingRect(QRect(0, 0, width, 10_000), Qt.TextFlag.TextWordWrap, text)
    return max(1, min(_MAX_LINES, round(bounds.height() / metrics.lineSpacing())))
