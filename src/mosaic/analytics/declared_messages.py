"""Classes of protocol buffers from a short declaration, without generated code.

Only the fields that somebody needs are declared; all others are passed over when a message is
read. Used by `wandb_messages.py` and `event_messages.py`.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

_TYPES = {
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int32": FieldDescriptorProto.TYPE_INT32,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "string": FieldDescriptorProto.TYPE_STRING,
    "bytes": FieldDescriptorProto.TYPE_BYTES,
}
Declaration = Mapping[str, Mapping[str, tuple[int, str]]]
"""By the message's name and the field's: its number and type. A `*` after the field's name says
that a message holds any number of it, a `?` that its absence is told from zero."""


def declare(package: str, messages: Declaration, root: str) -> Any:
    """The class of the message `root`."""
    file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for message_name, fields in messages.items():
        message = file.message_type.add(name=message_name)
        for marked_name, (number, kind) in fields.items():
            field = message.field.add(name=marked_name.rstrip("*?"), number=number)
            is_many = marked_name.endswith("*")
            field.label = (
                FieldDescriptorProto.LABEL_REPEATED
                if is_many
                else FieldDescriptorProto.LABEL_OPTIONAL
            )
            if kind in _TYPES:
                field.type = _TYPES[kind]
            else:
                field.type = FieldDescriptorProto.TYPE_MESSAGE
                field.type_name = f".{package}.{kind}"
            if marked_name.endswith("?"):
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
    pool = DescriptorPool()  # one of our own: nobody else's names get in the way
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"{package}.{root}"))
