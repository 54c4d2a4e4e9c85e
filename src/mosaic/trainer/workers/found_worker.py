"""Results of a scan for workers: usable ones, and broken ones with the reason."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple

import mosaic
from mosaic.contract.errors import UserError
from mosaic.contract.worker_manifest import WorkerManifest

WorkerSource = Literal["folder", "distribution"]


class SourceTree(NamedTuple):
    """A package or module of a worker's code."""

    name: str
    """Its path on the import path, such as `echo_worker`, `acme/lake` or `lake.py`."""
    path: Path


@dataclass(frozen=True, slots=True)
class FoundWorker:
    """A worker that can be started, according to its files."""

    manifest: WorkerManifest
    source: WorkerSource
    location: Path
    """The folder of its `worker.toml`."""
    sources: tuple[SourceTree, ...]
    """All of its own code, without the SDK and its dependencies."""
    declaration: Path | None = None
    """The `pyproject.toml` or the metadata with its dependencies."""
    version: str = ""
    """Of its distribution, if it is installed."""
    also_at: tuple[Path, ...] = ()
    """Other locations where it is installed too; the folder has priority."""

    @property
    def worker_id(self) -> str:
        return self.manifest.id

    @property
    def packages(self) -> tuple[Path, ...]:
        """The source trees of its code, without the SDK."""
        return tuple(tree.path for tree in self.sources)


@dataclass(frozen=True, slots=True)
class BrokenWorker:
    """A `worker.toml` that cannot be used."""

    worker_id: str
    """From its manifest, or the folder's name if the manifest is unreadable."""
    location: Path
    source: WorkerSource
    problem: str
    remedy: str


_PACKAGE = "mosaic_worker"
_IN_CHECKOUT = Path(mosaic.__file__).parents[2] / "worker_sdk" / "src" / _PACKAGE


def sdk_sources() -> SourceTree:
    """The sources of the worker SDK, in the checkout or installed; found without importing it."""
    if (_IN_CHECKOUT / "__init__.py").is_file():
        return SourceTree(_PACKAGE, _IN_CHECKOUT)
    spec = find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise UserError(
            "The worker SDK is missing: workers cannot be started without it.",
            remedy="Install the distribution `mosaic-worker` beside MOSAIC.",
            code="T132",
        )
    return SourceTree(_PACKAGE, Path(next(iter(folders))))
