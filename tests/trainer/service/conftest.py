"""Every call of the service by name, and what its answers and refusals hold."""

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
    """All answers to a call, whichever way it streams."""
    method = METHODS[name]
    sent: Any = iter([request]) if method.client_streaming else request
    answer = getattr(daemon.stub, name)(sent, timeout=60)
    return list(answer) if method.server_streaming else [answer]


def empty_request(name: str) -> Message:
    """A request with nothing in it."""
    message_type = getattr(pb, METHODS[name].input_type.name)
    message: Message = message_type()
    return message


def rejected_call(daemon: DaemonUnderTest, name: str, request: Message) -> grpc.RpcError:
    """Make a call that must be rejected; returns its error."""
    with pytest.raises(grpc.RpcError) as caught:
        call(daemon, name, request)
    return caught.value


def error_details(error: grpc.RpcError) -> dict[str, str]:
    """Remedy and code of an error, from its metadata."""
    items = error.trailing_metadata() or ()
    return {item.key: unquote(str(item.value)) for item in items}


def lines_of(chunks: Iterator[pb.LineChunk], after: int = -1) -> Iterator[bytes]:
    """What a client makes of chunks: each line once, from `after` on, and no gap between."""
    for chunk in chunks:
        lines = decompress_lines(chunk.zstd)
        assert len(lines) == chunk.lines
        assert chunk.first_seq <= after + 1, "a gap"
        for seq, line in enumerate(lines, chunk.first_seq):
            if seq > after:
                after = seq
                yield line
