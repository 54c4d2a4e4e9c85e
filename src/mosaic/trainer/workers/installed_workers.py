"""Workers among the installed distributions, found by their metadata; nothing is imported.

A distribution with a worker lists a `worker.toml` inside a package. An editable installation does
not list its sources, so the project's folder is searched.
"""

import csv
import errno
import logging
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import Distribution, MetadataPathFinder, distributions
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from mosaic.contract.errors import UserError
from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.worker_manifest import WORKER_MANIFEST
from mosaic.trainer.workers.source_files import Stamp, file_stamp


def raise_if_out_of_files(error: OSError) -> None:
    """Raise `UserError` when `error` means that no more files can be opened."""
    if error.errno in (errno.EMFILE, errno.ENFILE):
        raise UserError(
            "Workers cannot be searched: too many files are open.",
            remedy="Close some views or stop some runs; or raise `ulimit -n` and start the daemon"
            " again.",
            code="T139",
        ) from error


def check_listable(folders: Iterable[str]) -> None:
    """Raise `UserError` when folders could not be listed because too many files are open.

    The standard library treats a folder that it cannot list as empty, and caches that.
    """
    for folder in folders:
        try:
            os.close(os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                MetadataPathFinder().invalidate_caches()
            raise_if_out_of_files(error)


_log = logging.getLogger(__name__)


class InstalledManifest(NamedTuple):
    """A `worker.toml` in a distribution."""

    path: Path
    version: str
    root: Path
    """The folder on the import path that the distribution is installed in."""
    files: tuple[PurePosixPath, ...]
    """Its installed files below that folder; empty for an editable one."""


class InstalledWorkers:
    """The manifests in an environment; searched again when something was installed there."""

    def __init__(self, search_path: Sequence[str] | None = None) -> None:
        self._search_path = search_path
        self._lock = threading.Lock()
        self._signature: tuple[tuple[str, Stamp | None], ...] | None = None
        self._manifests: tuple[InstalledManifest, ...] = ()

    def manifests(self) -> tuple[InstalledManifest, ...]:
        folders = list(dict.fromkeys(sys.path if self._search_path is None else self._search_path))
        signature = tuple((folder, file_stamp(folder or ".")) for folder in folders)
        with self._lock:
            if signature != self._signature:
                manifests = tuple(_find(folders))
                check_listable(folders)
                self._manifests = manifests
                self._signature = signature
            return self._manifests


def _find(folders: list[str]) -> Iterator[InstalledManifest]:
    seen: set[Path] = set()
    for distribution in distributions(path=folders):
        try:
            # An editable one may have a copy of its worker.toml here, but its code is elsewhere.
            manifests = list(_editable(distribution)) or list(_listed(distribution))
        except (OSError, ValueError, LookupError, csv.Error) as error:
            if isinstance(error, OSError):
                raise_if_out_of_files(error)
            _log.warning("T136 the metadata of a distribution cannot be read: %s", error)
            continue
        for manifest in manifests:
            resolved = manifest.path.resolve()
            if resolved not in seen:
                seen.add(resolved)
                yield manifest


def _listed(distribution: Distribution) -> Iterator[InstalledManifest]:
    listing = distribution.read_text("RECORD") or distribution.read_text("SOURCES.txt") or ""
    if f"/{WORKER_MANIFEST}" not in listing:  # most have none, and parsing is slow
        return
    root = Path(str(distribution.locate_file("")))
    listed = (PurePosixPath(file) for file in distribution.files or ())
    files = tuple(file for file in listed if ".." not in file.parts and not file.is_absolute())
    for file in files:
        inside_package = len(file.parts) > 1 and not file.parts[0].endswith(".dist-info")
        if file.name == WORKER_MANIFEST and inside_package:
            yield InstalledManifest(root / file, distribution.version, root, files)


class _DirectoryInfo(msgspec.Struct):
    editable: bool = False


class _DirectUrl(msgspec.Struct):
    """`direct_url.json`: the origin of a distribution."""

    url: str
    dir_info: _DirectoryInfo = msgspec.field(default_factory=_DirectoryInfo)


def _editable(distribution: Distribution) -> Iterator[InstalledManifest]:
    text = distribution.read_text("direct_url.json")
    if not text:
        return
    try:
        origin = msgspec.json.decode(text, type=_DirectUrl)
        address = urlsplit(origin.url)
    except (msgspec.DecodeError, ValueError):
        return  # metadata that is not ours to fix
    if not origin.dir_info.editable or address.scheme != "file":
        return
    project = Path(unquote(address.path))
    own = project / WORKER_MANIFEST
    below = (sorted(folder.glob(f"*/{WORKER_MANIFEST}")) for folder in (project / "src", project))
    for path in (own,) if own.is_file() else chain(*below):
        yield InstalledManifest(path, distribution.version, project, ())


prebuild_decoders(_DirectUrl)
