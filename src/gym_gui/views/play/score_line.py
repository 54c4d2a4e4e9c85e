"""ScoreLine: episode, step, return and pictures a second, in columns that do not jump."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gym_gui.models.play_model import PlayModel

_NONE = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"
_COLUMNS = (("Episode", "00000"), ("Step", "000000"), ("Return", "-00000.00"), ("Frames/s", "000"))


class ScoreLine(QWidget):
    """Numbers right-aligned under their names."""

    def __init__(self, model: PlayModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._values: list[QLabel] = []
        line = self.fontMetrics().height()
        layout = QGridLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setHorizontalSpacing(line)
        layout.setVerticalSpacing(0)
        for column, (name, widest) in enumerate(_COLUMNS):
            title, value = QLabel(name), QLabel()
            title.setProperty("role", "caption")
            value.setProperty("role", "value")
            value.setAccessibleName(name)
            value.setMinimumWidth(self.fontMetrics().horizontalAdvance(widest))
            for row, label in enumerate((title, value)):
                label.setAlignment(Qt.AlignmentFlag.AlignRight)
                layout.addWidget(label, row, column)
            self._values.append(value)
        model.changed.connect(self._show_score)
        self._show_score()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(value.text() for value in self._values)

    def _show_score(self) -> None:
        model = self._model
        score = model.score
        known = bool(score.episode_id)
        ordinal = "" if score.ordinal is None else str(score.ordinal + 1)
        steps = max(score.steps, model.moment.step + 1)
        texts = (
            ordinal if known else _NONE,
            str(steps) if known else _NONE,
            number_text(score.total_return) if known else _NONE,
            str(model.fps) if model.fps else _NONE,
        )
        for value, text in zip(self._values, texts, strict=True):
            if value.text() != text:
                value.setText(text)


def number_text(number: float) -> str:
    """As many places as can be told apart; a true minus sign."""
    text = f"{number:.2f}" if abs(number) < 1e6 else f"{number:.4g}"
    return text.replace("-", _MINUS)
