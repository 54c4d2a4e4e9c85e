"""ReplayState and ReplayFrame: the values that a view of a replay needs.

Does not import gRPC, so that a window can import it at start-up.
"""

from typing import TYPE_CHECKING

import msgspec
import zstandard

from mosaic.contract.errors import UserError

if TYPE_CHECKING:
    from mosaic.client.resimulation import SimulatedFrame

_INTERNAL_ERROR = "C170"
"""A replay failed with an internal error; the log contains it as C171."""


class ReplayProblem(msgspec.Struct, kw_only=True, frozen=True):
    """Why there are no more frames and what to do about it."""

    message: str
    remedy: str = ""
    code: str = ""


class ReplayState(msgspec.Struct, kw_only=True, frozen=True):
    """A snapshot. Frame k is rendered after k steps, so there is one more frame than steps."""

    is_open: bool = False
    """The length of the episode is known."""
    is_closed: bool = False
    steps: int = 0
    fps: float = 0.0
    """Frames per second of the environment; 0: not specified."""
    playhead: int = 0
    cached: tuple[range, ...] = ()
    """Frames that are in memory."""
    cached_bytes: int = 0
    checked_steps: int = 0
    """Number of steps that were compared with the record."""
    is_checked: bool = False
    """All steps were compared, or a difference was found."""
    first_difference: int | None = None
    difference: str = ""
    warnings: tuple[str, ...] = ()
    error: ReplayProblem | None = None

    @property
    def frames(self) -> int:
        return self.steps + 1 if self.is_open else 0


def to_replay_problem(error: Exception) -> ReplayProblem:
    """Return `error` with a message and a remedy for the user."""
    if isinstance(error, UserError):
        return ReplayProblem(message=error.message, remedy=error.remedy, code=error.code)
    return ReplayProblem(
        message=f"The replay failed unexpectedly: {type(error).__name__}: {error}.",
        remedy="Try again; if it fails again, please report it.",
        code=_INTERNAL_ERROR,
    )


class ReplayFrame(msgspec.Struct, kw_only=True, frozen=True):
    """The frame after `index` steps: `height` rows of `width` pixels of `channels` bytes."""

    index: int
    width: int
    height: int
    channels: int
    pixels: bytes
    problem: str = ""
    """Why there are no pixels; empty if there are."""

    @property
    def has_pixels(self) -> bool:
        return bool(self.pixels)


def unpack_frame(frame: "SimulatedFrame") -> ReplayFrame:
    """Decompress a frame; a damaged one has a problem instead of pixels."""
    pixels, problem = b"", frame.problem
    if frame.zstd:
        try:
            pixels = frame.pixels()
        except zstandard.ZstdError as error:
            problem = f"The frame is damaged: {error}."
    if pixels and len(pixels) != frame.width * frame.height * frame.channels:
        pixels, problem = b"", "The frame is damaged: its size differs from its width and height."
    if not pixels and not problem:
        problem = "The environment rendered nothing."
    return ReplayFrame(
        index=frame.index,
        width=frame.width,
        height=frame.height,
        channels=frame.channels,
        pixels=pixels,
        problem=problem,
    )
