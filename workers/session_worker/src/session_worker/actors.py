"""SessionActors: the actors of this worker by name: `random`, `scripted` and `recorded`.

`scripted:NAME` names a built-in script, `module:attribute` or `/path/file.py:attribute`;
`recorded:PATH` names the file of an episode. Without a suffix the run's parameters apply. The play
loop provides `human`.
"""

from __future__ import annotations

import copy
import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import WorkerError
from session_worker.descriptor import RANDOM, RECORDED, SCRIPTED
from session_worker.scripts import find_script, find_script_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, ModuleType

    from mosaic_worker import Run
    from mosaic_worker.play import Actor, ActorFactory

DIFFERENT_START = "W210"
"""Recorded actions are repeated from a different start, so that the episode may differ."""

_REMEDY = "Use module:attribute, or /path/file.py:attribute."


class RandomActor:
    """Samples from a copy of the action space, so that its sequence depends only on the seed."""

    def __init__(self, env: Any, seed: int) -> None:
        self._space = copy.deepcopy(env.action_space)
        self._space.seed(seed)

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        return self._space.sample()


class Recording(NamedTuple):
    """The fields of a recorded episode that are needed here."""

    env_id: str
    seed: int | None
    actions: list[Any]


def read_recording(path: str) -> Recording:
    """Read a recorded episode. Raises WorkerError."""
    if not path:
        raise WorkerError(
            "No recording is set.",
            remedy="Set the parameter 'recording', or name the actor 'recorded:/path/of/file'.",
        )
    try:
        content = json.loads(Path(path).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise WorkerError(
            f"The recording {path} cannot be read: {error.strerror or error}.",
            remedy="Pass the absolute path of a recorded episode.",
        ) from error
    except ValueError as error:
        raise WorkerError(
            f"The recording {path} is not JSON: {error}.",
            remedy="Pass the path of a recorded episode.",
        ) from error
    actions = content.get("actions") if isinstance(content, dict) else None
    if not isinstance(actions, list):
        raise WorkerError(
            f"{path} is not a recorded episode: it has no list of actions.",
            remedy='Use a file such as {"env_id": …, "seed": …, "actions": […]}.',
        )
    seed = content.get("seed")
    return Recording(
        env_id=str(content.get("env_id", "")),
        seed=seed if isinstance(seed, int) else None,
        actions=actions,
    )


class RecordedActor:
    """Repeats the actions of a recorded episode, from the first one in each episode.

    The result can differ from the recording if the episode starts differently; exact replays use
    resimulation.
    """

    def __init__(self, env: Any, recording: Recording, run: Run) -> None:
        self.episode_seed = recording.seed
        self._space = env.action_space
        self._actions = recording.actions
        self._next = 0
        env_id = run.config.env_id
        if recording.env_id and recording.env_id != env_id:
            raise WorkerError(
                f"The recording is of {recording.env_id}, but the environment is {env_id}.",
                remedy=f"Play it in {recording.env_id}.",
            )
        if recording.seed is None:
            run.emitter.log(
                "warning",
                DIFFERENT_START,
                "The recording has no seed, so its actions are repeated from a different start."
                " Use replay to see the original episode.",
            )

    def begin_episode(self, observation: Any, info: dict[str, Any]) -> None:  # noqa: ARG002
        self._next = 0

    def act(self, observation: Any, info: dict[str, Any]) -> Any:  # noqa: ARG002 - interface
        if self._next == len(self._actions):
            raise WorkerError(
                f"The recording has only {self._next} actions, but the episode continues.",
                remedy="Take over, or reset.",
            )
        self._next += 1
        return to_action(self._space, self._actions[self._next - 1])


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


class _UncachedLoader(SourceFileLoader):
    """Ignores cached bytecode, whose time stamp has a resolution of only one second."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def load_actor(name: str) -> Callable[[Any], Any]:
    """Return the class or function that creates the actor. Raises WorkerError."""
    location, colon, attribute = name.rpartition(":")
    if not colon or not location or not attribute:
        raise WorkerError(f"'{name}' is not the name of an actor.", remedy=_REMEDY)
    is_file = location.endswith(".py") or "/" in location
    module = _load_file(Path(location).expanduser()) if is_file else _import_module(location)
    try:
        factory: Callable[[Any], Any] = getattr(module, attribute)
    except AttributeError:
        raise WorkerError(
            f"{location} has no '{attribute}'.", remedy=_suggest_callables(module)
        ) from None
    if not callable(factory):
        raise WorkerError(
            f"{name} must be a class or a function, got {type(factory).__name__}.",
            remedy="Name a callable that takes the environment and returns an actor.",
        )
    return factory


def _import_module(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise WorkerError(
            f"The module {error.name} is not installed.",
            remedy="Install it, or name the file: /path/file.py:attribute.",
        ) from error


def _load_file(path: Path) -> ModuleType:
    """Read the file each time, so that edits take effect when the actor is chosen again."""
    if not path.is_file():
        raise WorkerError(
            f"The file {path} does not exist.",
            remedy="Use an absolute path, because a run has its own working directory.",
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # for modules in the same folder
    name = f"mosaic_actor_{path.stem}"
    spec = importlib.util.spec_from_file_location(
        name, path, loader=_UncachedLoader(name, str(path))
    )
    if spec is None or spec.loader is None:
        raise WorkerError(f"{path} is not a Python file.", remedy=_REMEDY)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _suggest_callables(module: ModuleType) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    ]
    return f"Choose from {', '.join(sorted(names))}." if names else "The module has no callables."
