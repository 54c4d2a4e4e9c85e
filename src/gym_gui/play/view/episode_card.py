"""EpisodeCard: how the episode ended, what it was worth, and how to go on."""

from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.score_line import number_text
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.icons import keep_icon
from gym_gui.widgets.set_disabled_reason import set_disabled_reason

_WIDEST = "The episode is over Return -0000.00, seed 0000000000"


class EpisodeCard(QWidget):
    """Takes the place of the key hints, which have nothing to do until the next episode."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._outcome = Badge("", "plain", theme)
        self._facts = QLabel()
        self._again = QPushButton("Again (Enter)")
        self._again.setAccessibleName("Again with the same seed")
        self._again.setProperty("role", "primary")
        self._again.setToolTip("The same episode from its start: the same seed")
        keep_icon(self._again, "reset", theme, "on_accent")
        self._again.clicked.connect(model.play_again)
        self._next = QPushButton("New episode (R)")
        self._next.setAccessibleName("New episode")
        self._next.setToolTip("With another seed")
        keep_icon(self._next, "dice", theme)
        self._next.clicked.connect(model.begin_new_episode)
        words = QWidget()
        row = QHBoxLayout(words)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(line // 2)
        row.addWidget(self._outcome)
        row.addWidget(self._facts)
        row.addStretch(1)
        # As wide for every end, so that the view above does not change its size with it.
        words.setMinimumWidth(self.fontMetrics().horizontalAdvance(_WIDEST) + line * 2)
        layout = FlowLayout(self, gap=line // 2)
        for widget in (words, self._again, self._next):
            layout.addWidget(widget)
        model.changed.connect(self._show_end)
        self._show_end()

    def _show_end(self) -> None:
        model = self._model
        if not model.is_over:
            return
        score = model.score
        steps = f"{score.steps} step{'' if score.steps == 1 else 's'}"
        facts = f"Return <b>{number_text(score.total_return)}</b>"
        if score.seed is not None:
            facts += f", seed {score.seed}"
        self._outcome.show_text(model.outcome, model.outcome_tone)
        self._facts.setText(facts)
        over = "" if model.is_playing else "The session is over."
        set_disabled_reason(
            self._again, over or ("" if score.seed is not None else "Its seed is not known.")
        )
        set_disabled_reason(self._next, over)
        self._next.setText(f"New episode ({model.keys.cap('reset')})")
        self.setAccessibleName(f"{model.outcome}, return {score.total_return:g} in {steps}")
        self.updateGeometry()
