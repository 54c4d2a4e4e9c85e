"""Encodes a telemetry line with the fastest encoder that the worker's environment has.

msgspec, orjson and the standard library give equivalent lines. The first two write NaN as null, so
a line with a null in it is encoded again with care; steps with neither cost nothing extra.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.plain import Plainer, simplify

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = Any  # a dict, or a msgspec Struct of the same fields
    RecordMaker = Callable[..., Record]


class _Shape(NamedTuple):
    """The fields of one type of record: those that are always written, and those that may be."""

    required: tuple[str, ...]
    optional: tuple[str, ...]


_ORIGIN = ("episode", "env_index", "seed", "start", "options", "action_dtype")
_COLUMNS = ("first", "actions", "rewards")

_SHAPES = {
    "step": _Shape(
        ("episode_id", "step", "action", "reward", "terminated", "truncated"),
        ("obs", "info", "render", "actor", "seq", "bdi", "llm", "agent_id", "t"),
    ),
    "metric": _Shape(("name", "value"), ("step", "agent_id", "t")),
    "episode_start": _Shape(("episode_id",), (*_ORIGIN, "obs", "info", "render", "agent_id")),
    "steps": _Shape(("episode_id", *_COLUMNS), ("agent_id",)),
    "episode": _Shape(
        ("episode_id", "steps", "return"),
        ("terminated", "truncated", "t_end", *_ORIGIN, *_COLUMNS, "agent_id"),
    ),
}

UNENCODABLE = (TypeError, ValueError, OverflowError, RuntimeError)


class Encoder(NamedTuple):
    """How to build the frequent records, and how to turn any record into JSON bytes.

    A maker takes the fields of its type in their order; the last ones may be left out.
    """

    name: str
    encode: Callable[[Record], bytes]
    encode_lines: Callable[[list[Record]], bytes]
    step: RecordMaker
    metric: RecordMaker
    episode_start: RecordMaker
    steps: RecordMaker
    episode: RecordMaker


def choose_encoder(name: str = "") -> Encoder:
    """The encoder called `name`, or the fastest one that can be imported."""
    if name:
        if name not in _MAKERS:
            raise ValueError(f"there is no encoder {name!r}; choose one of {', '.join(_MAKERS)}")
        return _MAKERS[name]()
    for maker in (_msgspec_encoder, _orjson_encoder):
        with contextlib.suppress(ImportError):
            return maker()
    return _json_encoder()


def as_fields(record: Record) -> dict[str, Any]:
    """The record as a dict with its `type`, whatever the encoder made it of."""
    if isinstance(record, dict):
        return record
    fields: dict[str, Any] = {"type": record.__struct_config__.tag}
    required = _SHAPES[fields["type"]].required
    for attribute, name in zip(record.__struct_fields__, record.__struct_encode_fields__):
        value = getattr(record, attribute)
        if value is not None or name in required:
            fields[name] = value
    return fields


def encode_with_care(fields: dict[str, Any]) -> tuple[bytes, list[str]]:
    """JSON for any value at all, and the fields of which only a repr() could be written."""
    plainer = Plainer()
    plain = {name: plainer.plain(name, value) for name, value in fields.items()}
    return _dumps(plain).encode("utf-8"), plainer.odd


_dumps = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=simplify
).encode


def _json_encoder() -> Encoder:
    return _with_dicts("json", lambda record: _dumps(record).encode("utf-8"))


def _orjson_encoder() -> Encoder:
    import orjson  # noqa: PLC0415 - optional, and start-up counts

    options = orjson.OPT_UTC_Z
    return _with_dicts("orjson", lambda record: orjson.dumps(record, simplify, options))


def _with_dicts(name: str, encode: Callable[[Record], bytes]) -> Encoder:
    return Encoder(
        name=name,
        encode=encode,
        encode_lines=lambda records: b"".join([encode(record) + b"\n" for record in records]),
        **{kind: _dict_maker(kind, shape) for kind, shape in _SHAPES.items()},
    )


def _msgspec_encoder() -> Encoder:
    import msgspec  # noqa: PLC0415 - optional, and start-up counts

    def struct(tag: str, shape: _Shape) -> RecordMaker:
        fields: list[Any] = [(_attribute(name), Any) for name in shape.required]
        fields += [(name, Any, None) for name in shape.optional]
        return msgspec.defstruct(
            tag,
            fields,
            tag_field="type",
            tag=tag,
            rename={_attribute("return"): "return"},
            omit_defaults=True,
            gc=False,
        )

    encoder = msgspec.json.Encoder(enc_hook=simplify)
    return Encoder(
        name="msgspec",
        encode=encoder.encode,
        encode_lines=encoder.encode_lines,
        **{kind: struct(kind, shape) for kind, shape in _SHAPES.items()},
    )


def _attribute(name: str) -> str:
    """A keyword of Python cannot be the name of a struct's field."""
    return "return_" if name == "return" else name


def _dict_maker(kind: str, shape: _Shape) -> RecordMaker:
    required, optional = shape
    count = len(required)

    def make(*values: Any) -> dict[str, Any]:
        given = {name: v for name, v in zip(optional, values[count:]) if v is not None}
        return {"type": kind, **dict(zip(required, values)), **given}

    return make


_MAKERS = {"msgspec": _msgspec_encoder, "orjson": _orjson_encoder, "json": _json_encoder}
