"""Catalog: the descriptors and bundles of all workers, the set credentials and the GPUs.

Fetched on a thread by `training.model.training_catalog`, which keeps the newest result.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mosaic.contract.descriptor import DescriptorError, WorkerDescriptor, decode_descriptor
from mosaic.contract.readiness import BundleInfo, BundleState, WorkerInfo

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

_BEST_FIRST: tuple[BundleState, ...] = ("installing", "ready", "broken", "missing", "outdated")


@dataclass(frozen=True, slots=True)
class CatalogWorker:
    """A worker. Unusable without a descriptor; `problem` says why it has none."""

    info: WorkerInfo
    descriptor: WorkerDescriptor | None
    bundle: BundleInfo | None
    problem: str = ""

    @property
    def id(self) -> str:
        return self.info.worker_id

    @property
    def label(self) -> str:
        described = self.descriptor.label if self.descriptor else ""
        return described or self.info.label or self.info.worker_id

    @property
    def trains(self) -> bool:
        """True without a descriptor, too: the worker is listed with its problem."""
        return self.descriptor is None or "train" in self.descriptor.modes


@dataclass(frozen=True, slots=True)
class Catalog:
    """One consistent reply of the daemon."""

    workers: tuple[CatalogWorker, ...] = ()
    keys: Mapping[str, bool] = field(default_factory=dict)
    """Whether each credential is set; never its value."""
    gpus: tuple[str, ...] = ()


def fetch_catalog(client: "TrainerClient") -> Catalog:
    """Raises `UserError` if the daemon does not answer."""
    bundles = client.bundles()
    workers = tuple(_worker(info, bundles) for info in client.workers())
    return Catalog(
        workers=tuple(worker for worker in workers if worker.trains),
        keys={secret.name: secret.is_set for secret in client.secrets()},
        gpus=client.health().gpus,
    )


def _worker(info: WorkerInfo, bundles: Iterable[BundleInfo]) -> CatalogWorker:
    descriptor: WorkerDescriptor | None = None
    problem = f"{info.problem} {info.remedy}".strip()
    if info.descriptor_json is not None:
        try:
            descriptor = decode_descriptor(info.descriptor_json, info.worker_id)
        except DescriptorError as error:
            problem = f"{error.message} {error.remedy}".strip()
    elif not problem:
        problem = "The worker has no descriptor. Run it with --describe to see why."
    return CatalogWorker(info, descriptor, _bundle_of(info, bundles), problem)


def _bundle_of(info: WorkerInfo, bundles: Iterable[BundleInfo]) -> BundleInfo | None:
    """The best of several versions; older ones are kept for earlier runs."""
    named = [bundle for bundle in bundles if bundle.name == info.bundle]
    return min(named, key=lambda bundle: _BEST_FIRST.index(bundle.state), default=None)
