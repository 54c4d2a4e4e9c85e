"""Reads a TrainRunConfig, lets flags override it, and checks it against the descriptor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mosaic_worker.descriptor import Algorithm, Descriptor
    from mosaic_worker.parameter import Parameter


FIELDS = frozenset(
    {
        *("run_name", "worker", "mode", "algo", "env_id", "env_kwargs", "seed", "total_timesteps"),
        *("max_episodes", "params", "extra_args", "agent_id", "worker_id", "bundle", "warm_start"),
        *("dataset", "telemetry", "actor", "episodes", "seeds", "script", "parent_run", "priority"),
        *("time_limit_s", "lease_s", "python_path", "artifacts", "resources", "launcher"),
        "metadata",
    }
)
"""Of a TrainRunConfig; a test keeps them in step with the trainer."""


class RunConfig(NamedTuple):
    """A run with every value resolved. `raw` is the whole file, for what is not named here."""

    mode: str
    algo: str
    env_id: str
    env_kwargs: dict[str, Any]
    seed: int
    total_timesteps: int | None
    max_episodes: int | None
    params: dict[str, Any]
    raw: dict[str, Any]

    def arguments(self) -> dict[str, Any]:
        """Every resolved value by name, parameters included."""
        values = self._asdict()
        del values["raw"], values["params"]
        return {**values, **self.params}


class Assignment(NamedTuple):
    """A parameter's value as text, and the flag that gave it."""

    name: str
    text: str
    flag: str


class Overrides(NamedTuple):
    """What flags said: fields of the run, and parameters."""

    fields: Mapping[str, Any] = {}
    params: Iterable[Assignment] = ()


def read_config(path: str) -> dict[str, Any]:
    """The JSON object in the file; ConfigError says why there is none."""
    try:
        config = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            "--config",
            f"{path} cannot be read: {error.strerror or error}.",
            remedy="Give the path of a TrainRunConfig file.",
        ) from error
    except ValueError as error:
        raise ConfigError(
            "--config", f"{path} is not JSON: {error}.", remedy="Correct the file at that place."
        ) from error
    if not isinstance(config, dict):
        raise ConfigError(
            "--config",
            f"{path} holds {_kind(config)}, not an object.",
            remedy='Write {"algo": …, "params": {…}}.',
        )
    return config


def resolve(
    config: Mapping[str, Any], descriptor: Descriptor, overrides: Overrides | None = None
) -> RunConfig:
    """`config` with `overrides` applied and every default filled in; ConfigError names a field."""
    overrides = overrides or Overrides()
    raw = {**config, **{name: v for name, v in overrides.fields.items() if v is not None}}
    named = raw.get("worker") or descriptor.worker
    if named != descriptor.worker:
        raise ConfigError(
            "worker",
            f"this is {descriptor.worker}, the run is for {named}.",
            remedy=f"Start {named}, or change the field.",
        )
    algorithm = _algorithm(raw, descriptor)
    return RunConfig(
        mode=_one_of("mode", raw.get("mode") or descriptor.modes[0], descriptor.modes),
        algo=algorithm.id,
        env_id=_env_id(raw, descriptor),
        env_kwargs=_object(raw, "env_kwargs"),
        seed=_whole(raw, "seed", 0, default=1) or 0,
        total_timesteps=_whole(raw, "total_timesteps", 1),
        max_episodes=_whole(raw, "max_episodes", 1),
        params=_params(_object(raw, "params"), algorithm, overrides.params),
        raw=raw,
    )


def _algorithm(raw: Mapping[str, Any], descriptor: Descriptor) -> Algorithm:
    by_id = {algorithm.id: algorithm for algorithm in descriptor.algorithms}
    wanted = raw.get("algo")
    if not wanted and len(by_id) == 1:
        return descriptor.algorithms[0]
    return by_id[_one_of("algo", wanted or "", tuple(by_id))]


def _env_id(raw: Mapping[str, Any], descriptor: Descriptor) -> str:
    env_id = raw.get("env_id") or ""
    environments = descriptor.environments
    if not isinstance(env_id, str):
        raise ConfigError("env_id", f"{_kind(env_id)} is no id.", remedy="Give a text.")
    closed = bool(environments.ids) and not environments.any and not environments.families
    if closed and env_id not in environments.ids:
        _one_of("env_id", env_id, environments.ids)
    if not env_id and environments.families:
        raise ConfigError(
            "env_id",
            "there is none.",
            remedy=f"Name an environment of {', '.join(environments.families)}.",
        )
    return env_id


def _params(
    given: Mapping[str, Any], algorithm: Algorithm, overrides: Iterable[Assignment]
) -> dict[str, Any]:
    known = {parameter.name: parameter for parameter in algorithm.parameters}
    values = {name: parameter.default for name, parameter in known.items()}
    for name, value in given.items():
        values[name] = _known(name, known, f"params.{name}").value(value)
    for name, text, flag in overrides:
        values[name] = _known(name, known, flag).parse(text, flag)
    return values


def unknown_fields(config: Mapping[str, Any]) -> list[str]:
    """A sentence for each field that no run has. They are not refused: MOSAIC may be newer."""
    return [
        f"The field '{name}' of the run is not known and has no effect. {_suggestion(name, FIELDS)}"
        for name in config
        if name not in FIELDS
    ]


def _known(name: str, known: Mapping[str, Parameter], field: str) -> Parameter:
    if name in known:
        return known[name]
    raise ConfigError(field, "there is no such parameter.", remedy=_suggestion(name, known))


def _suggestion(name: str, known: Iterable[str]) -> str:
    import difflib  # noqa: PLC0415 - only for a mistake

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {close[0]}?" if close else f"There are {', '.join(names) or 'none'}."


def _one_of(field: str, value: Any, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    problem = f"{value!r} is not known to this worker." if value else "there is none."
    raise ConfigError(field, problem, remedy=f"Use one of {', '.join(allowed)}.")


def _whole(
    raw: Mapping[str, Any], field: str, least: int, default: int | None = None
) -> int | None:
    value = raw.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ConfigError(
            field, f"{value!r} will not do.", remedy=f"Give a whole number, at least {least}."
        )
    return value


def _object(raw: Mapping[str, Any], field: str) -> dict[str, Any]:
    value = raw.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(
            field, f"it is {_kind(value)}.", remedy='Give an object such as {"name": value}.'
        )
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else "null")
