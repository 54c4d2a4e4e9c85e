"""ArtifactManifest: what a run has left behind. `analytics.json`, and a column of the registry.

Found by looking at the run directory, never copied from the configuration.
"""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.atomic_file import write_atomically
from mosaic.contract.document_file import read_document
from mosaic.contract.json_value import INT64_MAX, copy_json, parse_json
from mosaic.contract.problems import DocumentError
from mosaic.contract.shape import build
from mosaic.contract.text_types import Name, PathInside, WebAddress


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
    parsed, problems = parse_json(data)
    if problems:
        raise ManifestError(problems, source=source)
    return _checked(parsed, source)


def encode_manifest(manifest: ArtifactManifest) -> bytes:
    """Canonical JSON. Raises `ManifestError` for a manifest that could not be read again."""
    checked = _checked(msgspec.to_builtins(manifest), "")
    return msgspec.json.encode(checked, order="deterministic")


def _checked(document: Any, source: str) -> ArtifactManifest:
    copied, problems = copy_json(document)
    if problems:
        raise ManifestError(problems, source=source)
    return build(copied, ArtifactManifest, ManifestError, source)


def read_manifest(path: Path) -> ArtifactManifest:
    """The manifest in the file. Raises `ManifestError`, naming the file."""
    return decode_manifest(read_document(path, ManifestError), str(path))


def write_manifest(path: Path, manifest: ArtifactManifest) -> None:
    """Replace the file by `manifest`, so that a reader sees the old one or the new one."""
    write_atomically(path, encode_manifest(manifest))
