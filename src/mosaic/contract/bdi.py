"""BdiChange: a change of a BDI agent's state, from a `bdi` event or from the `bdi` of a step.

A step is stored whatever its `bdi` field contains, so the field is validated here: fields that do
not decode are skipped.
"""

import math
from typing import Any

import msgspec

from mosaic.contract.events import BdiEvent, Intention
from mosaic.contract.prebuild import prebuild_decoders

__all__ = ["BdiChange", "Intention", "change_from_event", "change_from_step"]


class BdiChange(msgspec.Struct, kw_only=True, frozen=True):
    """Beliefs added and removed, and the goals, intentions and plan after that."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    intentions: tuple[Intention, ...] = ()
    plan: str = ""
    confidence: float | None = None
    """From 0 to 1; None: not reported."""


_FIELDS = {field.name: field.type for field in msgspec.structs.fields(BdiChange)}


def change_from_event(event: BdiEvent) -> BdiChange:
    return BdiChange(
        added=tuple(event.added or ()),
        removed=tuple(event.removed or ()),
        goals=tuple(event.goals or ()),
        intentions=tuple(event.intentions or ()),
        plan=event.plan or "",
        confidence=_clamp_confidence(event.confidence),
    )


def change_from_step(value: Any) -> BdiChange | None:
    """Decode the `bdi` field of a step; None when none of its fields is valid."""
    if not isinstance(value, dict):
        return None
    valid: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        try:
            if value.get(name) is not None:
                valid[name] = msgspec.convert(value[name], kind)
        except msgspec.ValidationError:
            continue  # the other fields may be valid
    if "confidence" in valid:
        valid["confidence"] = _clamp_confidence(valid["confidence"])
    return BdiChange(**valid) if valid else None


def _clamp_confidence(value: Any) -> float | None:
    """NaN and infinities, which the wire allows, become None."""
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return min(1.0, max(0.0, float(value)))


prebuild_decoders(BdiChange)
