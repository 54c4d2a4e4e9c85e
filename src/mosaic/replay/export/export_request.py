"""ExportRequest: what to export and where; ExportResult: the written file."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from mosaic.contract.errors import UserError


class ExportFormat(StrEnum):
    MP4 = "mp4"
    GIF = "gif"
    JSONL = "jsonl"


class ExportRequest(msgspec.Struct, kw_only=True, frozen=True):
    """Steps are counted from 0; the frame before the first step is included."""

    target: Path
    format: ExportFormat
    first_step: Annotated[int, Meta(ge=0)] = 0
    last_step: Annotated[int, Meta(ge=0)] | None = None
    """Inclusive; None: to the end."""
    fps: Annotated[float, Meta(gt=0)] | None = None
    """None: the frame rate of the environment."""
    speed: Annotated[float, Meta(gt=0)] = 1.0
    overlay: bool = False
    """Show step, action, reward and return below the frame."""
    overwrite: bool = False

    def __post_init__(self) -> None:
        for name, value in (("fps", self.fps), ("speed", self.speed)):
            if value is not None and not 0 < value < math.inf:
                raise UserError(
                    f"`{name}` must be a positive number, got {value}.",
                    remedy="Use a number above 0.",
                    code="C188",
                )

    def select_steps(self, steps: int) -> range:
        """Return the selected steps of an episode with `steps` steps. Raises if there are none."""
        if self.first_step == 0 and steps == 0:
            return range(0)
        end = steps if self.last_step is None else min(steps, self.last_step + 1)
        if self.first_step >= end:
            raise UserError(
                f"There are no steps from {self.first_step} to"
                f" {'the end' if self.last_step is None else self.last_step}:"
                f" the episode has {steps}, counted from 0.",
                remedy="Select a range within the episode.",
                code="C175",
            )
        return range(self.first_step, end)


class ExportResult(msgspec.Struct, kw_only=True, frozen=True):
    """The written file."""

    path: Path
    size_bytes: int
    frames: int = 0
    """Number of frames; 0 for JSONL."""
    lines: int = 0
    """Number of lines; 0 for videos."""
    duration_s: float = 0.0
    warnings: tuple[str, ...] = ()
    first_difference: int | None = None
    """Number of the first step at which the frames differ from the recorded episode."""
