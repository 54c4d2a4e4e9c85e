"""ArtifactManifest: what a run has left behind. `analytics.json`, and a column of the registry.

Found by looking at the run directory, never copied from the configuration.
"""

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.json_value import INT64_MAX, copy_json
from mosaic.contract.problems import DocumentError, Problem
from mosaic.contract.shape import build
from mosaic.contract.text_types import Name, PathInside, WebAddress
from mosaic.contract.type_info import work_out

MAX_MANIFEST_BYTES = 16 << 20
"""Runs with tens of thousands of files fit; other documents are written by hand and smaller."""

_UNREADABLE = (msgspec.MsgspecError, UnicodeError, RecursionError)
_TOO_LARGE = Problem(
    (),
    "document",
    f"is larger than {MAX_MANIFEST_BYTES >> 20} MiB.",
    "List fewer files, or keep what is known of them in files of their own.",
)


class ManifestError(DocumentError):
    """An artifact manifest was refused."""

    document = "artifact manifest"
    default_code = "C111"


class ArtifactFile(msgspec.Struct, kw_only=True, frozen=True):
    """One file or folder of the run."""

    path: PathInside
    size_bytes: Annotated[int, Meta(ge=0, le=INT64_MAX, description="Of a folder: all of it.")]
    t: Annotated[float, Meta(ge=0, description="Last change, in seconds since the epoch.")]
    meta: dict[str, Any] = {}


class ArtifactManifest(msgspec.Struct, kw_only=True, frozen=True):
    """All that is there now; what is not there is null or an empty list."""

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
    """The manifest in `data`. Raises `ManifestError`, naming `source`."""
    manifest = _typed(data, source)
    _refuse_unstorable_meta(manifest, source)
    return manifest


def encode_manifest(manifest: ArtifactManifest) -> bytes:
    """Canonical JSON. Raises `ManifestError` for a manifest that could not be read again."""
    _refuse_unstorable_meta(manifest, "")
    try:
        data = msgspec.json.encode(manifest, order="deterministic")
    except _UNREADABLE as error:
        raise ManifestError([_not_json(error)]) from error
    _typed(data, "")
    return data


def _typed(data: bytes, source: str) -> ArtifactManifest:
    if len(data) > MAX_MANIFEST_BYTES:
        raise ManifestError([_TOO_LARGE], source=source)
    try:
        return msgspec.json.decode(data, type=ArtifactManifest)
    except _UNREADABLE:
        # Walking the struct names every problem, at fifty times the price.
        return build(_parsed(data, source), ArtifactManifest, ManifestError, source)


def _parsed(data: bytes, source: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except _UNREADABLE as error:
        raise ManifestError([_not_json(error)], source=source) from error


def _not_json(error: Exception) -> Problem:
    return Problem(
        (), "document", f"is not JSON: {error}.", "Give one JSON object, encoded as UTF-8."
    )


def _refuse_unstorable_meta(manifest: ArtifactManifest, source: str) -> None:
    """All other fields have types and patterns that say what they may hold."""
    for field in ("checkpoints", "videos", "datasets", "reports"):
        for index, file in enumerate(getattr(manifest, field)):
            problems = copy_json(file.meta)[1] if file.meta else []
            if problems:
                place = (field, index, "meta")
                raise ManifestError(
                    [
                        dataclasses.replace(problem, path=(*place, *problem.path))
                        for problem in problems
                    ],
                    source=source,
                )


def read_manifest(path: Path) -> ArtifactManifest:
    """The manifest in the file. Raises `ManifestError`, naming the file."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_MANIFEST_BYTES + 1)
    except OSError as error:
        problem = Problem(
            (),
            "document",
            f"cannot be read: {error.strerror}.",
            "Check that the file is there and that you may read it.",
        )
        raise ManifestError([problem], source=str(path)) from error
    return decode_manifest(data, str(path))


def write_manifest(path: Path, manifest: ArtifactManifest) -> None:
    """Replace the file by `manifest`, so that a reader sees the old one or the new one."""
    write_atomically(path, encode_manifest(manifest))


work_out(ArtifactManifest)
