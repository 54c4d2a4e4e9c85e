"""VisitCounts: how often the agent stood on each cell of a grid, for the heat map.

Owned by `PlayModel`; counts every step, also those that are too fast to be seen.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene

Place = tuple[int, int]
"""Row and column."""

_MOST_REMEMBERED = 4096


class VisitCounts:
    """Of one session; a click begins it anew."""

    def __init__(self) -> None:
        self.counts: Counter[Place] = Counter()
        self._places: dict[tuple[str, int], Place | None] = {}

    @property
    def most(self) -> int:
        return max(self.counts.values(), default=0)

    def clear(self) -> None:
        self.counts.clear()

    def forget_map(self) -> None:
        """Another environment: its numbers stand for other places."""
        self.clear()
        self._places.clear()

    def add(
        self, env_id: str, env_kwargs: Mapping[str, Any] | None, observation: Any, render: Any
    ) -> None:
        place = self._place(env_id, env_kwargs, observation, render)
        if place is not None:
            self.counts[place] += 1

    def _place(
        self, env_id: str, env_kwargs: Mapping[str, Any] | None, observation: Any, render: Any
    ) -> Place | None:
        if isinstance(observation, int):
            key = (env_id, observation)
            if key not in self._places:
                if len(self._places) >= _MOST_REMEMBERED:
                    self._places.clear()
                self._places[key] = _drawn_place(env_id, env_kwargs, observation, render)
            return self._places[key]
        return _told_place(render)


def _told_place(render: Any) -> Place | None:
    """A grid world whose steps say where the agent is, column first: no need to draw it all."""
    told = render.get("agent") if isinstance(render, dict) else None
    if not isinstance(told, list | tuple) or len(told) != 2:
        return None
    column, row = told
    return (row, column) if isinstance(row, int) and isinstance(column, int) else None


def _drawn_place(
    env_id: str, env_kwargs: Mapping[str, Any] | None, observation: Any, render: Any
) -> Place | None:
    scene = scene_for(env_id, env_kwargs, observation, render)
    if not isinstance(scene, GridScene) or scene.agent is None:
        return None
    return (scene.agent.row, scene.agent.column)
