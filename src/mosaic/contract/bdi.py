"""BdiChange: a change of an agent's mind, from a line of its own or from the step that carries it.

A step is kept whatever its `bdi` is, so that field is read here, and as far as it makes sense.
"""

import math
from typing import Any

import msgspec

from mosaic.contract.events import BdiEvent, Intention
from mosaic.contract.type_info import work_out

__all__ = ["BdiChange", "Intention", "change_on_line", "change_on_step"]


class BdiChange(msgspec.Struct, kw_only=True, frozen=True):
    """Beliefs that came and went, and what the agent is at after that."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    intentions: tuple[Intention, ...] = ()
    plan: str = ""
    confidence: float | None = None
    """From 0 to 1; None: not told."""


_FIELDS = {field.name: field.type for field in msgspec.structs.fields(BdiChange)}


def change_on_line(event: BdiEvent) -> BdiChange:
    return BdiChange(
        added=tuple(event.added or ()),
        removed=tuple(event.removed or ()),
        goals=tuple(event.goals or ()),
        intentions=tuple(event.intentions or ()),
        plan=event.plan or "",
        confidence=_share(event.confidence),
    )


def change_on_step(value: Any) -> BdiChange | None:
    """What a step's `bdi` says; None when nothing of it can be understood."""
    if not isinstance(value, dict):
        return None
    understood: dict[str, Any] = {}
    for name, kind in _FIELDS.items():
        try:
            if value.get(name) is not None:
                understood[name] = msgspec.convert(value[name], kind)
        except msgspec.ValidationError:
            continue  # the other fields may make sense
    if "confidence" in understood:
        understood["confidence"] = _share(understood["confidence"])
    return BdiChange(**understood) if understood else None


def _share(told: Any) -> float | None:
    """Words such as `NaN` are numbers on the wire."""
    if not isinstance(told, (int, float)) or not math.isfinite(told):
        return None
    return min(1.0, max(0.0, float(told)))


work_out(BdiChange)
