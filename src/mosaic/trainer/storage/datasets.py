"""Datasets: those of the home, and those that runs have written. Used by the service.

A data set of the home is a folder `datasets/<id>/` with a `manifest.json` that names its files.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from mosaic.contract.json_value import INT64_MAX
from mosaic.contract.layout import Home
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.regular_files import open_regular
from mosaic.contract.storage import Dataset, DatasetPage
from mosaic.contract.text_types import Identifier, Name, PathInside
from mosaic.trainer.registry.artifact_rows import ArtifactPosition, ArtifactQuery, ArtifactRecord
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.paging import artifact_id, page_of, path_in_home

MANIFEST = "manifest.json"
_MAX_MANIFEST_BYTES = 16 << 20
_OF_RUNS = ArtifactQuery(kind="dataset")
_SHA256 = "^[0-9a-f]{64}$"


class DatasetFile(msgspec.Struct, kw_only=True, frozen=True):
    """One file of a data set, by its path in the folder."""

    path: PathInside
    sha256: Annotated[str, Meta(pattern=_SHA256)]
    size_bytes: Annotated[int, Meta(ge=0, le=INT64_MAX)] | None = None


class DatasetManifest(msgspec.Struct, kw_only=True, frozen=True):
    """`manifest.json`."""

    name: Name
    files: tuple[DatasetFile, ...]
    meta: dict[str, Any] = {}


class Datasets:
    """The data sets of one home. Blocking; safe from any thread."""

    def __init__(self, home: Home, registry: RunRegistry) -> None:
        self._home = home
        self._registry = registry

    def list(self, page_size: int, page_token: str) -> DatasetPage:
        """A page, newest first; a broken one has its `problem`. Raises `StoragePageTokenError`."""

        def of_runs(before: ArtifactPosition | None, limit: int) -> Iterable[Dataset]:
            return map(self._of_run, self._registry.artifacts(_OF_RUNS, before, limit))

        page, token = page_of(
            self._home, of_runs, self._of_home(), page_size, b"datasets", page_token
        )
        return DatasetPage(datasets=page, next_page_token=token)

    def _of_home(self) -> Iterator[Dataset]:
        try:
            with os.scandir(self._home.datasets) as entries:
                folders = [
                    Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return  # the folder does not exist
        for folder in folders:
            if _is_id(folder.name):
                yield self._in_folder(folder)

    def _in_folder(self, folder: Path) -> Dataset:
        dataset = Dataset(
            dataset_id=folder.name,
            source="home",
            name=folder.name,
            path=self._home.relative(folder),
            t=_changed_at(folder),
        )
        try:
            manifest = _read_manifest(folder)
            missing, size = _measure(folder, manifest)
        except (OSError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            problem = f"Its {MANIFEST} is invalid: {error}."
            return msgspec.structs.replace(dataset, problem=problem)
        return msgspec.structs.replace(
            dataset,
            name=manifest.name,
            size_bytes=size,
            files=len(manifest.files),
            meta_json=msgspec.json.encode(manifest.meta),
            problem=missing,
        )

    def _of_run(self, row: ArtifactRecord) -> Dataset:
        return Dataset(
            dataset_id=artifact_id(row.run_id, row.path),
            source="run",
            run_id=row.run_id,
            name=row.path.rpartition("/")[2],
            path=path_in_home(self._home, row),
            size_bytes=row.size_bytes,
            t=row.t,
            files=1,
            meta_json=row.meta.encode(),
        )


def _read_manifest(folder: Path) -> DatasetManifest:
    with open(open_regular(folder / MANIFEST), "rb") as file:  # noqa: PTH123 - opened by descriptor
        data = file.read(_MAX_MANIFEST_BYTES + 1)
    if len(data) > _MAX_MANIFEST_BYTES:
        raise ValueError(f"it is larger than {_MAX_MANIFEST_BYTES >> 20} MiB")
    return msgspec.json.decode(data, type=DatasetManifest)


def _measure(folder: Path, manifest: DatasetManifest) -> tuple[str, int]:
    """The first problem with the files, and their total size in bytes."""
    problem, total = "", 0
    for file in manifest.files:
        try:
            size = (folder / file.path).lstat().st_size
        except OSError:
            problem = problem or f"{file.path} is missing."
            continue
        total += size
        if file.size_bytes not in (None, size):
            problem = problem or f"{file.path} has {size:,} bytes instead of {file.size_bytes:,}."
    return problem, total


def _changed_at(folder: Path) -> float:
    for path in (folder / MANIFEST, folder):
        try:
            return max(0.0, path.lstat().st_mtime)
        except OSError:
            continue
    return 0.0


def _is_id(name: str) -> bool:
    try:
        msgspec.convert(name, Identifier)
    except msgspec.ValidationError:
        return False
    return True


prebuild_decoders(DatasetManifest)
