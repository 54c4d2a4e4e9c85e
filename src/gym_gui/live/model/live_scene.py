"""LiveScene: the drawn world of a run that is watched, and what the agent in it has learnt of it.

Owned by `LiveModel`, which says what came and when it is looked at.
"""

from collections.abc import Mapping

from gym_gui.runtime.models.cell_policy import CellPolicy, cell_policy
from mosaic.contract.events import EnvironmentEvent, PolicyEvent, StepRecord
from mosaic.envs.catalog import environment
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene, Scene


class LiveScene:
    """Of one run; another one has its own."""

    def __init__(self) -> None:
        self.scene: Scene | None = None
        self.policy = CellPolicy()
        """What the agent of the step has learnt of the cells of the scene, where it tells."""
        self._told: dict[str, PolicyEvent] = {}
        """By agent; empty where a run does not name it."""

    def take_policies(self, told: Mapping[str, PolicyEvent]) -> None:
        self._told.update(told)

    @property
    def learners(self) -> tuple[str, ...]:
        """Agents that have told what they have learnt."""
        return tuple(agent for agent in self._told if agent)

    def draw(self, env_id: str, step: StepRecord, made: EnvironmentEvent | None) -> None:
        self.scene = scene_for(
            env_id,
            made.env_kwargs if made else None,
            step.obs,
            step.render,
            action=step.action,
            is_over=step.terminated or step.truncated,
        )
        self.policy = CellPolicy()
        if isinstance(self.scene, GridScene):
            # What is told without a name is of all of them.
            told = self._told.get(step.agent_id or "") or self._told.get("")
            if told is None and step.agent_id is None:
                told = next(iter(self._told.values()), None)
            self.policy = cell_policy(told, self.scene, step.obs, environment(env_id).keys)
