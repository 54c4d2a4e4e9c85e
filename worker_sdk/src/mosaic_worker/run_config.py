"""RunConfig: reads a TrainRunConfig, applies flags, and validates it against the descriptor."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, NamedTuple

from mosaic_worker.errors import ConfigError, WorkerError

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
"""Fields of a TrainRunConfig; a test compares them with the trainer's."""

DescribeScript = Callable[[str], "Algorithm"]
"""Describes the script with this path or name and its parameters. Raises `WorkerError`."""

_STEP_DETAILS = ("auto", "all", "sampled", "columns", "off")


class RunConfig(NamedTuple):
    """A run with every value resolved. `raw` is the complete file.

    If the run executes a script, `params` holds only explicitly set values, and `algo` is the name
    of the script.
    """

    mode: str
    algo: str
    env_id: str
    env_kwargs: dict[str, Any]
    seed: int
    total_timesteps: int | None
    max_episodes: int | None
    params: dict[str, Any]
    raw: dict[str, Any]

    @property
    def script(self) -> str | None:
        """The script to run instead of an algorithm of the worker."""
        return self.raw.get("script") or None

    @property
    def step_detail(self) -> str:
        """How much of each step is recorded: `all`, `sampled`, `columns` or `off`."""
        telemetry = self.raw.get("telemetry") or {}
        return str(telemetry.get("steps") or "all")

    def arguments(self) -> dict[str, Any]:
        """Every resolved value by name, including parameters."""
        values = self._asdict()
        del values["raw"], values["params"]
        return {**values, **self.params}


class Assignment(NamedTuple):
    """A parameter value as text, and the flag that set it."""

    name: str
    text: str
    flag: str


class Overrides(NamedTuple):
    """Values set by flags: fields of the run, and parameters."""

    fields: Mapping[str, Any] = {}
    params: Iterable[Assignment] = ()


def read_config(path: str) -> dict[str, Any]:
    """The JSON object in the file. Raises ConfigError."""
    try:
        config = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            "--config",
            f"{path} cannot be read: {error.strerror or error}.",
            remedy="Pass the path of a TrainRunConfig file.",
        ) from error
    except ValueError as error:
        raise ConfigError(
            "--config", f"{path} is not JSON: {error}.", remedy="Correct the file at that position."
        ) from error
    if not isinstance(config, dict):
        raise ConfigError(
            "--config",
            f"{path} must contain a JSON object, got {_kind(config)}.",
            remedy='Write {"algo": …, "params": {…}}.',
        )
    return config


def resolve(
    config: Mapping[str, Any],
    descriptor: Descriptor,
    overrides: Overrides | None = None,
    describe_script: DescribeScript | None = None,
) -> RunConfig:
    """Apply `overrides` and defaults to `config`. Raises ConfigError.

    A script keeps its own defaults: only explicitly set parameters are in the result.
    """
    overrides = overrides or Overrides()
    raw = {**config, **{name: v for name, v in overrides.fields.items() if v is not None}}
    worker = raw.get("worker") or descriptor.worker
    if worker != descriptor.worker:
        raise ConfigError(
            "worker",
            f"must be {descriptor.worker}, got {worker}.",
            remedy=f"Start {worker}, or change the field.",
        )
    mode = _one_of("mode", raw.get("mode") or descriptor.modes[0], descriptor.modes)
    raw["telemetry"] = _telemetry(raw, mode, descriptor)
    script = raw.get("script") or None
    if script is None:
        algorithm = _algorithm(raw, descriptor)
        params = {parameter.name: parameter.default for parameter in algorithm.parameters}
        params.update(_params(_object(raw, "params"), algorithm, overrides.params))
    else:
        algorithm = script_algorithm(descriptor, script, describe_script)
        params = _params(_object(raw, "params"), algorithm, overrides.params, _EXTRA_ARGS_HINT)
    return RunConfig(
        mode=mode,
        algo=algorithm.id,
        env_id=_env_id(raw, descriptor),
        env_kwargs=_object(raw, "env_kwargs"),
        seed=_integer(raw, "seed", 0, default=1) or 0,
        total_timesteps=_integer(raw, "total_timesteps", 1),
        max_episodes=_integer(raw, "max_episodes", 1),
        params=params,
        raw=raw,
    )


