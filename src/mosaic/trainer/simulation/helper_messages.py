"""What the helper process says: the other side of `mosaic_worker.resimulation.messages`."""

import struct
from typing import Final

import msgspec

LENGTHS: Final = struct.Struct(">II")
"""Before each message: how long its JSON is, and the pixels after it."""
MOST_HEAD_BYTES: Final = 1 << 20
MOST_BODY_BYTES: Final = 256 << 20


class Opened(msgspec.Struct, tag_field="kind", tag="opened", frozen=True):
    """The environment is at its start. `packages`: those of the record, as they are there."""

    steps: int
    fps: float
    packages: dict[str, str | None] = {}


class Frame(msgspec.Struct, tag_field="kind", tag="frame", frozen=True):
    """The pixels come after it."""

    request: int
    index: int
    width: int
    height: int
    channels: int
    problem: str = ""


class Checked(msgspec.Struct, tag_field="kind", tag="checked", frozen=True):
    """How far rewards and end flags have been compared with the record."""

    steps: int
    is_over: bool
    first_difference: int | None = None
    difference: str = ""


class Done(msgspec.Struct, tag_field="kind", tag="done", frozen=True):
    """All frames of a request have been sent."""

    request: int


class Failed(msgspec.Struct, tag_field="kind", tag="error", frozen=True):
    """The helper cannot go on, and why."""

    message: str
    remedy: str = ""


HelperMessage = Opened | Frame | Checked | Done | Failed

_decoder: msgspec.json.Decoder[HelperMessage] = msgspec.json.Decoder(HelperMessage)


class BrokenMessageError(Exception):
    """What came is no message of ours."""


def decode_message(head: bytes) -> HelperMessage:
    try:
        return _decoder.decode(head)
    except msgspec.MsgspecError as error:
        raise BrokenMessageError(str(error)) from error
