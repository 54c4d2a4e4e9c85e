"""VisitCounts: how often the agent visited each cell of a grid, for the heat map.

Owned by `PlayModel`. Counts every step, including steps between ticks.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene

Cell = tuple[int, int]
"""Row and column."""

_MAX_CACHED = 4096


class VisitCounts:
    """Counts of one session, until `clear`."""

    def __init__(self) -> None:
        self.counts: Counter[Cell] = Counter()
        self._cells: dict[tuple[str, int], Cell | None] = {}

    @property
    def max_count(self) -> int:
        return max(self.counts.values(), default=0)

    def clear(self) -> None:
        self.counts.clear()

    def reset_map(self) -> None:
        """Clear counts and cached cells, for another environment."""
        self.clear()
        self._cells.clear()

    def add(
        self, env_id: str, env_kwargs: Mapping[str, Any] | None, observation: Any, render: Any
    ) -> None:
        cell = self._cell(env_id, env_kwargs, observation, render)
        if cell is not None:
            self.counts[cell] += 1

    def _cell(
        self, env_id: str, env_kwargs: Mapping[str, Any] | None, observation: Any, render: Any
    ) -> Cell | None:
        if isinstance(observation, int):
            key = (env_id, observation)
            if key not in self._cells:
                if len(self._cells) >= _MAX_CACHED:
                    self._cells.clear()
                self._cells[key] = _scene_cell(env_id, env_kwargs, observation, render)
            return self._cells[key]
        return _reported_cell(render)


def _reported_cell(render: Any) -> Cell | None:
    """The cell in the `agent` entry of a grid world's render data, column first."""
    reported = render.get("agent") if isinstance(render, dict) else None
    if not isinstance(reported, list | tuple) or len(reported) != 2:
        return None
    column, row = reported
    return (row, column) if isinstance(row, int) and isinstance(column, int) else None


def _scene_cell(
    env_id: str, env_kwargs: Mapping[str, Any] | None, observation: Any, render: Any
) -> Cell | None:
    scene = scene_for(env_id, env_kwargs, observation, render)
    if not isinstance(scene, GridScene) or scene.agent is None:
        return None
    return (scene.agent.row, scene.agent.column)
