"""What the daemon tells of a run's telemetry, as clients see it.

The messages of the same names in `proto/trainer.proto` have the same fields.
"""

import msgspec

from mosaic.contract.decode import AnyEvent, decode


class EventLine(msgspec.Struct, kw_only=True, frozen=True):
    """A line that is neither a step nor a metric."""

    seq: int
    type: str
    line: bytes

    def decoded(self) -> AnyEvent:
        """The event on the line."""
        return decode(self.line)


class Frame(msgspec.Struct, kw_only=True, frozen=True):
    """One picture. `pixels` has `height` rows of `width` pixels of `channels` bytes."""

    number: int
    width: int
    height: int
    channels: int
    step: int
    control_seq: int
    step_json: bytes
    pixels: bytes


class Series(msgspec.Struct, kw_only=True, frozen=True):
    """A curve there is."""

    name: str
    agent_id: str | None = None
    points: int


class CurvePoints(msgspec.Struct, kw_only=True, frozen=True):
    """A curve ready to be drawn. `points` is how many there are in the stretch asked for."""

    x: tuple[float, ...]
    y: tuple[float, ...]
    points: int


class RemovedBundles(msgspec.Struct, kw_only=True, frozen=True):
    """What became of the environments of a bundle."""

    freed_bytes: int
    removed: tuple[str, ...]
    kept: tuple[str, ...]
    """Each with its reason."""
