"""Metadata of artifacts: JSON files beside them, and what workers announced.

It comes from workers, so it is limited and validated before it goes into a manifest.
"""

import math
import posixpath
from typing import Any

import msgspec

from mosaic.contract.json_value import copy_json
from mosaic.contract.regular_files import open_regular

SIDECAR_ENDING = ".meta.json"
FOLDER_FILES = ("metadata.json", "meta.json")
"""A folder with one of these files is one artifact."""
MAX_META_BYTES = 16 << 10
_MAX_DEPTH = 20


def sidecars_of(path: str) -> tuple[str, str]:
    """The possible metadata files of a file: for `a.mp4`, `a.meta.json` or `a.mp4.meta.json`."""
    return posixpath.splitext(path)[0] + SIDECAR_ENDING, path + SIDECAR_ENDING


def read_meta(full_path: str) -> dict[str, Any]:
    """The content of a metadata file; empty if it is missing, too large or not a JSON object."""
    try:
        with open(open_regular(full_path), "rb") as file:  # noqa: PTH123 - opened by descriptor
            data = file.read(MAX_META_BYTES + 1)
        parsed = msgspec.json.decode(data) if len(data) <= MAX_META_BYTES else None
    except (OSError, ValueError, RecursionError, msgspec.MsgspecError):
        return {}
    return storable(parsed) if isinstance(parsed, dict) else {}


def read_folder_meta(full_path: str) -> dict[str, Any]:
    """The content of the metadata file in a folder."""
    for name in FOLDER_FILES:
        meta = read_meta(f"{full_path}/{name}")
        if meta:
            return meta
    return {}


def storable(meta: Any) -> dict[str, Any]:
    """`meta` without values that a manifest cannot contain or that are too large."""
    if meta is None:
        return {}
    stored: dict[str, Any] = {}
    free_bytes = MAX_META_BYTES
    for name, value in (meta if isinstance(meta, dict) else {"value": meta}).items():
        copied, problems = copy_json({name: _replace_nonfinite(value)})
        size = 0 if problems else encoded_size(copied)
        if not problems and size <= free_bytes:
            stored |= copied
            free_bytes -= size
    return stored


def _replace_nonfinite(value: Any, depth: int = 0) -> Any:
    """NaN and infinity in the protocol's spelling."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if depth > _MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {name: _replace_nonfinite(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_replace_nonfinite(item, depth + 1) for item in value]
    return value


def encoded_size(meta: dict[str, Any]) -> int:
    return len(msgspec.json.encode(meta))
