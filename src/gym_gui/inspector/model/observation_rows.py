"""ObservationRows: an observation as named numbers, each with the range it lies in.

`StepInspector` shows them as a table. Large arrays are summed up instead of listed.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.runtime.models.number_text import significant
from mosaic.contract.events import EnvironmentEvent
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene

_VERSION = re.compile(r"-v\d+$")

_LANDER = (
    "x position",
    "y position",
    "x velocity",
    "y velocity",
    "angle",
    "angular velocity",
    "left leg on ground",
    "right leg on ground",
)
_LEG = ("hip angle", "hip speed", "knee angle", "knee speed", "on ground")
_NAMES: dict[str, tuple[str, ...]] = {
    "CartPole": ("cart position", "cart velocity", "pole angle", "pole angular velocity"),
    "MountainCar": ("position", "velocity"),
    "MountainCarContinuous": ("position", "velocity"),
    "Pendulum": ("cosine of angle", "sine of angle", "angular velocity"),
    "Acrobot": (
        "cosine of first angle",
        "sine of first angle",
        "cosine of second angle",
        "sine of second angle",
        "first angular velocity",
        "second angular velocity",
    ),
    "LunarLander": _LANDER,
    "LunarLanderContinuous": _LANDER,
    "BipedalWalker": (
        "hull angle",
        "hull angular velocity",
        "x velocity",
        "y velocity",
        *(f"first {name}" for name in _LEG),
        *(f"second {name}" for name in _LEG),
        *(f"lidar {ray}" for ray in range(1, 11)),
    ),
    "InvertedPendulum": (
        "cart position",
        "pole angle",
        "cart velocity",
        "pole angular velocity",
    ),
    "Blackjack": ("your sum", "dealer's card", "usable ace"),
}
_ALIASES = {"BipedalWalkerHardcore": "BipedalWalker"}


def observation_names(env_id: str, count: int) -> Sequence[str]:
    """One for each number; their indices where nobody has named them."""
    name = _VERSION.sub("", env_id.rpartition(":")[2])
    known = _NAMES.get(_ALIASES.get(name, name), ())
    return known if len(known) == count else tuple(str(index) for index in range(count))


AnyIndex = QModelIndex | QPersistentModelIndex
BAR_ROLE = Qt.ItemDataRole.UserRole + 1
"""(from, to) as shares of the bar's width; None where there is none."""
NAME, VALUE, BAR = range(3)

_NOWHERE = QModelIndex()
_MOST_ROWS = 64
_WIDEST_RANGE = 1e6
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """One number; or a text, which has no bar."""

    name: str
    value: float | str
    low: float = -math.inf
    high: float = math.inf

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else significant(self.value)


