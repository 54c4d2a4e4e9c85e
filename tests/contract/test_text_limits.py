"""Every free text of the contract has a limit."""

import json
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
import pytest

from mosaic.contract.control import COMMAND_TYPES
from mosaic.contract.decode import RejectedLineError, decode, decode_slowly
from mosaic.contract.descriptor import WorkerDescriptor
from mosaic.contract.events import EVENT_TYPES, MAX_TEXT_LENGTH, MAX_WORD_LENGTH
from mosaic.contract.manifest import ArtifactManifest
from mosaic.contract.run_config import TrainRunConfig

_UNLIMITED = {
    "EpisodeOrigin.data",  # the state of an emulator, limited by the length of a line
}


def _texts_without_limit(kind: type[msgspec.Struct], seen: set[type]) -> set[str]:
    if kind in seen:
        return set()
    seen.add(kind)
    found: set[str] = set()
    for name, annotation in get_type_hints(kind, include_extras=True).items():
        if _is_unlimited(annotation):
            found.add(f"{kind.__name__}.{name}")
        for struct in _structs_in(annotation):
            found |= _texts_without_limit(struct, seen)
    return found


def _is_unlimited(annotation: Any) -> bool:
    if annotation is str:
        return True
    if hasattr(annotation, "__metadata__"):
        limits = [meta for meta in annotation.__metadata__ if isinstance(meta, msgspec.Meta)]
        inner = get_args(annotation)[0]
        if inner is str and any(meta.max_length or meta.pattern for meta in limits):
            return False
        return _is_unlimited(inner)
    if get_origin(annotation) is dict or str(get_origin(annotation)) == "typing.Literal":
        return False  # the names in free documents are limited by the length of the line
    return any(_is_unlimited(option) for option in get_args(annotation))


def _structs_in(annotation: Any) -> list[type[msgspec.Struct]]:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return [annotation]
    return [struct for option in get_args(annotation) for struct in _structs_in(option)]


@pytest.mark.parametrize(
    "kind",
    [*EVENT_TYPES, *COMMAND_TYPES, WorkerDescriptor, TrainRunConfig, ArtifactManifest],
    ids=lambda kind: kind.__name__,
)
def test_every_text_has_a_limit(kind: type[msgspec.Struct]) -> None:
    """A new field without one fails here."""
    assert _texts_without_limit(kind, set()) <= _UNLIMITED


@pytest.mark.parametrize(
    ("line", "field", "length"),
    [
        ({"type": "progress", "done": 1, "total": 2, "unit": "x"}, "unit", MAX_WORD_LENGTH),
        (
            {"type": "log", "level": "info", "code": "W1", "message": "x"},
            "message",
            MAX_TEXT_LENGTH,
        ),
        ({"type": "bye", "outcome": "failed", "error": "x"}, "error", MAX_TEXT_LENGTH),
        ({"type": "status", "state": "paused", "reason": "x"}, "reason", MAX_TEXT_LENGTH),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else None,
)
def test_long_texts_are_truncated(line: dict[str, Any], field: str, length: int) -> None:
    """The rest of the line is kept, and the stored line is short, too."""
    encoded = json.dumps({**line, field: "x" * 900_000}).encode()
    event = decode(encoded)
    assert getattr(event, field) == "x" * (length - 1) + "…"
    assert len(decode_slowly(encoded).line) < length + 200


@pytest.mark.parametrize("field", ["agent_id", "episode_id", "actor"])
def test_long_ids_are_rejected(field: str) -> None:
    """Two truncated ids could be equal."""
    step = {"type": "step", "episode_id": "e", "step": 0, "action": 0, "reward": 0.0}
    line = {**step, "terminated": False, "truncated": False, field: "x" * 1000}
    with pytest.raises(RejectedLineError, match=field):
        decode(json.dumps(line).encode())
