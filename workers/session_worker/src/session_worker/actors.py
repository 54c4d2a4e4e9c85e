"""The actors of this worker by name: `random`, `scripted`, `recorded`, the last two with more.

`scripted:NAME` names a built-in rule, `module:attribute` or `/path/file.py:attribute`;
`recorded:PATH` names the file of an episode. Without that the run's parameters say it. The person
(`human`) is the play loop's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from session_worker.descriptor import RANDOM, RECORDED, SCRIPTED
from session_worker.plug_in import load_plug_in
from session_worker.random_actor import RandomActor
from session_worker.recorded_actor import RecordedActor, read_recording
from session_worker.scripts import built_in, built_in_for

if TYPE_CHECKING:
    from mosaic_worker import Run
    from mosaic_worker.play import Actor, ActorFactory


class SessionActors(Mapping[str, "ActorFactory"]):
    """Factories of actors; made for one run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._makers = {
            RANDOM: self._random,
            SCRIPTED: self._scripted,
            RECORDED: self._recorded,
        }

    def __getitem__(self, name: str) -> ActorFactory:
        kind, _, what = name.partition(":")
        make = self._makers[kind]
        if kind == RANDOM and what:
            raise KeyError(name)
        return lambda env: make(env, what)

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)

    def _random(self, env: Any, _: str) -> Actor:
        return RandomActor(env, self._run.config.seed)

    def _scripted(self, env: Any, what: str) -> Actor:
        what = what or self._run.config.params.get("script", "")
        factory = built_in(what) if what else built_in_for(env)
        actor: Actor = (factory or load_plug_in(what))(env)
        return actor

    def _recorded(self, env: Any, what: str) -> Actor:
        path = what or self._run.config.params.get("recording", "")
        return RecordedActor(env, read_recording(path), self._run)
