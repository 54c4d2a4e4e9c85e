"""ScoreLine: episode, step, return and frames per second, in columns of fixed width."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from gym_gui.play.model.play_model import PlayModel
from gym_gui.widgets.steady_label import SteadyLabel

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
