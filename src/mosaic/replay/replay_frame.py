"""ReplayFrame: one picture of an episode, ready to be drawn."""

from typing import TYPE_CHECKING

import msgspec
import zstandard

if TYPE_CHECKING:
    from mosaic.client.resimulation import SimulatedFrame


class ReplayFrame(msgspec.Struct, kw_only=True, frozen=True):
    """What is seen after `index` steps: `height` rows of `width` pixels of `channels` bytes."""

    index: int
    width: int
    height: int
    channels: int
    pixels: bytes
    problem: str = ""
    """Why there is no picture; empty when there is one."""

    @property
    def has_picture(self) -> bool:
        return bool(self.pixels)


def unpack(frame: "SimulatedFrame") -> ReplayFrame:
    """The frame with its pixels; one that does not hold what it says has a problem instead."""
    pixels, problem = b"", frame.problem
    if frame.zstd:
        try:
            pixels = frame.pixels()
        except zstandard.ZstdError as error:
            problem = f"The picture is damaged: {error}."
    if pixels and len(pixels) != frame.width * frame.height * frame.channels:
        pixels, problem = b"", "The picture is damaged: it has not the size that it says."
    if not pixels and not problem:
        problem = "The environment drew nothing."
    return ReplayFrame(
        index=frame.index,
        width=frame.width,
        height=frame.height,
        channels=frame.channels,
        pixels=pixels,
        problem=problem,
    )
