"""Creates protocol buffer classes from a short declaration, without generated code.

Only the required fields are declared; protobuf skips all others. A separate module because the
TensorBoard and the W&B reader share it.
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
"""Field number and type by message and field name. A `*` after the field name marks a repeated
field, a `?` a field with presence (`optional`)."""


def declare_message(package: str, messages: Declaration, root: str) -> Any:
    """Return the class of the message `root`."""
    file = FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for message_name, fields in messages.items():
        message = file.message_type.add(name=message_name)
        for marked_name, (number, kind) in fields.items():
            field = message.field.add(name=marked_name.rstrip("*?"), number=number)
            is_repeated = marked_name.endswith("*")
            field.label = (
                FieldDescriptorProto.LABEL_REPEATED
                if is_repeated
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
    pool = DescriptorPool()  # a private pool: no conflicts with other packages
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"{package}.{root}"))
