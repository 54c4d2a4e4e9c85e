"""ObservationRows and action_text: the observation and the action of a step in readable form.

An observation is a table of named numbers with their ranges; large arrays are summarized.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from gym_gui.runtime.models.formatting import format_significant
from mosaic.contract.events import EnvironmentEvent
from mosaic.envs.catalog import environment as find_environment
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
    """Return a name for each number; indices for an unknown environment."""
    name = _VERSION.sub("", env_id.rpartition(":")[2])
    known = _NAMES.get(_ALIASES.get(name, name), ())
    return known if len(known) == count else tuple(str(index) for index in range(count))


AnyIndex = QModelIndex | QPersistentModelIndex
BAR_ROLE = Qt.ItemDataRole.UserRole + 1
"""(start, end) as fractions of the width of the bar, or None."""
NAME, VALUE, BAR = range(3)

_NO_PARENT = QModelIndex()
_MAX_ROWS = 64
_MAX_BOUND = 1e6
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class ObservationRow:
    """A number, or a text, which has no bar."""

    name: str
    value: float | str
    low: float = -math.inf
    high: float = math.inf

    @property
    def text(self) -> str:
        return self.value if isinstance(self.value, str) else format_significant(self.value)


class ObservationRows(QAbstractTableModel):
    """Table model with the columns name, value and bar. Resets only if names change."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: tuple[ObservationRow, ...] = ()
        self._env_id = ""
        self._max_values: dict[int, float] = {}
        """Largest absolute value so far, the range of a number without bounds."""

    def show(self, observation: Any, environment: EnvironmentEvent | None) -> None:
        """Show an observation. Another environment resets the observed ranges."""
        env_id = environment.env_id if environment else ""
        if env_id != self._env_id:
            self._env_id = env_id
            self._max_values.clear()
        space = environment.observation_space if environment else None
        kwargs = environment.env_kwargs if environment else None
        rows = rows_of(observation, env_id, space if isinstance(space, dict) else {}, kwargs)
        for index, row in enumerate(rows):
            if isinstance(row.value, int | float) and math.isfinite(row.value):
                self._max_values[index] = max(self._max_values.get(index, 0.0), abs(row.value))
        is_same = [row.name for row in rows] == [row.name for row in self._rows]
        if is_same and rows:
            self._rows = rows
            self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, BAR))
        elif rows or self._rows:
            self.beginResetModel()
            self._rows = rows
            self.endResetModel()

    def rowCount(self, parent: AnyIndex = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = _NO_PARENT) -> int:  # noqa: N802 - Qt's name
        return 0 if parent.isValid() else 3

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self._rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return {NAME: row.name, VALUE: row.text}.get(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.name}: {row.value!r}{_range_text(row)}"
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
        if not (abs(low) < _MAX_BOUND and abs(high) < _MAX_BOUND and high > low):
            limit = self._max_values.get(index, 0.0) or 1.0
            low, high = -limit, limit
        zero = min(max(0.0, low), high)
        start, end = ((edge - low) / (high - low) for edge in sorted((zero, value)))
        return max(0.0, min(start, 1.0)), max(0.0, min(end, 1.0))


def rows_of(
    observation: Any,
    env_id: str,
    space: Mapping[str, Any],
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[ObservationRow, ...]:
    """Return named numbers, or a summary of a large array."""
    if observation is None:
        return ()
    if isinstance(observation, Mapping):
        return tuple(
            row for name, value in observation.items() for row in _rows_of_item(str(name), value)
        )[:_MAX_ROWS]
    if isinstance(observation, list | tuple):
        shape = _shape(observation)
        if len(shape) == 1 and len(observation) <= _MAX_ROWS:
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
            return (state, *_grid_cell(env_id, kwargs, observation))
    return (_row("value", observation),)


def _grid_cell(env_id: str, kwargs: Mapping[str, Any] | None, state: int) -> list[ObservationRow]:
    """Return row and column of a state of a grid environment."""
    scene = scene_for(env_id, kwargs, state)
    if not isinstance(scene, GridScene) or scene.agent is None:
        return []
    return [
        ObservationRow("row", scene.agent.row, 0, scene.rows - 1),
        ObservationRow("column", scene.agent.column, 0, scene.columns - 1),
    ]


def _rows_of_item(name: str, item: Any) -> tuple[ObservationRow, ...]:
    if not isinstance(item, list | tuple):
        return (_row(name, item),)
    shape = _shape(item)
    if len(shape) == 1 and len(item) <= _MAX_ROWS // 4:
        return tuple(_row(f"{name} {index}", value) for index, value in enumerate(item))
    return tuple(ObservationRow(f"{name} {row.name}", row.value) for row in _summary(item, shape))


def _row(name: str, value: Any, low: float = -math.inf, high: float = math.inf) -> ObservationRow:
    if isinstance(value, bool):
        return ObservationRow(name, int(value), 0, 1)
    if isinstance(value, int | float):
        return ObservationRow(name, value, low, high)
    return ObservationRow(name, str(value))


def _bounds(bound: Any, count: int) -> Sequence[float]:
    """Return one bound per number. `bound` is a list or a scalar; infinity is a string in JSON."""
    values = bound if isinstance(bound, list) and len(bound) == count else [bound] * count
    return [
        value if isinstance(value, int | float) and not isinstance(value, bool) else math.inf
        for value in values
    ]


def _shape(value: Any) -> tuple[int, ...]:
    """Return the shape by the first element of each level."""
    shape: list[int] = []
    while isinstance(value, list | tuple):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _summary(value: Any, shape: tuple[int, ...]) -> tuple[ObservationRow, ...]:
    numbers = [item for item in _flatten(value) if isinstance(item, int | float)]
    shape_row = ObservationRow("shape", " \N{MULTIPLICATION SIGN} ".join(map(str, shape)))
    if not numbers:
        return (shape_row,)
    low, high = min(numbers), max(numbers)
    return (
        shape_row,
        ObservationRow("min", low, low, high),
        ObservationRow("mean", sum(numbers) / len(numbers), low, high),
        ObservationRow("max", high, low, high),
    )


def _flatten(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        return [value]
    return [leaf for item in value for leaf in _flatten(item)]


def _range_text(row: ObservationRow) -> str:
    if not math.isfinite(row.low) or not math.isfinite(row.high):
        return ""
    return f", from {format_significant(row.low)} to {format_significant(row.high)}"


def action_text(action: Any, environment: EnvironmentEvent | None) -> str:
    """Return `2 · main engine` or `[0.25, -1]`; any other action as JSON."""
    if isinstance(action, bool) or action is None:
        return json.dumps(action)
    if isinstance(action, int):
        meanings, start = _action_meanings(environment)
        index = action - start
        is_known = 0 <= index < len(meanings)
        return f"{action} · {meanings[index].lower()}" if is_known else str(action)
    if isinstance(action, float):
        return format_significant(action)
    if isinstance(action, list) and all(isinstance(item, int | float) for item in action):
        return f"[{', '.join(format_significant(item) for item in action)}]"
    return json.dumps(action, ensure_ascii=False, default=str)


def _action_meanings(environment: EnvironmentEvent | None) -> tuple[Sequence[str], int]:
    """Return the meanings that the environment reported, or those of the catalog, and the start."""
    if environment is None:
        return (), 0
    space = environment.action_space if isinstance(environment.action_space, dict) else {}
    start = space.get("start", 0)
    meanings: Sequence[str] = environment.action_meanings or ()
    if not meanings:
        known = find_environment(environment.env_id).action_meanings
        meanings = known if space.get("n") in (None, len(known)) else ()
    return meanings, start if isinstance(start, int) else 0
