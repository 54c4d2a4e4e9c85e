"""Makes environments by id, and says what it takes to make one again.

Called by the play loop, by workers and by the resimulation. Whatever goes wrong is a `WorkerError`
with a remedy.
"""

from __future__ import annotations

import inspect
import weakref
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.frozen_lake_maps import is_frozen_lake, map_rows, resolve_map
from mosaic_worker.environments.registration import PROVIDER_MODULES, register
from mosaic_worker.errors import WorkerError
from mosaic_worker.plain import Plainer

if TYPE_CHECKING:
    from collections.abc import Mapping

_GIVEN_ANEW = frozenset({"render_mode"})
_INSTALLS = {
    "box2d": "gymnasium[box2d]",
    "mujoco": "gymnasium[mujoco]",
    "pygame": "gymnasium[classic-control]",
    "ale": "ale-py",
    "minigrid": "minigrid",
}

_ids: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""As they were asked for: gymnasium forgets the module of `module:Id`."""


def make_environment(
    env_id: str,
    env_kwargs: Mapping[str, Any] | None = None,
    *,
    render_mode: str | None = None,
    max_episode_steps: int | None = None,
) -> Any:
    """The environment, as `gymnasium.make` returns it.

    `env_id` may be `module:Id`. A random map of FrozenLake is drawn here and becomes `desc`.
    """
    gymnasium = _gymnasium()
    keywords = {name: _as_made(value) for name, value in (env_kwargs or {}).items()}
    if is_frozen_lake(env_id):
        keywords = resolve_map(keywords)
    if render_mode is not None:
        keywords["render_mode"] = render_mode
    if max_episode_steps is not None:
        keywords["max_episode_steps"] = max_episode_steps
    register(env_id)
    try:
        env = gymnasium.make(env_id, **keywords)
    except gymnasium.error.UnregisteredEnv as error:
        raise _unknown(env_id, error) from error
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        raise _missing_package(env_id, error) from error
    except Exception as error:
        # The constructor is somebody else's code and may raise anything.
        raise _refused(env_id, keywords, error) from error
    _ids[env.unwrapped] = env_id
    return env


def _as_made(value: Any) -> Any:
    """A pair or a range as constructors want it: JSON has lists only."""
    is_numbers = isinstance(value, list) and all(isinstance(each, (int, float)) for each in value)
    return tuple(value) if is_numbers else value


def resolved_id(env: Any) -> str:
    """The id by which a new process can make `env`; empty when nothing is known that would."""
    given = _ids.get(env.unwrapped)
    if given is not None:
        return given
    spec = getattr(env.unwrapped, "spec", None)
    if spec is None:
        return ""
    entry = spec.entry_point
    module = entry.partition(":")[0] if isinstance(entry, str) else getattr(entry, "__module__", "")
    root = module.partition(".")[0]
    if root == "gymnasium" or root in PROVIDER_MODULES:
        return str(spec.id)
    return "" if root in ("", "__main__") else f"{root}:{spec.id}"


def resolved_kwargs(env: Any) -> dict[str, Any]:
    """What `make` needs to make `env` again, as JSON has it; WorkerError for what JSON cannot hold.

    A random map of FrozenLake is in it as `desc`.
    """
    spec = getattr(env.unwrapped, "spec", None)
    if spec is None:
        return {}
    given = {name: value for name, value in spec.kwargs.items() if name not in _GIVEN_ANEW}
    if type(env.unwrapped).__name__ == "FrozenLakeEnv" and not _has_named_map(given):
        given.pop("map_name", None)
        given["desc"] = map_rows(env.unwrapped.desc)
    plainer = Plainer()
    plain = {name: plainer.plain(name, value) for name, value in given.items()}
    if plainer.odd:
        raise WorkerError(
            f"The environment was made with a value that cannot be written down: {plainer.odd[0]}.",
            remedy="Give numbers, texts, lists or nothing instead.",
        )
    return plain


def _has_named_map(given: Mapping[str, Any]) -> bool:
    return given.get("desc") is None and given.get("map_name", "4x4") is not None


def _gymnasium() -> Any:
    try:
        import gymnasium  # noqa: PLC0415 - optional, and start-up counts
    except ImportError as error:
        raise WorkerError(
            f"Environments need the package gymnasium: {error}.",
            remedy="Install gymnasium in the worker's environment.",
        ) from error
    return gymnasium


def _unknown(env_id: str, error: Exception) -> WorkerError:
    import difflib  # noqa: PLC0415 - only for a mistake

    close = difflib.get_close_matches(env_id.rpartition(":")[2], list(_gymnasium().registry), n=3)
    remedy = (
        f"Did you mean {' or '.join(close)}?"
        if close
        else "Check the id; one that a package of yours registers is written as module:Id."
    )
    return WorkerError(f"There is no environment {env_id}: {error}", remedy=remedy)


def _missing_package(env_id: str, error: Exception) -> WorkerError:
    words = str(error).lower()
    package = next((name for part, name in _INSTALLS.items() if part in words), "")
    return WorkerError(
        f"{env_id} needs a package that is not installed: {error}",
        remedy=f"Install {package or 'that package'} in the worker's environment.",
    )


def _refused(env_id: str, keywords: Mapping[str, Any], error: Exception) -> WorkerError:
    known = _known_keywords(env_id)
    strange = sorted(set(keywords) - known - {"max_episode_steps"}) if known else []
    if isinstance(error, TypeError) and strange:
        return WorkerError(
            f"{env_id} has no setting called {strange[0]!r}.",
            remedy=f"It has {', '.join(sorted(known - _GIVEN_ANEW)) or 'none'}.",
        )
    return WorkerError(
        f"{env_id} could not be made: {type(error).__name__}: {error}",
        remedy="Correct its settings (env_kwargs).",
    )


def _known_keywords(env_id: str) -> frozenset[str]:
    """The names that the environment's constructor takes; empty when it takes any, or none know."""
    gymnasium = _gymnasium()
    spec = gymnasium.registry.get(env_id.rpartition(":")[2])
    if spec is None or spec.entry_point is None:
        return frozenset()
    try:
        creator = spec.entry_point
        if isinstance(creator, str):
            creator = gymnasium.envs.registration.load_env_creator(creator)
        parameters = inspect.signature(creator).parameters.values()
    except (ImportError, AttributeError, TypeError, ValueError):
        return frozenset()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return frozenset()
    return frozenset(parameter.name for parameter in parameters)
