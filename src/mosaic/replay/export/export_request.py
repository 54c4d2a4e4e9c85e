"""ExportRequest: what is to be written where; and ExportResult: what has been written."""

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
    """Steps are counted from 0, as everywhere; the picture before the first one is shown too."""

    target: Path
    format: ExportFormat
    first_step: Annotated[int, Meta(ge=0)] = 0
    last_step: Annotated[int, Meta(ge=0)] | None = None
    """Included; None: to the end."""
    fps: Annotated[float, Meta(gt=0)] | None = None
    """None: as the environment is shown."""
    speed: Annotated[float, Meta(gt=0)] = 1.0
    overlay: bool = False
    """Step, action, reward and return below the picture."""
    overwrite: bool = False

    def __post_init__(self) -> None:
        for name, value in (("fps", self.fps), ("speed", self.speed)):
            if value is not None and not 0 < value < math.inf:
                raise UserError(
                    f"`{name}` is {value}, which is no pace.",
                    remedy="Give a number above 0.",
                    code="C188",
                )

    def steps_of(self, steps: int) -> range:
        """The steps that are meant, of an episode that has so many. Raises when there are none."""
        if self.first_step == 0 and steps == 0:
            return range(0)
        end = steps if self.last_step is None else min(steps, self.last_step + 1)
        if self.first_step >= end:
            raise UserError(
                f"There are no steps from {self.first_step} to"
                f" {'the end' if self.last_step is None else self.last_step}:"
                f" the episode has {steps}, counted from 0.",
                remedy="Ask for a range within the episode.",
                code="C175",
            )
        return range(self.first_step, end)


class ExportResult(msgspec.Struct, kw_only=True, frozen=True):
    """A file that is there now."""

    path: Path
    size_bytes: int
    frames: int = 0
    """Pictures in it; 0 for JSONL."""
    lines: int = 0
    """Lines in it; 0 for pictures."""
    duration_s: float = 0.0
    warnings: tuple[str, ...] = ()
    first_difference: int | None = None
    """The step from which on the pictures are not those of the record."""
