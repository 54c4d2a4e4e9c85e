"""PlayBar: actor, score, key hints and episode result, below the play view."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from gym_gui.play.model.play_model import PlayModel
from gym_gui.play.view.actor_mark import ActorMark
from gym_gui.play.view.key_hints import KeyHints
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.widgets.badge import Badge
from gym_gui.widgets.flow_layout import FlowLayout
from gym_gui.widgets.icons import set_icon
from gym_gui.widgets.labels import SteadyLabel
from gym_gui.widgets.styling import set_disabled_reason

_NONE = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_COLUMNS = (("Episode", "00000"), ("Step", "000000"), ("Return", "-00000.00"), ("Frames/s", "000"))


class ScoreLine(QWidget):
    """Shows `PlayModel.score`; numbers are right-aligned."""

    def __init__(self, model: PlayModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._values: list[SteadyLabel] = []
        line = self.fontMetrics().height()
        self._titles: list[QLabel] = []
        self._is_one_line = False
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(line)
        self._grid.setVerticalSpacing(0)
        for column, (name, widest) in enumerate(_COLUMNS):
            title, value = QLabel(name), SteadyLabel(widest)
            title.setProperty("role", "caption")
            value.setAccessibleName(name)
            self._titles.append(title)
            self._values.append(value)
            self._add_to_grid(column)
        model.changed.connect(self._show_score)
        self._show_score()

    def set_one_line(self, is_one_line: bool) -> None:
        """Put the titles beside the numbers instead of above them."""
        if is_one_line != self._is_one_line:
            self._is_one_line = is_one_line
            line = self.fontMetrics().height()
            self._grid.setHorizontalSpacing(line // 2 if is_one_line else line)
            for column in range(len(_COLUMNS)):
                self._add_to_grid(column)
            self._grid.setColumnStretch(2 * len(_COLUMNS), 1 if is_one_line else 0)

    def _add_to_grid(self, column: int) -> None:
        title, value = self._titles[column], self._values[column]
        side = Qt.AlignmentFlag.AlignLeft if self._is_one_line else Qt.AlignmentFlag.AlignRight
        for at, label in enumerate((title, value)):
            self._grid.removeWidget(label)
            label.setAlignment(side | Qt.AlignmentFlag.AlignVCenter)
            row, beside = (0, 2 * column + at) if self._is_one_line else (at, column)
            self._grid.addWidget(label, row, beside, side | Qt.AlignmentFlag.AlignVCenter)

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(value.text() for value in self._values)

    def _show_score(self) -> None:
        model = self._model
        score = model.score
        known = bool(score.episode_id)
        ordinal = "" if score.ordinal is None else str(score.ordinal)
        steps = max(score.steps, model.step_view.step + 1)
        texts = (
            ordinal if known else _NONE,
            str(steps) if known else _NONE,
            number_text(score.total_return) if known else _NONE,
            str(model.fps) if model.fps else _NONE,
        )
        for value, text in zip(self._values, texts, strict=True):
            value.setText(text)


def number_text(number: float) -> str:
    """Two decimals, four digits for large numbers; with a Unicode minus sign."""
    text = f"{number:.2f}" if abs(number) < 1e6 else f"{number:.4g}"
    return text.replace("-", _MINUS)


_WIDEST = "Time limit reached Return -0000.00, seed 0000000000"


class EpisodeCard(QWidget):
    """Replaces the key hints between episodes."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        line = self.fontMetrics().height()
        self._outcome = Badge("", "plain", theme)
        self._stats = QLabel()
        self._again = QPushButton("Same seed (Enter)")
        self._again.setAccessibleName("Restart with the same seed")
        self._again.setProperty("role", "primary")
        self._again.setToolTip("Restart the episode with the same seed")
        set_icon(self._again, "reset", theme, "on_accent")
        self._again.clicked.connect(model.play_again)
        self._next = QPushButton("New episode (R)")
        self._next.setAccessibleName("New episode")
        self._next.setToolTip("Start an episode with a new seed")
        set_icon(self._next, "dice", theme)
        self._next.clicked.connect(model.start_new_episode)
        labels = QWidget()
        row = QHBoxLayout(labels)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(line // 2)
        row.addWidget(self._outcome)
        row.addWidget(self._stats)
        row.addStretch(1)
        # A fixed minimum width, so that the view above keeps its size.
        labels.setMinimumWidth(self.fontMetrics().horizontalAdvance(_WIDEST) + line * 2)
        layout = FlowLayout(self, gap=line // 2)
        for widget in (labels, self._again, self._next):
            layout.addWidget(widget)
        model.changed.connect(self._show_end)
        self._show_end()

    def _show_end(self) -> None:
        model = self._model
        if not model.is_episode_finished:
            return
        score = model.score
        steps = f"{score.steps} step{'' if score.steps == 1 else 's'}"
        stats = f"Return <b>{number_text(score.total_return)}</b>"
        if score.seed is not None:
            stats += f", seed {score.seed}"
        self._outcome.show_text(model.outcome, model.outcome_tone)
        self._stats.setText(stats)
        ended = "" if model.is_playing else "The session has ended."
        set_disabled_reason(
            self._again, ended or ("" if score.seed is not None else "The seed is unknown.")
        )
        set_disabled_reason(self._next, ended)
        self._next.setText(f"New episode ({model.keys.cap('reset')})")
        self.setAccessibleName(f"{model.outcome}, return {score.total_return:g} in {steps}")
        self.updateGeometry()


_WIDE_EMS = 48
"""Minimum width for the score next to the actor."""


class PlayBar(QWidget):
    """Shows `PlayModel`. Hidden until the first session."""

    def __init__(self, model: PlayModel, theme: ThemeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._theme = theme
        self.actor_mark = ActorMark(model, theme)
        self.score_line = ScoreLine(model)
        self.key_hints = KeyHints(model, theme)
        self.episode_card = EpisodeCard(model, theme)
        self._get_keys = QPushButton("Click or press F2 to use the keyboard")
        self._get_keys.setProperty("role", "quiet")
        set_icon(self._get_keys, "keyboard", theme, "person")
        self._get_keys.clicked.connect(model.request_keyboard)
        self._lower = QStackedWidget()
        self._lower.addWidget(self.key_hints)
        self._lower.addWidget(self.episode_card)
        line = self.fontMetrics().height()
        who = QHBoxLayout()
        who.setSpacing(line // 2)
        who.addWidget(self.actor_mark)
        who.addWidget(self._get_keys)
        who.addStretch(1)
        self._upper = upper = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        upper.setSpacing(line // 2)
        upper.addLayout(who, 1)
        upper.addWidget(self.score_line)
        self._content = QWidget()
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._content)
        layout = QVBoxLayout(self._content)
        layout.setContentsMargins(line * 2 // 3, line // 2, line * 2 // 3, line // 2)
        layout.setSpacing(line // 2)
        layout.addLayout(upper)
        layout.addWidget(self._lower)
        model.changed.connect(self._show_state)
        model.has_keyboard_changed.connect(self._show_state)
        theme.changed.connect(self.update)
        self._show_state()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        super().resizeEvent(event)
        is_narrow = self.width() < self.fontMetrics().height() * _WIDE_EMS
        direction = QBoxLayout.Direction
        self._upper.setDirection(direction.TopToBottom if is_narrow else direction.LeftToRight)
        self.score_line.set_one_line(is_narrow)

    def paintEvent(self, _event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.surface))
        painter.fillRect(0, 0, self.width(), 1, QColor(colours.line))
        painter.end()

    def _show_state(self) -> None:
        model = self._model
        self._content.setVisible(not model.is_empty)
        self._get_keys.setVisible(model.person_acts and not model.has_keyboard)
        shows_end = model.is_episode_finished and model.person_acts
        self._lower.setCurrentWidget(self.episode_card if shows_end else self.key_hints)
