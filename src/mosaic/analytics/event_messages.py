"""The messages in TensorBoard's event files: what they say of numbers, and how to write some.

They are protocol buffers. Only the fields that matter here are declared, with the numbers that
TensorFlow gave them; all others are passed over, so neither TensorFlow nor TensorBoard is needed.
"""

import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf.message import DecodeError

from mosaic.analytics.declared_messages import declare

FILE_VERSION = "brain.Event:2"
_Event = declare(
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
_NUMBERS = ("float_val", "double_val", "int_val", "int64_val", "bool_val")
_LAYOUTS = {1: "<f", 2: "<d", 3: "<i", 4: "<B", 6: "<b", 9: "<q", 10: "<?", 19: "<e"}
"""Of a tensor's content, by its dtype."""
_BFLOAT16 = 14


class NotAnEventError(ValueError):
    """The bytes are no event."""


class SummaryValue(NamedTuple):
    """One value of an event. `number` is None for what is no number: a picture, a text."""

    tag: str
    number: float | None


class Event(NamedTuple):
    step: int
    wall_time: float
    said: list[SummaryValue]


def read_event(content: bytes) -> Event:
    """NotAnEventError when it is none."""
    message = _Event()
    try:
        message.ParseFromString(content)
    except DecodeError as error:
        raise NotAnEventError(str(error)) from error
    values = message.summary.value
    return Event(message.step, message.wall_time, [_said(each) for each in values])


def version_event(wall_time: float) -> bytes:
    """What every file begins with."""
    return bytes(_Event(wall_time=wall_time, file_version=FILE_VERSION).SerializeToString())


def scalars_event(wall_time: float, step: int, numbers: Mapping[str, float]) -> bytes:
    """Some numbers of one step."""
    event = _Event(wall_time=wall_time, step=step)
    for tag, number in numbers.items():
        event.summary.value.add(tag=tag.encode(), simple_value=number)
    return bytes(event.SerializeToString())


def _said(value: Any) -> SummaryValue:
    tag = value.tag.decode("utf-8", "replace")
    if value.HasField("simple_value"):
        return SummaryValue(tag, value.simple_value)
    if not value.HasField("tensor") or value.metadata.plugin.name not in (b"", b"scalars"):
        return SummaryValue(tag, None)
    return SummaryValue(tag, _only_number(value.tensor))


def _only_number(tensor: Any) -> float | None:
    """As TensorFlow 2 writes a number; None for a tensor that holds more than one, or a text."""
    for name in _NUMBERS:
        numbers = getattr(tensor, name)
        if numbers:
            return float(numbers[0]) if len(numbers) == 1 else None
    if tensor.half_val:
        bits = struct.pack("<H", tensor.half_val[0] & 0xFFFF)
        return _unpacked(tensor.dtype, bits) if len(tensor.half_val) == 1 else None
    return _unpacked(tensor.dtype, tensor.content)


def _unpacked(dtype: int, content: bytes) -> float | None:
    if dtype == _BFLOAT16 and len(content) == struct.calcsize("<H"):
        return float(struct.unpack("<f", b"\0\0" + content)[0])  # the upper half of a float
    layout = _LAYOUTS.get(dtype)
    if layout is None or len(content) != struct.calcsize(layout):
        return None
    return float(struct.unpack(layout, content)[0])
