"""make_environment: creates an environment by id, and finds the arguments to create it again.

Used by the play loop, workers and resimulation. Raises only `WorkerError`, with a remedy.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import weakref
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.environments.frozen_lake_maps import is_frozen_lake, map_rows, resolve_map
from mosaic_worker.errors import WorkerError
from mosaic_worker.json_values import JsonConverter

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOT_RECORDED = frozenset({"render_mode"})
_DISTRIBUTION_BY_KEYWORD = {
    "box2d": "gymnasium[box2d]",
    "mujoco": "gymnasium[mujoco]",
    "pygame": "gymnasium[classic-control]",
    "ale": "ale-py",
    "minigrid": "minigrid",
}

_ids: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()
"""The ids passed to `make_environment`: gymnasium drops the module of `module:Id`."""


class _Provider(NamedTuple):
    """A package that must be imported before gymnasium knows its environments."""

    module: str
    prefixes: tuple[str, ...]
    distribution: str


_PROVIDERS = (
    _Provider("ale_py", ("ALE/",), "ale-py"),
    _Provider("minigrid", ("MiniGrid-", "BabyAI-"), "minigrid"),
)
PROVIDER_MODULES = frozenset(provider.module for provider in _PROVIDERS)


def make_environment(
    env_id: str,
    env_kwargs: Mapping[str, Any] | None = None,
    *,
    render_mode: str | None = None,
    max_episode_steps: int | None = None,
) -> Any:
    """Create the environment with `gymnasium.make`.

    `env_id` may be `module:Id`. A random FrozenLake map is generated here and passed as `desc`.
    """
    gymnasium = _import_gymnasium()
    keywords = {name: _to_keyword(value) for name, value in (env_kwargs or {}).items()}
    if is_frozen_lake(env_id):
        keywords = resolve_map(keywords)
    if render_mode is not None:
        keywords["render_mode"] = render_mode
    if max_episode_steps is not None:
        keywords["max_episode_steps"] = max_episode_steps
    register_environment(env_id)
    try:
        env = gymnasium.make(env_id, **keywords)
    except gymnasium.error.UnregisteredEnv as error:
        raise _unknown_id(env_id, error) from error
    except (ImportError, gymnasium.error.DependencyNotInstalled) as error:
        raise _missing_package(env_id, error) from error
    except Exception as error:
        # The constructor is third-party code and may raise anything.
        raise _constructor_failed(env_id, keywords, error) from error
    _ids[env.unwrapped] = env_id
    return env


def _to_keyword(value: Any) -> Any:
    """Convert a list of numbers to a tuple: constructors expect tuples, JSON has only lists."""
    is_numbers = isinstance(value, list) and all(isinstance(item, (int, float)) for item in value)
    return tuple(value) if is_numbers else value


def resolved_id(env: Any) -> str:
    """The id with which another process can create `env`; empty if there is none."""
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
    """The keyword arguments that create `env` again, as JSON values.

    A random FrozenLake map is included as `desc`. Raises WorkerError for a value that JSON cannot
    express.
    """
    spec = getattr(env.unwrapped, "spec", None)
    if spec is None:
        return {}
    given = {name: value for name, value in spec.kwargs.items() if name not in _NOT_RECORDED}
    if type(env.unwrapped).__name__ == "FrozenLakeEnv" and not _has_named_map(given):
        given.pop("map_name", None)
        given["desc"] = map_rows(env.unwrapped.desc)
    converter = JsonConverter()
    plain = {name: converter.convert(name, value) for name, value in given.items()}
    if converter.unserializable:
        raise WorkerError(
            "The environment was created with an argument that JSON cannot express: "
            f"{converter.unserializable[0]}.",
            remedy="Use numbers, strings, lists or None.",
        )
    return plain


def _has_named_map(given: Mapping[str, Any]) -> bool:
    return given.get("desc") is None and given.get("map_name", "4x4") is not None


def _import_gymnasium() -> Any:
    try:
        import gymnasium  # noqa: PLC0415 - optional, and slow to import
    except ImportError as error:
        raise WorkerError(
            f"The package gymnasium is missing: {error}.",
            remedy="Install gymnasium in the worker's environment.",
        ) from error
    return gymnasium


def _unknown_id(env_id: str, error: Exception) -> WorkerError:
    import difflib  # noqa: PLC0415 - rarely needed

    close = difflib.get_close_matches(
        env_id.rpartition(":")[2], list(_import_gymnasium().registry), n=3
    )
    remedy = (
        f"Did you mean {' or '.join(close)}?"
        if close
        else "Check the id. Write module:Id for an environment that your package registers."
    )
    return WorkerError(f"Unknown environment {env_id}: {error}", remedy=remedy)


def _missing_package(env_id: str, error: Exception) -> WorkerError:
    message = str(error).lower()
    package = next((name for key, name in _DISTRIBUTION_BY_KEYWORD.items() if key in message), "")
    return WorkerError(
        f"{env_id} needs a package that is not installed: {error}",
        remedy=f"Install {package or 'that package'} in the worker's environment.",
    )


def _constructor_failed(env_id: str, keywords: Mapping[str, Any], error: Exception) -> WorkerError:
    known = _known_keywords(env_id)
    unknown = sorted(set(keywords) - known - {"max_episode_steps"}) if known else []
    if isinstance(error, TypeError) and unknown:
        return WorkerError(
            f"{env_id} has no argument {unknown[0]!r}.",
            remedy=f"Known: {', '.join(sorted(known - _NOT_RECORDED)) or 'none'}.",
        )
    return WorkerError(
        f"{env_id} could not be created: {type(error).__name__}: {error}",
        remedy="Correct its arguments (env_kwargs).",
    )


def _known_keywords(env_id: str) -> frozenset[str]:
    """Parameter names of the constructor; empty if it accepts any, or if they are unknown."""
    gymnasium = _import_gymnasium()
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


def register_environment(env_id: str) -> None:
    """Import the package that registers `env_id`. Raises WorkerError if it is missing."""
    import gymnasium  # noqa: PLC0415 - optional, and slow to import

    module, colon, name = env_id.rpartition(":")
    if colon:
        _import_module(module, env_id)
    if name in gymnasium.registry:
        return
    for provider in _PROVIDERS:
        if name.startswith(provider.prefixes):
            _import_provider(provider, env_id)
            return
    for provider in _PROVIDERS:  # some ids lack a prefix, such as PongNoFrameskip-v4
        with contextlib.suppress(ImportError):
            _register_module(importlib.import_module(provider.module))


def _import_module(module: str, env_id: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError as error:
        raise WorkerError(
            f"The module of {env_id} cannot be imported: {error}.",
            remedy=f"Install the package that has {module}, or correct the text before the colon.",
        ) from error


def _import_provider(provider: _Provider, env_id: str) -> None:
    try:
        _register_module(importlib.import_module(provider.module))
    except ImportError as error:
        raise WorkerError(
            f"{env_id} needs the package {provider.distribution}: {error}.",
            remedy=f"Install {provider.distribution} in the worker's environment.",
        ) from error


def _register_module(module: Any) -> None:
    import gymnasium  # noqa: PLC0415 - optional, and slow to import

    register_envs = getattr(gymnasium, "register_envs", None)  # since 1.0
    if register_envs is not None:
        register_envs(module)
