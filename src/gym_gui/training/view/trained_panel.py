"""TrainedPanel: the tab *Use trained*: an agent and its saved policies.

The chosen policy becomes the active actor of the session panel.
"""

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.training.model.trained_policies import TrainedPolicies
from gym_gui.training.model.training_form import TrainingForm
from gym_gui.training.view.agent_field import AgentCombo
from gym_gui.training.view.policy_delegate import ROW_EMS, PolicyDelegate
from gym_gui.widgets.labels import LabelledField

_MAX_ROWS = 6


class TrainedPanel(QWidget):
    """Shows `TrainedPolicies`. Only the list scrolls."""

    train_requested = Signal()
    """The user wants to train a first policy."""

    def __init__(
        self,
        model: TrainedPolicies,
        form: TrainingForm,
        theme: ThemeModel,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self._form = form
        self.setAccessibleName("Trained policies")
        self.agent = AgentCombo(form, theme)
        self._count = QLabel()
        self.list = _PolicyList(model, theme)
        self._empty = QFrame()
        self._title = QLabel()
        self._text = QLabel()
        self.action = QPushButton()
        self._build()
        self.list.chosen.connect(model.choose)
        self.action.clicked.connect(self._on_action)
        model.changed.connect(self._show)
        form.agent_changed.connect(self._show)
        self._show()

    def _build(self) -> None:
        em = self.fontMetrics().height()
        self._count.setProperty("role", "caption")
        self._count.setBuddy(self.list)
        self._empty.setProperty("role", "card")
        self._title.setProperty("role", "heading")
        self._text.setProperty("role", "muted")
        for label in (self._count, self._title, self._text):
            label.setWordWrap(True)
        empty_layout = QVBoxLayout(self._empty)
        empty_layout.setContentsMargins(em * 3 // 4, em // 2, em * 3 // 4, em * 3 // 4)
        empty_layout.setSpacing(em // 2)
        empty_layout.addWidget(self._title)
        empty_layout.addWidget(self._text)
        button = QHBoxLayout()
        button.addWidget(self.action)
        button.addStretch(1)
        empty_layout.addLayout(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(em // 2)
        layout.addWidget(LabelledField("Agent", self.agent))
        layout.addWidget(self._count)
        layout.addWidget(self.list)
        layout.addWidget(self._empty)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        super().showEvent(event)
        self._model.set_watched(True)

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        super().hideEvent(event)
        self._model.set_watched(False)

    def _show(self) -> None:
        count = len(self._model.policies)
        self.list.setVisible(count > 0)
        self.list.updateGeometry()
        env_id = self._form.target.env_id
        noun = "policy" if count == 1 else "policies"
        self._count.setText(f"{count:,} saved {noun} for {env_id}, newest first")
        self._count.setVisible(count > 0)
        self._empty.setVisible(count == 0)
        if count == 0:
            self._show_empty_reason()

    def _show_empty_reason(self) -> None:
        agent, problem = self._form.agent, self._model.problem
        if problem is not None:
            self._show_empty(
                "Policies unavailable", f"{problem.message} {problem.remedy}", "Try again"
            )
        elif agent is None and self._form.catalog.problem is not None:
            problem = self._form.catalog.problem
            text = f"{problem.message} {problem.remedy}"
            self._show_empty("Workers unavailable", text, "Try again")
        elif agent is None and self._form.catalog.is_known:
            self._show_empty("No agent", "No worker can train.", "")
        elif agent is None or not self._model.is_known:
            self._show_empty("Loading policies", "Loading the saved policies from the daemon.", "")
        elif not agent.can_play:
            self._show_empty(
                "Play not supported",
                f"{agent.worker.label} cannot play its policies. Select another agent.",
                "",
            )
        else:
            env_id = self._form.target.env_id
            self._show_empty(
                "No policies",
                f"{agent.label} has no saved policy for {env_id}. Train one; its checkpoints are"
                " listed here during training.",
                "Train new",
            )

    def _show_empty(self, title: str, text: str, action: str) -> None:
        self._title.setText(title)
        self._text.setText(text.strip())
        self.action.setText(action)
        self.action.setVisible(bool(action))

    def _on_action(self) -> None:
        if self.action.text() == "Train new":
            self.train_requested.emit()
            return
        self._form.catalog.refresh()
        self._model.refresh()


class _PolicyList(QListView):
    """As high as its rows, up to a maximum. Enter and Space choose the current row."""

    chosen = Signal(int)

    def __init__(self, model: TrainedPolicies, theme: ThemeModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setItemDelegate(PolicyDelegate(theme, self))
        self.setAccessibleName("Saved policies")
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._choose)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        em = self.fontMetrics().height()
        rows = max(1, min(self.model().rowCount(), _MAX_ROWS))
        return QSize(em * 12, round(em * ROW_EMS) * rows + 2 * self.frameWidth() + 2)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        return QSize(self.fontMetrics().height() * 8, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _choose(self, index: QModelIndex) -> None:
        if index.isValid() and index.flags() & Qt.ItemFlag.ItemIsEnabled:
            self.chosen.emit(index.row())
