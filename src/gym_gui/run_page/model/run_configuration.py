"""Every value of a run's configuration as rows: value, default, and the value of another run.

Plain functions; `ConfigurationTable` shows the rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.parameters import Parameter
from mosaic.contract.run_config import TrainRunConfig

_MISSING = object()
_NESTED = {
    "env_kwargs": "Environment",
    "telemetry": "Telemetry",
    "artifacts": "Artifacts",
    "bundle": "Bundle",
    "resources": "Resources",
    "extra_args": "Extra arguments",
    "metadata": "Metadata",
}
RUN, PARAMETERS, RESOLVED = "Run", "Parameters", "Resolved by the worker"
_GROUPS = (RUN, PARAMETERS, *_NESTED.values(), RESOLVED)
_DEFAULTS: dict[str, Any] = msgspec.to_builtins(TrainRunConfig(worker="none", env_id="none"))
_NO_DEFAULT = ("worker", "env_id", "algo", "run_name")
"""Fields that differ for every run."""
_LISTED_ELSEWHERE = ("params", *_NESTED)


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """Where the values of a run come from."""

    config: TrainRunConfig
    resolved: Mapping[str, Any] | None
    """The worker's `config` event; None until it is reported."""
    descriptor: WorkerDescriptor | None


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """One value. Texts are empty if they do not apply."""

    group: str
    name: str
    value: str
    default: str
    has_default: bool
    is_changed: bool
    """Whether it differs from the default."""
    help: str = ""
    other: str = ""
    differs: bool = False
    """Whether it differs from the other run."""


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any
    default: Any = _MISSING
    help: str = ""


def rows_of(source: ConfigSource, other: ConfigSource | None = None) -> list[ConfigRow]:
    """Ordered by group; values that only the other run has come last in their group."""
    own = _values_of(source)
    others = _values_of(other) if other is not None else {}
    keys = [*own, *(key for key in others if key not in own)]
    keys.sort(key=lambda key: _GROUPS.index(key[0]))  # stable: the order within stays
    rows = []
    for key in keys:
        value = own.get(key) or _Value(_MISSING, others[key].default, others[key].help)
        known = others.get(key)
        reference = known.value if known else _MISSING
        rows.append(
            ConfigRow(
                group=key[0],
                name=key[1],
                value=text_of(value.value),
                default=text_of(value.default),
                has_default=value.default is not _MISSING,
                is_changed=value.value is not _MISSING
                and value.default is not _MISSING
                and not _same(value.value, value.default),
                help=value.help,
                other=text_of(reference) if other is not None else "",
                differs=other is not None and not _same(value.value, reference),
            )
        )
    return rows


def as_json(source: ConfigSource) -> str:
    """The configuration as it was submitted."""
    return msgspec.json.format(msgspec.json.encode(source.config), indent=2).decode()


def text_of(value: Any) -> str:
    """A readable value; empty for a missing one."""
    if value is _MISSING:
        return ""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return msgspec.json.encode(value).decode() if value else "none"


def _values_of(source: ConfigSource) -> dict[tuple[str, str], _Value]:
    document: dict[str, Any] = msgspec.to_builtins(source.config)
    values: dict[tuple[str, str], _Value] = {}
    for name, value in document.items():
        if name not in _LISTED_ELSEWHERE:
            default = _MISSING if name in _NO_DEFAULT else _DEFAULTS[name]
            values[RUN, name] = _Value(value, default)
    resolved = dict((source.resolved or {}).get("args") or {})
    for name, parameter in _parameters_of(source, document["params"], resolved):
        values[PARAMETERS, name] = parameter
    for field, group in _NESTED.items():
        defaults = dict(_leaves(_DEFAULTS[field] or _bundle_defaults(field)))
        for name, value in _leaves(document[field] or _bundle_defaults(field)):
            values[group, name] = _Value(value, defaults.get(name, _MISSING))
    listed = {name for _, name in values}
    for name, value in _leaves(resolved):
        if name not in listed:
            values[RESOLVED, name] = _Value(value)
    return values


def _parameters_of(
    source: ConfigSource, given: Mapping[str, Any], resolved: Mapping[str, Any]
) -> Iterator[tuple[str, _Value]]:
    """Parameters of the descriptor in its order; then those it does not list."""
    parameters = _described(source)
    for parameter in parameters:
        name = parameter.name
        value = resolved.get(name, given.get(name, parameter.default))
        unit = parameter.unit and f"In {parameter.unit}."
        help_text = " ".join(filter(None, (parameter.help, unit)))
        yield name, _Value(value, parameter.default, help_text)
    known = {parameter.name for parameter in parameters}
    for name, value in given.items():
        if name not in known:
            yield name, _Value(value)


def _described(source: ConfigSource) -> Sequence[Parameter]:
    descriptor, algo = source.descriptor, source.config.algo
    algorithm = descriptor.algorithm(algo) if descriptor and algo else None
    return algorithm.parameters if algorithm else ()


def _leaves(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted path and value, such as `wandb.mode`, for nested objects."""
    for name, value in document.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _bundle_defaults(field: str) -> dict[str, Any]:
    return {"name": None, "extras": []} if field == "bundle" else {}


def _same(first: Any, other: Any) -> bool:
    """1 and 1.0 are the same value, True and 1 are not."""
    if isinstance(first, bool) != isinstance(other, bool):
        return False
    return bool(first == other)
