"""Encodes and decodes the `Event` messages of TensorBoard's event files, scalars only.

The required fields are declared here with TensorFlow's field numbers, so neither TensorFlow nor
TensorBoard is needed.
"""

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from mosaic.analytics.declared_messages import declare_message

FILE_VERSION = "brain.Event:2"
_EventMessage = declare_message(
    "mosaic.tensorboard",
    {
        "Event": {
            "wall_time": (1, "double"),
            "step": (2, "int64"),
            "file_version": (3, "string"),
            "summary": (5, "Summary"),
        },
        "Summary": {"value*": (1, "Value")},
        "Value": {
            "tag": (1, "bytes"),
            "simple_value?": (2, "float"),
            "tensor": (8, "Tensor"),
            "metadata": (9, "Metadata"),
        },
        "Metadata": {"plugin": (1, "Plugin")},
        "Plugin": {"name": (1, "bytes")},
        "Tensor": {
            "dtype": (1, "int32"),
            "content": (4, "bytes"),
            "float_val*": (5, "float"),
            "double_val*": (6, "double"),
            "int_val*": (7, "int32"),
            "string_val*": (8, "bytes"),
            "int64_val*": (10, "int64"),
            "bool_val*": (11, "bool"),
            "half_val*": (13, "int32"),
        },
    },
    "Event",
)
_SCALAR_FIELDS = ("float_val", "double_val", "int_val", "int64_val", "bool_val")
_DTYPE_FORMATS = {1: "<f", 2: "<d", 3: "<i", 4: "<B", 6: "<b", 9: "<q", 10: "<?", 19: "<e"}
"""Struct format of a tensor's content, by dtype."""
_BFLOAT16 = 14


class NotAnEventError(ValueError):
    """The bytes are not an event."""


class SummaryValue(NamedTuple):
    """One value of an event. `number` is None for images, texts and histograms."""

    tag: str
    number: float | None


class SummaryEvent(NamedTuple):
    """An event with its values."""

    step: int
    wall_time: float
    values: list[SummaryValue]


def decode_event(data: bytes) -> SummaryEvent:
    """Decode an event; raise `NotAnEventError` for other bytes."""
    message = _EventMessage()
    try:
        message.ParseFromString(data)
    except DecodeError as error:
        raise NotAnEventError(str(error)) from error
    values = [_to_summary_value(value) for value in message.summary.value]
    return SummaryEvent(message.step, message.wall_time, values)


def encode_version_event(wall_time: float) -> bytes:
    """Return the first event of every file."""
    return bytes(_EventMessage(wall_time=wall_time, file_version=FILE_VERSION).SerializeToString())


def encode_scalars_event(wall_time: float, step: int, scalars: Mapping[str, float]) -> bytes:
    """Return an event with the scalars of one step."""
    event = _EventMessage(wall_time=wall_time, step=step)
    for tag, number in scalars.items():
        event.summary.value.add(tag=tag.encode(), simple_value=number)
    return bytes(event.SerializeToString())


def _to_summary_value(value: Any) -> SummaryValue:
    tag = value.tag.decode("utf-8", "replace")
    if value.HasField("simple_value"):
        return SummaryValue(tag, value.simple_value)
    if not value.HasField("tensor") or value.metadata.plugin.name not in (b"", b"scalars"):
        return SummaryValue(tag, None)
    return SummaryValue(tag, _read_scalar(value.tensor))


def _read_scalar(tensor: Any) -> float | None:
    """Return the number in a tensor of TensorFlow 2; None for several numbers or a text."""
    for name in _SCALAR_FIELDS:
        numbers = getattr(tensor, name)
        if numbers:
            return float(numbers[0]) if len(numbers) == 1 else None
    if tensor.half_val:
        bits = struct.pack("<H", tensor.half_val[0] & 0xFFFF)
        return _unpack_scalar(tensor.dtype, bits) if len(tensor.half_val) == 1 else None
    return _unpack_scalar(tensor.dtype, tensor.content)


def _unpack_scalar(dtype: int, content: bytes) -> float | None:
    if dtype == _BFLOAT16 and len(content) == struct.calcsize("<H"):
        return float(struct.unpack("<f", b"\0\0" + content)[0])  # the upper half of a float32
    format_ = _DTYPE_FORMATS.get(dtype)
    if format_ is None or len(content) != struct.calcsize(format_):
        return None
    return float(struct.unpack(format_, content)[0])
