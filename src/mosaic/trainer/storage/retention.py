"""Retention: how much is kept, and pruning down to that. The service asks here.

Nothing is pruned by itself.
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
from mosaic.trainer.registry.failures import UnknownRunError
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.settings import DaemonSettings
from mosaic.trainer.storage.artifact_removal import (
    checkpoints_in_use,
    remove_artifact,
    renew_manifest,
)
from mosaic.trainer.storage.prunable import Prunable, prunable_of, sidecars_alone
from mosaic.trainer.storage.usage import StorageUsage

_log = logging.getLogger(__name__)

KEEP_TAG = "keep"
MOST_LISTED = 10_000
_MOST_PROBLEMS = 100
_GB = 1e9
_DAY_S = 86_400.0


class Retention:
    """Of one home. Blocking; safe from any thread. One prunes at a time."""

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

    def limit(self, max_gb: float | None, keep_days: float | None) -> None:
        """Other limits from now on."""
        self._max_gb, self._keep_days = max_gb, keep_days

    def view(self) -> RetentionView:
        """What is kept, what it takes, and what pruning would free."""
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
        """Remove what the limits call for; with `dry_run` only tell."""
        if dry_run:
            return _report(self._plan(), [])
        with self._lock:
            self._usage.forget()
            removed: list[PrunedItem] = []
            problems: list[str] = []
            try:
                for run_id, items in groupby(self._plan(), key=lambda item: item.run_id):
                    self._prune_run(run_id, items, removed, problems)
            finally:
                if removed:
                    freed = sum(item.size_bytes for item in removed)
                    self._registry.note_retention(freed, len(removed))
                    _log.info("T405 pruned %d artifacts of %d bytes", len(removed), freed)
                self._usage.forget()
            return _report(removed, problems)

    def _plan(self) -> list[PrunedItem]:
        """What is too old, and of the rest as much as is too much."""
        max_gb, keep_days = self._max_gb, self._keep_days
        if max_gb is None and keep_days is None:
            return []
        used = 0 if max_gb is None else self._usage.latest().limited_bytes
        most = float("inf") if max_gb is None else max_gb * _GB
        too_old_before = float("-inf") if keep_days is None else self._clock() - keep_days * _DAY_S
        if keep_days is None and used <= most:
            return []
        prunable = sorted(self._prunable(), key=lambda each: each.turn)
        plan = []
        for each in prunable:
            if each.ended_at < too_old_before:
                plan.append(_item(each, f"The run ended more than {keep_days:g} days ago."))
                used -= each.size_bytes
        for each in prunable:
            if used <= most:
                break
            if each.ended_at >= too_old_before:
                plan.append(_item(each, f"More than {max_gb:g} GB are kept."))
                used -= each.size_bytes
        return plan

    def _prunable(self) -> Iterable[Prunable]:
        in_use = checkpoints_in_use(self._registry)
        for run_id, ended_at, encoded in self._registry.leftovers():
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
        """Of one run, after a look whether that still may be; then its manifest is made anew."""
        run = self._home.run(run_id)
        try:
            if not _may_lose(self._registry.get(run_id)):
                return
            manifest = decode_manifest(self._registry.details(run_id).manifest_json)
            for item in items:
                try:
                    remove_artifact(self._home, run, item.path, sidecars_alone(item.path, manifest))
                except OSError as error:
                    if len(problems) < _MOST_PROBLEMS:
                        problems.append(f"{item.path} of run {run_id} is still there: {error}")
                    continue
                self._registry.note_pruned(run_id, item.path, item.size_bytes, item.reason)
                removed.append(item)
            renew_manifest(self._registry, run)
        except UnknownRunError:
            return  # deleted meanwhile


def _may_lose(run: RunRecord) -> bool:
    return run.state.is_final and not run.archived and KEEP_TAG not in run.tags


def _item(prunable: Prunable, reason: str) -> PrunedItem:
    return PrunedItem(
        run_id=prunable.run_id, path=prunable.path, size_bytes=prunable.size_bytes, reason=reason
    )


def _report(items: list[PrunedItem], problems: list[str]) -> PruneReport:
    return PruneReport(
        items=tuple(items[:MOST_LISTED]),
        freed_bytes=sum(item.size_bytes for item in items),
        not_listed=max(0, len(items) - MOST_LISTED),
        problems=tuple(problems),
    )
