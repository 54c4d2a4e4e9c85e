"""Converts structs to gRPC messages and back, by fields of the same name.

A union of tagged structs is a `oneof` of the same name, whose members are named after the tags.
A test checks that both sides have the same fields.
"""

import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, TypeVar

import msgspec
from google.protobuf.message import Message

_Struct = TypeVar("_Struct", bound=msgspec.Struct)
_Message = TypeVar("_Message", bound=Message)


def to_message(value: msgspec.Struct, message_type: type[_Message]) -> _Message:
    """Convert `value` to a message. Fields that are None stay unset."""
    oneofs = message_type.DESCRIPTOR.oneofs_by_name
    message = message_type()
    for name in value.__struct_fields__:
        item = getattr(value, name)
        if item is None:
            continue
        target = item.__struct_config__.tag if name in oneofs else name
        if isinstance(item, msgspec.Struct):
            nested = getattr(message, target)
            nested.SetInParent()
            nested.MergeFrom(to_message(item, type(nested)))
        elif isinstance(item, tuple):
            repeated = getattr(message, target)
            if item and isinstance(item[0], msgspec.Struct):
                for element in item:
                    nested = repeated.add()
                    nested.MergeFrom(to_message(element, type(nested)))
            else:
                repeated.extend(item)
        elif isinstance(item, dict):
            getattr(message, target).update(item)
        else:
            setattr(message, target, item)
    return message


def from_message(message: Message, struct_type: type[_Struct]) -> _Struct:
    """Convert `message` to a struct. Raises ValueError for an unknown value of an enum."""
    return struct_type(
        **{
            name: value
            for name, read in _field_readers(struct_type)
            if (value := read(message)) is not _UNSET
        }
    )


_UNSET = object()
_Reader = Callable[[Any], Any]


@cache
def _field_readers(struct_type: type[msgspec.Struct]) -> tuple[tuple[str, _Reader], ...]:
    hints = typing.get_type_hints(struct_type)
    return tuple((name, _field_reader(name, hints[name])) for name in struct_type.__struct_fields__)


def _field_reader(name: str, hint: Any) -> _Reader:
    options = _options(hint)
    if len(options) > 1:
        return _union_reader(name, options)
    convert = _converter(options[0])
    if type(None) in typing.get_args(hint) or _is_struct(options[0]):
        return lambda message: convert(getattr(message, name)) if message.HasField(name) else _UNSET
    return lambda message: convert(getattr(message, name))


def _union_reader(name: str, options: list[Any]) -> _Reader:
    members = {option.__struct_config__.tag: option for option in options}

    def read(message: Any) -> Any:
        member = message.WhichOneof(name)
        return _UNSET if member is None else from_message(getattr(message, member), members[member])

    return read


def _converter(hint: Any) -> Callable[[Any], Any]:
    if typing.get_origin(hint) is tuple:
        element = _converter(typing.get_args(hint)[0])
        return lambda values: tuple(map(element, values))
    if typing.get_origin(hint) is dict:
        return dict
    if _is_struct(hint):
        return lambda message: from_message(message, hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    return lambda value: value


def _options(hint: Any) -> list[Any]:
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return [option for option in typing.get_args(hint) if option is not type(None)]
    return [hint]


def _is_struct(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)
