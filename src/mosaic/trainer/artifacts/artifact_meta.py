"""What is known of an artifact beyond its file: JSON files beside it, and what was announced.

All of it was written by a worker, so that it is bounded and checked before a manifest holds it.
"""

import math
import posixpath
from typing import Any

import msgspec

from mosaic.contract.json_value import copy_json
from mosaic.trainer.artifacts.run_tree import open_regular

SIDECAR_ENDING = ".meta.json"
FOLDER_FILES = ("metadata.json", "meta.json")
"""A folder that holds one of these is an artifact as a whole."""
MAX_META_BYTES = 16 << 10
_MAX_DEPTH = 20


def sidecars_of(path: str) -> tuple[str, str]:
    """Where the metadata of a file may lie: of `a.mp4` in `a.meta.json` or `a.mp4.meta.json`."""
    return posixpath.splitext(path)[0] + SIDECAR_ENDING, path + SIDECAR_ENDING


def read_meta(full_path: str) -> dict[str, Any]:
    """What a metadata file says; nothing when it is missing, too large, or no JSON object."""
    try:
        with open(open_regular(full_path), "rb") as file:  # noqa: PTH123 - opened by descriptor
            data = file.read(MAX_META_BYTES + 1)
        parsed = msgspec.json.decode(data) if len(data) <= MAX_META_BYTES else None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return {}
    return storable(parsed) if isinstance(parsed, dict) else {}


def read_folder_meta(full_path: str) -> dict[str, Any]:
    """What the metadata file in a folder says."""
    for name in FOLDER_FILES:
        meta = read_meta(f"{full_path}/{name}")
        if meta:
            return meta
    return {}


def storable(meta: Any) -> dict[str, Any]:
    """What of `meta` a manifest can hold: what it cannot, and what is too large, is left out."""
    if meta is None:
        return {}
    kept: dict[str, Any] = {}
    room = MAX_META_BYTES
    for name, value in (meta if isinstance(meta, dict) else {"value": meta}).items():
        copied, problems = copy_json({name: _spelled(value)})
        size = 0 if problems else encoded_size(copied)
        if not problems and size <= room:
            kept |= copied
            room -= size
    return kept


def _spelled(value: Any, depth: int = 0) -> Any:
    """NaN and infinity as the protocol writes them."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {name: _spelled(each, depth + 1) for name, each in value.items()}
    if isinstance(value, list):
        return [_spelled(each, depth + 1) for each in value]
    return value


def encoded_size(meta: dict[str, Any]) -> int:
    return len(msgspec.json.encode(meta))
