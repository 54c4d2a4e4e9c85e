"""What a scan for workers finds: those that can be used, and those that cannot, with the reason."""

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
    """Where it stands on the import path, such as `echo_worker`, `acme/lake` or `lake.py`."""
    path: Path


@dataclass(frozen=True, slots=True)
class FoundWorker:
    """A worker that can be started, as far as its files tell."""

    manifest: WorkerManifest
    source: WorkerSource
    location: Path
    """The folder of its `worker.toml`."""
    sources: tuple[SourceTree, ...]
    """All of its own code; neither the SDK nor what it depends on."""
    declaration: Path | None = None
    """The `pyproject.toml` or the metadata that names what it depends on."""
    version: str = ""
    """Of its distribution, when it is installed as one."""
    also_at: tuple[Path, ...] = ()
    """Installed there too; the folder wins."""

    @property
    def worker_id(self) -> str:
        return self.manifest.id

    @property
    def packages(self) -> tuple[Path, ...]:
        """The source trees that make up its code, the SDK excluded."""
        return tuple(tree.path for tree in self.sources)


@dataclass(frozen=True, slots=True)
class BrokenWorker:
    """Something with a `worker.toml` that cannot be used."""

    worker_id: str
    """From its manifest; of a manifest that cannot be read, the folder's name."""
    location: Path
    source: WorkerSource
    problem: str
    remedy: str


_PACKAGE = "mosaic_worker"
_IN_CHECKOUT = Path(mosaic.__file__).parents[2] / "worker_sdk" / "src" / _PACKAGE


def sdk_sources() -> SourceTree:
    """The SDK of the checkout, else the installed one; found without importing it."""
    if (_IN_CHECKOUT / "__init__.py").is_file():
        return SourceTree(_PACKAGE, _IN_CHECKOUT)
    spec = find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise UserError(
            "The worker SDK is not here: workers cannot be started without it.",
            remedy="Install the distribution `mosaic-worker` beside MOSAIC.",
            code="T132",
        )
    return SourceTree(_PACKAGE, Path(next(iter(folders))))
