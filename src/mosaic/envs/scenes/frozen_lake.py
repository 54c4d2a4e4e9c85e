"""FrozenLake: the map it was made with, and where on it the observation says the agent is."""

from collections.abc import Mapping
from typing import Any

from mosaic.envs.scenes.plain_values import whole_number
from mosaic.envs.scenes.scene import (
    MOST_SIDE,
    Agent,
    Cell,
    Direction,
    GridScene,
    LegendEntry,
)

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": (
        "SFFFFFFF",
        "FFFFFFFF",
        "FFFHFFFF",
        "FFFFFHFF",
        "FFFHFFFF",
        "FHHFFFHF",
        "FHFFHFHF",
        "FFFHFFFG",
    ),
}
_CELLS = {
    "S": Cell("start", "start"),
    "F": Cell("floor", "ice", "faint"),
    "H": Cell("hole", "hole", "danger"),
    "G": Cell("goal", "goal", "goal"),
}
_DIRECTIONS: tuple[Direction, ...] = ("left", "down", "right", "up")
_LEGEND = (
    LegendEntry("agent", "you"),
    LegendEntry(_CELLS["S"], "start"),
    LegendEntry(_CELLS["F"], "ice"),
    LegendEntry(_CELLS["H"], "hole: the end"),
    LegendEntry(_CELLS["G"], "goal"),
)


def frozen_lake_scene(
    env_kwargs: Mapping[str, Any],
    observation: Any,
    action: Any = None,
    *,
    default_map: str = "4x4",
) -> GridScene | None:
    """The lake. None when the map or the observation is none of a FrozenLake."""
    lines = _map_lines(env_kwargs, default_map)
    if lines is None:
        return None
    columns = len(lines[0])
    place = whole_number(observation, len(lines) * columns)
    if place is None:
        return None
    heading = whole_number(action, len(_DIRECTIONS))
    return GridScene(
        rows=len(lines),
        columns=columns,
        cells=tuple(tuple(_CELLS[letter] for letter in line) for line in lines),
        agent=Agent(
            place // columns,
            place % columns,
            None if heading is None else _DIRECTIONS[heading],
        ),
        legend=_LEGEND,
    )


def _map_lines(env_kwargs: Mapping[str, Any], default_map: str) -> tuple[str, ...] | None:
    given = env_kwargs.get("desc")
    if given is None:
        name = env_kwargs.get("map_name", default_map)
        return MAPS.get(name) if isinstance(name, str) else None
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MOST_SIDE:
        return None
    lines = [_line(item) for item in given]
    width = len(lines[0] or "")
    sound = [line for line in lines if line and len(line) == width and set(line) <= _CELLS.keys()]
    return tuple(sound) if len(sound) == len(lines) and width <= MOST_SIDE else None


def _line(item: Any) -> str | None:
    if isinstance(item, list | tuple) and all(isinstance(letter, str) for letter in item):
        return "".join(item)
    return item if isinstance(item, str) else None
