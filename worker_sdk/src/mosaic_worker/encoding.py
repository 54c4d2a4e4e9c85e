"""Encodes a telemetry line with the fastest encoder that the worker's environment has.

msgspec, orjson and the standard library produce equivalent lines. The first two encode NaN as null,
so a line that contains a null is encoded again by `encode_any`; other lines cost nothing extra.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.json_values import JsonConverter, to_json_default

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = Any  # a dict, or a msgspec Struct of the same fields
    MakeRecord = Callable[..., Record]


class _RecordFields(NamedTuple):
    """The required and the optional fields of one record type."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


_ORIGIN_FIELDS = ("episode", "env_index", "seed", "start", "options", "action_dtype")
_COLUMN_FIELDS = ("first", "actions", "rewards")

_RECORD_FIELDS = {
    "step": _RecordFields(
        ("episode_id", "step", "action", "reward", "terminated", "truncated"),
        ("obs", "info", "render", "actor", "seq", "bdi", "llm", "agent_id", "t"),
    ),
    "metric": _RecordFields(("name", "value"), ("step", "agent_id", "t")),
    "episode_start": _RecordFields(
        ("episode_id",), (*_ORIGIN_FIELDS, "obs", "info", "render", "agent_id")
    ),
    "steps": _RecordFields(("episode_id", *_COLUMN_FIELDS), ("agent_id",)),
    "episode": _RecordFields(
        ("episode_id", "steps", "return"),
        ("terminated", "truncated", "t_end", *_ORIGIN_FIELDS, *_COLUMN_FIELDS, "agent_id"),
    ),
}

UNENCODABLE = (TypeError, ValueError, OverflowError, RuntimeError)


class Encoder(NamedTuple):
    """Record constructors for the frequent types, and functions that encode any record as JSON.

    A constructor takes the fields of its type in order; trailing ones may be omitted.
    """

    name: str
    encode: Callable[[Record], bytes]
    encode_lines: Callable[[list[Record]], bytes]
    step: MakeRecord
    metric: MakeRecord
    episode_start: MakeRecord
    steps: MakeRecord
    episode: MakeRecord


def choose_encoder(name: str = "") -> Encoder:
    """The encoder with this name, or the fastest one that can be imported."""
    if name:
        if name not in _FACTORIES:
            raise ValueError(f"unknown encoder {name!r}; choose one of {', '.join(_FACTORIES)}")
        return _FACTORIES[name]()
    for factory in (_make_msgspec_encoder, _make_orjson_encoder):
        with contextlib.suppress(ImportError):
            return factory()
    return _make_json_encoder()


def to_dict(record: Record) -> dict[str, Any]:
    """The record as a dict with its `type`, for every encoder."""
    if isinstance(record, dict):
        return record
    fields: dict[str, Any] = {"type": record.__struct_config__.tag}
    required = _RECORD_FIELDS[fields["type"]].required
    for attribute, name in zip(record.__struct_fields__, record.__struct_encode_fields__):
        value = getattr(record, attribute)
        if value is not None or name in required:
            fields[name] = value
    return fields


def encode_any(fields: dict[str, Any]) -> tuple[bytes, list[str]]:
    """JSON for any value, and the fields of which only the repr() was written."""
    converter = JsonConverter()
    plain = {name: converter.convert(name, value) for name, value in fields.items()}
    return _dumps(plain).encode("utf-8"), converter.unserializable


_dumps = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=to_json_default
).encode


def _make_json_encoder() -> Encoder:
    return _make_dict_encoder("json", lambda record: _dumps(record).encode("utf-8"))


def _make_orjson_encoder() -> Encoder:
    import orjson  # noqa: PLC0415 - optional, and slow to import

    options = orjson.OPT_UTC_Z
    return _make_dict_encoder(
        "orjson", lambda record: orjson.dumps(record, to_json_default, options)
    )


def _make_dict_encoder(name: str, encode: Callable[[Record], bytes]) -> Encoder:
    return Encoder(
        name=name,
        encode=encode,
        encode_lines=lambda records: b"".join([encode(record) + b"\n" for record in records]),
        **{
            kind: _make_dict_record(kind, fields_of_type)
            for kind, fields_of_type in _RECORD_FIELDS.items()
        },
    )


def _make_msgspec_encoder() -> Encoder:
    import msgspec  # noqa: PLC0415 - optional, and slow to import

    def struct(tag: str, fields_of_type: _RecordFields) -> MakeRecord:
        fields: list[Any] = [(_attribute(name), Any) for name in fields_of_type.required]
        fields += [(name, Any, None) for name in fields_of_type.optional]
        return msgspec.defstruct(
            tag,
            fields,
            tag_field="type",
            tag=tag,
            rename={_attribute("return"): "return"},
            omit_defaults=True,
            gc=False,
        )

    encoder = msgspec.json.Encoder(enc_hook=to_json_default)
    return Encoder(
        name="msgspec",
        encode=encoder.encode,
        encode_lines=encoder.encode_lines,
        **{kind: struct(kind, fields_of_type) for kind, fields_of_type in _RECORD_FIELDS.items()},
    )


def _attribute(name: str) -> str:
    """Return the field name of a struct, which cannot be a Python keyword."""
    return "return_" if name == "return" else name


def _make_dict_record(kind: str, fields_of_type: _RecordFields) -> MakeRecord:
    required, optional = fields_of_type
    count = len(required)

    def make(*values: Any) -> dict[str, Any]:
        given = {name: v for name, v in zip(optional, values[count:]) if v is not None}
        return {"type": kind, **dict(zip(required, values)), **given}

    return make


_FACTORIES = {
    "msgspec": _make_msgspec_encoder,
    "orjson": _make_orjson_encoder,
    "json": _make_json_encoder,
}
