"""RetentionService: the limits on stored artifacts, and pruning down to them.

Used by the service. Nothing is pruned automatically.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from itertools import groupby

from mosaic.contract.layout import Home
from mosaic.contract.manifest import ManifestError, decode_manifest
from mosaic.contract.runs import RunRecord
from mosaic.contract.storage import PrunedItem, PruneReport, StorageUse
from mosaic.contract.storage import RetentionStatus as RetentionView
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.registry.errors import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.artifact_removal import (
    checkpoints_in_use,
    remove_artifact,
    update_manifest,
)
from mosaic.trainer.storage.prunable import Prunable, own_sidecars, prunable_of
from mosaic.trainer.storage.usage import StorageUsage

_log = logging.getLogger(__name__)

KEEP_TAG = "keep"
MAX_LISTED = 10_000
_MAX_PROBLEMS = 100
_GB = 1e9
_DAY_S = 86_400.0


class RetentionService:
    """Prunes one home. Blocking; safe from any thread. One prune at a time."""

    def __init__(
        self,
        home: Home,
        registry: RunRegistry,
        settings: DaemonSettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._home = home
        self._registry = registry
        self._max_gb = settings.retention_max_gb
        self._keep_days = settings.retention_keep_days
        self._clock = clock
        self._usage = StorageUsage(home, clock)
        self._lock = threading.Lock()

    def set_limits(self, max_gb: float | None, keep_days: float | None) -> None:
        """Set new limits."""
        self._max_gb, self._keep_days = max_gb, keep_days

    def view(self) -> RetentionView:
        """The limits, the disk usage, and what pruning would free."""
        usage, plan = self._usage.latest(), self._plan()
        return RetentionView(
            max_gb=self._max_gb,
            keep_days=self._keep_days,
            used=tuple(
                StorageUse(kind=kind, size_bytes=size) for kind, size in usage.by_kind.items()
            ),
            limited_bytes=usage.limited_bytes,
            measured_at=usage.measured_at,
            prunable_bytes=sum(item.size_bytes for item in plan),
            prunable_items=len(plan),
        )

    def prune(self, *, dry_run: bool) -> PruneReport:
        """Remove what exceeds the limits; with `dry_run` only report it."""
        if dry_run:
            return _report(self._plan(), [])
        with self._lock:
            self._usage.invalidate()
            removed: list[PrunedItem] = []
            problems: list[str] = []
            try:
                for run_id, items in groupby(self._plan(), key=lambda item: item.run_id):
                    self._prune_run(run_id, items, removed, problems)
            finally:
                if removed:
                    freed = sum(item.size_bytes for item in removed)
                    self._registry.record_retention(freed, len(removed))
                    _log.info("T405 pruned %d artifacts of %d bytes", len(removed), freed)
                self._usage.invalidate()
            return _report(removed, problems)

    def _plan(self) -> list[PrunedItem]:
        """Everything that is too old, then as much as exceeds the size limit."""
        max_gb, keep_days = self._max_gb, self._keep_days
        if max_gb is None and keep_days is None:
            return []
        used = 0 if max_gb is None else self._usage.latest().limited_bytes
        max_bytes = float("inf") if max_gb is None else max_gb * _GB
        too_old_before = float("-inf") if keep_days is None else self._clock() - keep_days * _DAY_S
        if keep_days is None and used <= max_bytes:
            return []
        prunable = sorted(self._prunable(), key=lambda candidate: candidate.order)
        plan = []
        for candidate in prunable:
            if candidate.ended_at < too_old_before:
                plan.append(_item(candidate, f"The run ended more than {keep_days:g} days ago."))
                used -= candidate.size_bytes
        for candidate in prunable:
            if used <= max_bytes:
                break
            if candidate.ended_at >= too_old_before:
                plan.append(_item(candidate, f"More than {max_gb:g} GB are stored."))
                used -= candidate.size_bytes
        return plan

    def _prunable(self) -> Iterable[Prunable]:
        in_use = checkpoints_in_use(self._registry)
        for run_id, ended_at, encoded in self._registry.finished_runs():
            try:
                manifest = decode_manifest(encoded)
            except ManifestError:
                continue
            yield from prunable_of(self._home.run(run_id), ended_at, manifest, in_use)

    def _prune_run(
        self,
        run_id: str,
        items: Iterable[PrunedItem],
        removed: list[PrunedItem],
        problems: list[str],
    ) -> None:
        """Prune one run, if it still may be pruned, and update its manifest."""
        run = self._home.run(run_id)
        try:
            if not _may_be_pruned(self._registry.get(run_id)):
                return
            manifest = decode_manifest(self._registry.details(run_id).manifest_json)
            for item in items:
                try:
                    remove_artifact(self._home, run, item.path, own_sidecars(item.path, manifest))
                except OSError as error:
                    if len(problems) < _MAX_PROBLEMS:
                        problems.append(f"{item.path} of run {run_id} was not removed: {error}")
                    continue
                self._registry.record_pruned(run_id, item.path, item.size_bytes, item.reason)
                removed.append(item)
            update_manifest(self._registry, run)
        except UnknownRunError:
            return  # deleted in the meantime


def _may_be_pruned(run: RunRecord) -> bool:
    return run.state.is_final and not run.archived and KEEP_TAG not in run.tags


def _item(prunable: Prunable, reason: str) -> PrunedItem:
    return PrunedItem(
        run_id=prunable.run_id, path=prunable.path, size_bytes=prunable.size_bytes, reason=reason
    )


def _report(items: list[PrunedItem], problems: list[str]) -> PruneReport:
    return PruneReport(
        items=tuple(items[:MAX_LISTED]),
        freed_bytes=sum(item.size_bytes for item in items),
        not_listed=max(0, len(items) - MAX_LISTED),
        problems=tuple(problems),
    )
