"""Workers among the installed distributions, found by their metadata; nothing is imported.

A distribution is one that lists a `worker.toml` inside a package. Of an editable installation,
which lists none of its sources, the project's folder is looked at.
"""

import csv
import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import Distribution, distributions
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec

from mosaic.contract.prebuild import prebuild_decoders
from mosaic.contract.worker_manifest import WORKER_MANIFEST
from mosaic.trainer.workers.file_shortage import expect_listable, expect_no_shortage
from mosaic.trainer.workers.file_stamp import Stamp, file_stamp

_log = logging.getLogger(__name__)


class InstalledManifest(NamedTuple):
    """A `worker.toml` that came with a distribution."""

    path: Path
    version: str
    root: Path
    """The folder on the import path that the distribution is installed in."""
    files: tuple[PurePosixPath, ...]
    """What it installed, below that folder; empty for an editable one."""


class InstalledWorkers:
    """The manifests in an environment; looked for again when something was installed there."""

    def __init__(self, search_path: Sequence[str] | None = None) -> None:
        self._search_path = search_path
        self._lock = threading.Lock()
        self._signature: tuple[tuple[str, Stamp | None], ...] | None = None
        self._manifests: tuple[InstalledManifest, ...] = ()

    def manifests(self) -> tuple[InstalledManifest, ...]:
        places = list(dict.fromkeys(sys.path if self._search_path is None else self._search_path))
        signature = tuple((place, file_stamp(place or ".")) for place in places)
        with self._lock:
            if signature != self._signature:
                found = tuple(_find(places))
                expect_listable(places)
                self._manifests = found
                self._signature = signature
            return self._manifests


def _find(places: list[str]) -> Iterator[InstalledManifest]:
    seen: set[Path] = set()
    for distribution in distributions(path=places):
        try:
            # An editable one may have copied its worker.toml here too, but its code is elsewhere.
            manifests = list(_editable(distribution)) or list(_listed(distribution))
        except (OSError, ValueError, LookupError, csv.Error) as error:
            if isinstance(error, OSError):
                expect_no_shortage(error)
            _log.warning("T136 the metadata of a distribution cannot be read: %s", error)
            continue
        for manifest in manifests:
            resolved = manifest.path.resolve()
            if resolved not in seen:
                seen.add(resolved)
                yield manifest


def _listed(distribution: Distribution) -> Iterator[InstalledManifest]:
    listing = distribution.read_text("RECORD") or distribution.read_text("SOURCES.txt") or ""
    if f"/{WORKER_MANIFEST}" not in listing:  # most have none, and parsing a list is slow
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
    """`direct_url.json`: where pip took a distribution from."""

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
        return  # not a worker's fault, and not ours to mend
    if not origin.dir_info.editable or address.scheme != "file":
        return
    project = Path(unquote(address.path))
    own = project / WORKER_MANIFEST
    below = (sorted(folder.glob(f"*/{WORKER_MANIFEST}")) for folder in (project / "src", project))
    for path in (own,) if own.is_file() else chain(*below):
        yield InstalledManifest(path, distribution.version, project, ())


prebuild_decoders(_DirectUrl)
