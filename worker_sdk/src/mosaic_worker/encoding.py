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

STEP_REQUIRED = ("episode_id", "step", "action", "reward", "terminated", "truncated")
STEP_OPTIONAL = ("obs", "info", "render", "actor", "seq", "bdi", "llm", "agent_id", "t")
METRIC_REQUIRED = ("name", "value")
METRIC_OPTIONAL = ("step", "agent_id", "t")

UNENCODABLE = (TypeError, ValueError, OverflowError, RuntimeError)


class Encoder(NamedTuple):
    """How to build the two frequent records, and how to turn any record into JSON bytes."""

    name: str
    encode: Callable[[Record], bytes]
    step: RecordMaker
    metric: RecordMaker


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
    required = STEP_REQUIRED if fields["type"] == "step" else METRIC_REQUIRED
    for name in record.__struct_fields__:
        value = getattr(record, name)
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
    return Encoder(
        name="json",
        encode=lambda record: _dumps(record).encode("utf-8"),
        step=_dict_maker("step", STEP_REQUIRED, STEP_OPTIONAL),
        metric=_dict_maker("metric", METRIC_REQUIRED, METRIC_OPTIONAL),
    )


def _orjson_encoder() -> Encoder:
    import orjson  # noqa: PLC0415 - optional, and start-up counts

    options = orjson.OPT_UTC_Z

    def encode(record: Record) -> bytes:
        return orjson.dumps(record, simplify, options)

    return Encoder(
        name="orjson",
        encode=encode,
        step=_dict_maker("step", STEP_REQUIRED, STEP_OPTIONAL),
        metric=_dict_maker("metric", METRIC_REQUIRED, METRIC_OPTIONAL),
    )


def _msgspec_encoder() -> Encoder:
    import msgspec  # noqa: PLC0415 - optional, and start-up counts

    def struct(tag: str, required: tuple[str, ...], optional: tuple[str, ...]) -> RecordMaker:
        fields: list[Any] = [(name, Any) for name in required]
        fields += [(name, Any, None) for name in optional]
        return msgspec.defstruct(
            tag, fields, tag_field="type", tag=tag, omit_defaults=True, gc=False
        )

    return Encoder(
        name="msgspec",
        encode=msgspec.json.Encoder(enc_hook=simplify).encode,
        step=struct("step", STEP_REQUIRED, STEP_OPTIONAL),
        metric=struct("metric", METRIC_REQUIRED, METRIC_OPTIONAL),
    )


def _dict_maker(kind: str, required: tuple[str, ...], optional: tuple[str, ...]) -> RecordMaker:
    count = len(required)

    def make(*values: Any) -> dict[str, Any]:
        given = {name: v for name, v in zip(optional, values[count:]) if v is not None}
        return {"type": kind, **dict(zip(required, values)), **given}

    return make


_MAKERS = {"msgspec": _msgspec_encoder, "orjson": _orjson_encoder, "json": _json_encoder}
