"""Values that `TrainerClient` returns and that are not part of `mosaic.contract`.

Their fields have the names of the corresponding messages in `proto/trainer.proto`.
"""

from typing import TYPE_CHECKING

import msgspec

from mosaic.client.former_names import FormerName, resolve_former_names
from mosaic.contract.decode import AnyEvent, decode


class EventLine(msgspec.Struct, kw_only=True, frozen=True):
    """A telemetry line that is neither a step nor a metric."""

    seq: int
    type: str
    line: bytes

    decoded = FormerName("decode")

    def decode(self) -> AnyEvent:
        """Decode the line into an event."""
        return decode(self.line)


class Frame(msgspec.Struct, kw_only=True, frozen=True):
    """A rendered frame. `pixels` has `height` rows of `width` pixels of `channels` bytes."""

    number: int
    width: int
    height: int
    channels: int
    step: int
    control_seq: int
    step_json: bytes
    pixels: bytes


class Series(msgspec.Struct, kw_only=True, frozen=True):
    """A stored metric of a run."""

    name: str
    agent_id: str | None = None
    points: int


class CurvePoints(msgspec.Struct, kw_only=True, frozen=True):
    """A downsampled curve. `points` is the number of stored points in the requested range."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    points: int


class EnvironmentThumbnail(msgspec.Struct, kw_only=True, frozen=True):
    """An environment after a reset. `channels` is 1 for grey, 3 for RGB and 4 for RGBA."""

    width: int
    height: int
    channels: int
    pixels: bytes


class BundleRemoval(msgspec.Struct, kw_only=True, frozen=True):
    """The result of `TrainerClient.remove_bundle`."""

    freed_bytes: int
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Each with the reason."""


if not TYPE_CHECKING:
    __getattr__ = resolve_former_names(__name__)
