"""ArtifactManifest: the artifacts of a run, in `analytics.json` and in the registry.

It is built by scanning the run directory, never copied from the configuration.
"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.json_value import INT64_MAX, copy_json
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.problems import DocumentError, Problem
from mosaic.contract.text_types import Name, PathInside, WebAddress
from mosaic.contract.validation import build, read_document

MAX_MANIFEST_BYTES = 16 << 20
"""Enough for tens of thousands of files; documents written by hand have a smaller limit."""

_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
_TOO_LARGE = Problem(
    (),
    "document",
    f"is larger than {MAX_MANIFEST_BYTES >> 20} MiB.",
    "List fewer files, or store their metadata in separate files.",
)


class ManifestError(DocumentError):
    """An artifact manifest is invalid."""

    document = "artifact manifest"
    default_code = "C111"


class ArtifactFile(msgspec.Struct, kw_only=True, frozen=True):
    """One file or folder of the run."""

    path: PathInside
    size_bytes: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Of a folder: the total.")]
    t: Annotated[
        float, Meta(ge=0, description="Time of the last change, in seconds since the epoch.")
    ]
    meta: dict[str, Any] = {}


class ArtifactManifest(msgspec.Struct, kw_only=True, frozen=True):
    """The present artifacts; a missing one is null or an empty list."""

    tensorboard_dir: PathInside | None = None
    wandb_run_id: Name | None = None
    wandb_url: WebAddress | None = None
    wandb_offline_dirs: tuple[PathInside, ...] = ()
    optuna_db_path: PathInside | None = None
    checkpoints: tuple[ArtifactFile, ...] = ()
    videos: tuple[ArtifactFile, ...] = ()
    datasets: tuple[ArtifactFile, ...] = ()
    reports: tuple[ArtifactFile, ...] = ()


def decode_manifest(data: bytes, source: str = "") -> ArtifactManifest:
    """Decode a manifest. Raises `ManifestError` with `source`."""
    manifest = _decode_typed(data, source)
    _reject_unstorable_meta(manifest, source)
    return manifest


def encode_manifest(manifest: ArtifactManifest) -> bytes:
    """Encode as canonical JSON. Raises `ManifestError` when `decode_manifest` would reject it."""
    _reject_unstorable_meta(manifest, "")
    try:
        data = msgspec.json.encode(manifest, order="deterministic")
    except _UNREADABLE as error:
        raise ManifestError([_not_json(error)]) from error
    _decode_typed(data, "")
    return data


def _decode_typed(data: bytes, source: str) -> ArtifactManifest:
    if len(data) > MAX_MANIFEST_BYTES:
        raise ManifestError([_TOO_LARGE], source=source)
    try:
        return msgspec.json.decode(data, type=ArtifactManifest)
    except _UNREADABLE:
        # Walking the struct reports every problem, but takes fifty times as long.
        return build(_parse(data, source), ArtifactManifest, ManifestError, source)


def _parse(data: bytes, source: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except _UNREADABLE as error:
        raise ManifestError([_not_json(error)], source=source) from error


def _not_json(error: Exception) -> Problem:
    return Problem(
        (), "document", f"is not JSON: {error}.", "Expected one JSON object, encoded as UTF-8."
    )


def _reject_unstorable_meta(manifest: ArtifactManifest, source: str) -> None:
    """Check `meta`; the types and patterns of all other fields are checked by decoding."""
    for field in ("checkpoints", "videos", "datasets", "reports"):
        for index, file in enumerate(getattr(manifest, field)):
            problems = copy_json(file.meta)[1] if file.meta else []
            if problems:
                prefix = (field, index, "meta")
                raise ManifestError(
                    [
                        dataclasses.replace(problem, path=(*prefix, *problem.path))
                        for problem in problems
                    ],
                    source=source,
                )


def read_manifest(path: Path) -> ArtifactManifest:
    """Read a manifest. Raises `ManifestError` with the path."""
    return decode_manifest(read_document(path, ManifestError, MAX_MANIFEST_BYTES), str(path))


def write_manifest(path: Path, manifest: ArtifactManifest) -> None:
    """Replace the file atomically."""
    write_atomically(path, encode_manifest(manifest))


prebuild_decoders(ArtifactManifest)