def script_algorithm(
    descriptor: Descriptor, script: Any, describe_script: DescribeScript | None
) -> Algorithm:
    """The script as the only algorithm of its run. Raises ConfigError."""
    if describe_script is None:
        raise ConfigError(
            "script",
            f"{descriptor.worker} does not run scripts.",
            remedy="Remove `script`, or choose a worker that runs scripts.",
        )
    if not isinstance(script, str):
        raise ConfigError(
            "script", f"must be a path, got {_kind(script)}.", remedy="Pass a string."
        )
    try:
        algorithm = describe_script(script)
        for parameter in algorithm.parameters:
            parameter.check()
    except ConfigError:
        raise
    except WorkerError as error:
        raise ConfigError("script", error.message, remedy=error.remedy) from error
    except ValueError as error:
        raise ConfigError("script", f"{error}.", remedy="Correct the script.") from error
    return algorithm


def _telemetry(raw: Mapping[str, Any], mode: str, descriptor: Descriptor) -> dict[str, Any]:
    """Replace the step detail `auto` by the default of the worker."""
    telemetry = _object(raw, "telemetry")
    steps = _one_of("telemetry.steps", telemetry.get("steps") or "auto", _STEP_DETAILS)
    if steps == "auto":
        steps = "off" if mode == "train" and descriptor.lane == "analytics" else "all"
    return {**telemetry, "steps": steps}


def _algorithm(raw: Mapping[str, Any], descriptor: Descriptor) -> Algorithm:
    by_id = {algorithm.id: algorithm for algorithm in descriptor.algorithms}
    algo = raw.get("algo")
    if not algo and len(by_id) == 1:
        return descriptor.algorithms[0]
    return by_id[_one_of("algo", algo or "", tuple(by_id))]


def _env_id(raw: Mapping[str, Any], descriptor: Descriptor) -> str:
    env_id = raw.get("env_id") or ""
    environments = descriptor.environments
    if not isinstance(env_id, str):
        raise ConfigError("env_id", f"must be a string, got {_kind(env_id)}.", remedy="Pass an id.")
    is_closed = bool(environments.ids) and not environments.any and not environments.families
    if is_closed and env_id not in environments.ids:
        _one_of("env_id", env_id, environments.ids)
    if not env_id and environments.families:
        raise ConfigError(
            "env_id",
            "is missing.",
            remedy=f"Choose an environment of {', '.join(environments.families)}.",
        )
    return env_id


_EXTRA_ARGS_HINT = " Pass other arguments of the script as `extra_args`."


def _params(
    given: Mapping[str, Any],
    algorithm: Algorithm,
    overrides: Iterable[Assignment],
    hint: str = "",
) -> dict[str, Any]:
    """The explicitly set values, converted to the types of the parameters."""
    known = {parameter.name: parameter for parameter in algorithm.parameters}
    values = {}
    for name, value in given.items():
        values[name] = _known(name, known, f"params.{name}", hint).value(value)
    for name, text, flag in overrides:
        values[name] = _known(name, known, flag, hint).parse(text, flag)
    return values


def unknown_fields(config: Mapping[str, Any]) -> list[str]:
    """A warning per unknown field. They are not errors: MOSAIC may be newer than the SDK."""
    return [
        f"The field '{name}' of the run is unknown and has no effect. {_suggestion(name, FIELDS)}"
        for name in config
        if name not in FIELDS
    ]


def _known(name: str, known: Mapping[str, Parameter], field: str, hint: str) -> Parameter:
    if name in known:
        return known[name]
    raise ConfigError(field, "unknown parameter.", remedy=_suggestion(name, known) + hint)


def _suggestion(name: str, known: Iterable[str]) -> str:
    import difflib  # noqa: PLC0415 - rarely needed

    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1)
    return f"Did you mean {close[0]}?" if close else f"Known: {', '.join(names) or 'none'}."


def _one_of(field: str, value: Any, allowed: tuple[str, ...]) -> str:
    if isinstance(value, str) and value in allowed:
        return value
    problem = f"{value!r} is unknown to this worker." if value else "is missing."
    raise ConfigError(field, problem, remedy=f"Use one of {', '.join(allowed)}.")


def _integer(
    raw: Mapping[str, Any], field: str, minimum: int, default: int | None = None
) -> int | None:
    value = raw.get(field)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
        raise ConfigError(
            field,
            f"must be an integer, at least {minimum}, got {value!r}.",
            remedy="Change the value.",
        )
    return value


def _object(raw: Mapping[str, Any], field: str) -> dict[str, Any]:
    value = raw.get(field)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ConfigError(
            field, f"must be an object, got {_kind(value)}.", remedy='Pass {"name": value}.'
        )
    return value


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else "null")