class ObservationRows(QAbstractTableModel):
    """Name, value and bar. Rows keep their widgets while only values change."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ObservationRow, ...] = ()
        self._env_id = ""
        self._largest: dict[int, float] = {}
        """What was seen of each number whose range nobody has told."""

    def show(self, observation: Any, environment: EnvironmentEvent | None) -> None:
        """Those of another environment begin anew."""
        env_id = environment.env_id if environment else ""
        if env_id != self._env_id:
            self._env_id = env_id
            self._largest.clear()
        space = environment.observation_space if environment else None
        kwargs = environment.env_kwargs if environment else None
        rows = rows_of(observation, env_id, space if isinstance(space, dict) else {}, kwargs)
        for index, row in enumerate(rows):
            if isinstance(row.value, int | float) and math.isfinite(row.value):
                self._largest[index] = max(self._largest.get(index, 0.0), abs(row.value))
        is_same = [row.name for row in rows] == [row.name for row in self._rows]
        if is_same and rows:
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, BAR))
        elif rows or self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: AnyIndex = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = _NOWHERE) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else 3

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return {NAME: row.name, VALUE: row.text}.get(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.name}: {row.value!r}{_range_words(row)}"
        if role == Qt.ItemDataRole.TextAlignmentRole and column == VALUE:
            return _RIGHT
        if role == BAR_ROLE and column == BAR:
            return self._bar(index.row(), row)
        return None

    def _bar(self, index: int, row: ObservationRow) -> tuple[float, float] | None:
        value = row.value
        if isinstance(value, str) or not math.isfinite(value):
            return None
        low, high = row.low, row.high
        if not (abs(low) < _WIDEST_RANGE and abs(high) < _WIDEST_RANGE and high > low):
            largest = self._largest.get(index, 0.0) or 1.0
            low, high = -largest, largest
        zero = min(max(0.0, low), high)
        begin, end = ((each - low) / (high - low) for each in sorted((zero, value)))
        return max(0.0, min(begin, 1.0)), max(0.0, min(end, 1.0))


def rows_of(
    observation: Any,
    env_id: str,
    space: Mapping[str, Any],
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[ObservationRow, ...]:
    """Numbers by name; of a large array its shape and what it comes to."""
    if observation is None:
        return ()
    if isinstance(observation, Mapping):
        return tuple(
            row
            for name, part in observation.items()
            for row in _of_part(str(name), part, str(name))
        )[:_MOST_ROWS]
    if isinstance(observation, list | tuple):
        shape = _shape(observation)
        if len(shape) == 1 and len(observation) <= _MOST_ROWS:
            names = observation_names(env_id, len(observation))
            lows, highs = (_bounds(space.get(side), len(observation)) for side in ("low", "high"))
            return tuple(
                _row(name, value, low, high)
                for name, value, low, high in zip(names, observation, lows, highs, strict=True)
            )
        return _summary(observation, shape)
    if isinstance(observation, int) and not isinstance(observation, bool):
        start, count = space.get("start", 0), space.get("n")
        if isinstance(start, int) and isinstance(count, int):
            state = ObservationRow("state", observation, start, start + count - 1)
            return (state, *_place(env_id, kwargs, observation))
    return (_row("value", observation),)


def _place(env_id: str, kwargs: Mapping[str, Any] | None, state: int) -> list[ObservationRow]:
    """Where that is, in environments whose states are places."""
    scene = scene_for(env_id, kwargs, state)
    if not isinstance(scene, GridScene) or scene.agent is None:
        return []
    return [
        ObservationRow("row", scene.agent.row, 0, scene.rows - 1),
        ObservationRow("column", scene.agent.column, 0, scene.columns - 1),
    ]


def _of_part(name: str, part: Any, prefix: str) -> tuple[ObservationRow, ...]:
    if not isinstance(part, list | tuple):
        return (_row(name, part),)
    shape = _shape(part)
    if len(shape) == 1 and len(part) <= _MOST_ROWS // 4:
        return tuple(_row(f"{prefix} {index}", value) for index, value in enumerate(part))
    return tuple(ObservationRow(f"{prefix} {row.name}", row.value) for row in _summary(part, shape))


def _row(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> ObservationRow:
    if isinstance(value, bool):
        return ObservationRow(name, int(value), 0, 1)
    if isinstance(value, int | float):
        return ObservationRow(name, value, low, high)
    return ObservationRow(name, str(value))


def _bounds(told: Any, count: int) -> Sequence[float]:
    """Lists, or one number for all; infinities come as words."""
    values = told if isinstance(told, list) and len(told) == count else [told] * count
    return [
        value if isinstance(value, int | float) and not isinstance(value, bool) else math.inf
        for value in values
    ]


def _shape(value: Any) -> tuple[int, ...]:
    """Judged by the first element of each level."""
    shape: list[int] = []
    while isinstance(value, list | tuple):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _summary(value: Any, shape: tuple[int, ...]) -> tuple[ObservationRow, ...]:
    numbers = [each for each in _flat(value) if isinstance(each, int | float)]
    words = " \N{MULTIPLICATION SIGN} ".join(map(str, shape))
    if not numbers:
        return (ObservationRow("shape", words),)
    low, high = min(numbers), max(numbers)
    return (
        ObservationRow("shape", words),
        ObservationRow("lowest", low, low, high),
        ObservationRow("mean", sum(numbers) / len(numbers), low, high),
        ObservationRow("highest", high, low, high),
    )


def _flat(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value]
    return [each for part in value for each in _flat(part)]


def _range_words(row: ObservationRow) -> str:
    if not math.isfinite(row.low) or not math.isfinite(row.high):
        return ""
    return f", from {significant(row.low)} to {significant(row.high)}"
