"""Access to every call of the service by name, and to its responses and errors."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import grpc
import pytest
from google.protobuf.message import Message

from mosaic.contract.rpc import trainer_pb2 as pb
from mosaic.telemetry.chunks import decompress_lines
from tests.support.daemon import DaemonUnderTest

SERVICE = pb.DESCRIPTOR.services_by_name["TrainerService"]
METHODS = {method.name: method for method in SERVICE.methods}


def call(daemon: DaemonUnderTest, name: str, request: Message) -> list[Any]:
    """Make a unary or streaming call and return all responses."""
    method = METHODS[name]
    sent: Any = iter([request]) if method.client_streaming else request
    response = getattr(daemon.stub, name)(sent, timeout=60)
    return list(response) if method.server_streaming else [response]


def empty_request(name: str) -> Message:
    """Return an empty request message."""
    message_type = getattr(pb, METHODS[name].input_type.name)
    message: Message = message_type()
    return message


def rejected_call(daemon: DaemonUnderTest, name: str, request: Message) -> grpc.RpcError:
    """Make a call that must be rejected and return its error."""
    with pytest.raises(grpc.RpcError) as caught:
        call(daemon, name, request)
    return caught.value


def error_details(error: grpc.RpcError) -> dict[str, str]:
    """Return the metadata of an error: remedy and code."""
    items = error.trailing_metadata() or ()
    return {item.key: unquote(str(item.value)) for item in items}


def lines_of(chunks: Iterator[pb.LineChunk], after: int = -1) -> Iterator[bytes]:
    """Yield each line of the chunks after `after` once; fail on a gap."""
    for chunk in chunks:
        lines = decompress_lines(chunk.zstd)
        assert len(lines) == chunk.lines
        assert chunk.first_seq <= after + 1, "lines are missing"
        for seq, line in enumerate(lines, chunk.first_seq):
            if seq > after:
                after = seq
                yield line
