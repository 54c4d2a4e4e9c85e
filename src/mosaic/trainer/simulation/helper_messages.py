"""Messages of a helper process: the counterpart of `mosaic_worker.resimulation.messages`."""

import struct
from typing import Final

import msgspec

LENGTHS: Final = struct.Struct(">II")
"""Precedes each message: the lengths of its JSON and of the pixels after it."""
MAX_HEADER_BYTES: Final = 1 << 20
MAX_BODY_BYTES: Final = 256 << 20


class Opened(msgspec.Struct, tag_field="kind", tag="opened", frozen=True):
    """The environment was reset. `packages`: installed versions of the recorded packages."""

    steps: int
    fps: float
    packages: dict[str, str | None] = {}


class FrameMessage(msgspec.Struct, tag_field="kind", tag="frame", frozen=True):
    """One frame; its pixels follow."""

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
    """The helper cannot continue; `message` is the reason."""

    message: str
    remedy: str = ""


HelperMessage = Opened | FrameMessage | Checked | Done | Failed

_decoder: msgspec.json.Decoder[HelperMessage] = msgspec.json.Decoder(HelperMessage)


class BrokenMessageError(Exception):
    """The output is not a valid message."""


def decode_message(header: bytes) -> HelperMessage:
    try:
        return _decoder.decode(header)
    except msgspec.MsgspecError as error:
        raise BrokenMessageError(str(error)) from error
