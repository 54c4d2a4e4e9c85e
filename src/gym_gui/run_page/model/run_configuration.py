"""Every value of a run's configuration in rows: what it is, its default, and another run's.

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
    "extra_args": "Passed on unchecked",
    "metadata": "Metadata",
}
RUN, PARAMETERS, RESOLVED = "Run", "Parameters", "Resolved by the worker"
_GROUPS = (RUN, PARAMETERS, *_NESTED.values(), RESOLVED)
_DEFAULTS: dict[str, Any] = msgspec.to_builtins(TrainRunConfig(worker="none", env_id="none"))
_NO_DEFAULT = ("worker", "env_id", "algo", "run_name")
"""What every run has of its own."""
_AS_WRITTEN_ELSEWHERE = ("params", *_NESTED)


@dataclass(frozen=True, slots=True)
class ConfigSource:
    """What the values of a run are taken from."""

    config: TrainRunConfig
    resolved: Mapping[str, Any] | None
    """The worker's `config` event; None until it has said so."""
    descriptor: WorkerDescriptor | None


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """One value. Texts are empty where there is nothing to say."""

    group: str
    name: str
    value: str
    default: str
    has_default: bool
    is_changed: bool
    """It is not the default."""
    help: str = ""
    other: str = ""
    differs: bool = False
    """From the other run."""


@dataclass(frozen=True, slots=True)
class _Value:
    value: Any
    default: Any = _MISSING
    help: str = ""


def rows_of(source: ConfigSource, other: ConfigSource | None = None) -> list[ConfigRow]:
    """In the order of the groups; what only the other run has comes last in its group."""
    mine = _values_of(source)
    theirs = _values_of(other) if other is not None else {}
    keys = [*mine, *(key for key in theirs if key not in mine)]
    keys.sort(key=lambda key: _GROUPS.index(key[0]))  # stable: the order within stays
    rows = []
    for key in keys:
        value = mine.get(key) or _Value(_MISSING, theirs[key].default, theirs[key].help)
        known = theirs.get(key)
        other_value = known.value if known else _MISSING
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
                other=text_of(other_value) if other is not None else "",
                differs=other is not None and not _same(value.value, other_value),
            )
        )
    return rows


def as_json(source: ConfigSource) -> str:
    """The configuration as it was submitted, to be read and submitted again."""
    return msgspec.json.format(msgspec.json.encode(source.config), indent=2).decode()


def text_of(value: Any) -> str:
    """A value as people write it; nothing for one that is not there."""
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
        if name not in _AS_WRITTEN_ELSEWHERE:
            default = _MISSING if name in _NO_DEFAULT else _DEFAULTS[name]
            values[RUN, name] = _Value(value, default)
    resolved = dict((source.resolved or {}).get("args") or {})
    for name, each in _parameters_of(source, document["params"], resolved):
        values[PARAMETERS, name] = each
    for field, group in _NESTED.items():
        defaults = dict(_leaves(_DEFAULTS[field] or _bundle_defaults(field)))
        for name, value in _leaves(document[field] or _bundle_defaults(field)):
            values[group, name] = _Value(value, defaults.get(name, _MISSING))
    told = {name for _, name in values}
    for name, value in _leaves(resolved):
        if name not in told:
            values[RESOLVED, name] = _Value(value)
    return values


def _parameters_of(
    source: ConfigSource, given: Mapping[str, Any], resolved: Mapping[str, Any]
) -> Iterator[tuple[str, _Value]]:
    """The descriptor's, in its order; then those that it does not know, or no more."""
    parameters = _described(source)
    for parameter in parameters:
        name = parameter.name
        value = resolved.get(name, given.get(name, parameter.default))
        words = " ".join(filter(None, (parameter.help, parameter.unit and f"In {parameter.unit}.")))
        yield name, _Value(value, parameter.default, words)
    known = {parameter.name for parameter in parameters}
    for name, value in given.items():
        if name not in known:
            yield name, _Value(value)


def _described(source: ConfigSource) -> Sequence[Parameter]:
    descriptor, algo = source.descriptor, source.config.algo
    algorithm = descriptor.algorithm(algo) if descriptor and algo else None
    return algorithm.parameters if algorithm else ()


def _leaves(document: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """`wandb.mode` and its value, for objects within objects."""
    for name, value in document.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _bundle_defaults(field: str) -> dict[str, Any]:
    return {"name": None, "extras": []} if field == "bundle" else {}


def _same(one: Any, other: Any) -> bool:
    """1 and 1.0 are the same value, True and 1 are not."""
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return bool(one == other)
