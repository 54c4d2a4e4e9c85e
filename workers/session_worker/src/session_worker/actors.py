"""SessionActors: the actors of this worker by name: `random`, `scripted` and `recorded`.

`scripted:NAME` names a built-in script, `module:attribute` or `/path/file.py:attribute`;
`recorded:PATH` names the file of an episode. Without a suffix the run's parameters apply. The play
loop provides `human`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from session_worker.actor_loader import load_actor
from session_worker.descriptor import RANDOM, RECORDED, SCRIPTED
from session_worker.recorded_actor import RecordedActor, read_recording
from session_worker.scripts import find_script, find_script_for

if TYPE_CHECKING:
    from mosaic_worker import Run
    from mosaic_worker.play import Actor, ActorFactory


class RandomActor:
    """Samples from a copy of the action space, so that its sequence depends only on the seed."""

    def __init__(self, env: Any, seed: int) -> None:
        self._space = copy.deepcopy(env.action_space)
        self._space.seed(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        return self._space.sample()


class SessionActors(Mapping[str, "ActorFactory"]):
    """Actor factories of one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._factories = {
            RANDOM: self._make_random,
            SCRIPTED: self._make_scripted,
            RECORDED: self._make_recorded,
        }

    def __getitem__(self, name: str) -> ActorFactory:
        kind, _, argument = name.partition(":")
        make = self._factories[kind]
        if kind == RANDOM and argument:
            raise KeyError(name)
        return lambda env: make(env, argument)

    def __iter__(self) -> Iterator[str]:
        return iter(self._factories)

    def __len__(self) -> int:
        return len(self._factories)

    def _make_random(self, env: Any, _: str) -> Actor:
        return RandomActor(env, self._run.config.seed)

    def _make_scripted(self, env: Any, argument: str) -> Actor:
        argument = argument or self._run.config.params.get("script", "")
        factory = find_script(argument) if argument else find_script_for(env)
        actor: Actor = (factory or load_actor(argument))(env)
        return actor

    def _make_recorded(self, env: Any, argument: str) -> Actor:
        path = argument or self._run.config.params.get("recording", "")
        return RecordedActor(env, read_recording(path), self._run)
