"""Retention limits: which artifacts pruning removes, and in which order."""

import json
from pathlib import Path
from typing import Any

import pytest

from mosaic.contract.layout import Home, RunDirectory
from mosaic.contract.manifest import decode_manifest, read_manifest
from mosaic.contract.run_config import TrainRunConfig
from mosaic.contract.run_events import ArtifactPruned, RetentionChanged
from mosaic.contract.run_states import RunState
from mosaic.contract.storage import PruneReport
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.daemon_settings import DaemonSettings
from mosaic.trainer.registry.run_registry import RunRegistry
from mosaic.trainer.storage.paging import artifact_id
from mosaic.trainer.storage.retention import RetentionService
from tests.trainer.storage.conftest import DAY_S, NOW, AddRun

KB = 1000
VIDEO = ("videos/a.mp4", b"v" * 40 * KB, NOW)
OLD_CHECKPOINT = ("checkpoints/1.pt", b"c" * 20 * KB, NOW)
NEW_CHECKPOINT = ("checkpoints/2.pt", b"c" * 20 * KB, NOW + 1)
EVENTS = ("runs/x/events.out.tfevents.1", b"t" * 10 * KB, NOW)
WANDB = ("wandb/offline-run-20250101_000000-abc/run.wandb", b"w" * 5 * KB, NOW)
EVERYTHING = (VIDEO, OLD_CHECKPOINT, NEW_CHECKPOINT, EVENTS, WANDB)
PRUNED = ["videos/a.mp4", "checkpoints/1.pt", "runs", "wandb"]


def retention_service(home: Home, registry: RunRegistry, **settings: Any) -> RetentionService:
    fields = {f"retention_{name}": value for name, value in settings.items()}
    return RetentionService(home, registry, DaemonSettings(**fields), clock=lambda: NOW)


def paths(report: PruneReport) -> list[str]:
    return [item.path for item in report.items]


def files_of(run: RunDirectory) -> set[str]:
    return {str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.is_file()}


def test_nothing_is_pruned_without_limits(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """By default nothing is removed, and the view shows the disk usage."""
    run = add_run(*EVERYTHING)
    (home.venvs / "b").mkdir(parents=True)
    (home.venvs / "b/lib").write_bytes(b"b" * 7)
    before = files_of(run)
    service = retention_service(home, registry)
    assert service.prune(dry_run=False) == PruneReport()
    assert files_of(run) == before
    view = service.view()
    used = {use.kind: use.size_bytes for use in view.used}
    assert (view.max_gb, view.keep_days, view.prunable_items) == (None, None, 0)
    assert used["videos"] == 40 * KB
    assert used["checkpoints"] == 40 * KB
    assert used["tensorboard"] == 10 * KB
    assert used["wandb"] == 5 * KB
    assert used["bundles"] == 7
    telemetry = sum(path.stat().st_size for path in run.path.glob("telemetry*"))
    assert used["telemetry"] == telemetry
    assert view.limited_bytes == sum(used.values()) - 7


def test_old_runs_lose_their_artifacts(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """All but the newest checkpoint are removed, never telemetry, configuration or log."""
    old = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    recent = add_run(*EVERYTHING, ended_at=NOW - 1 * DAY_S)
    recent_before = files_of(recent)
    service = retention_service(home, registry, keep_days=2)
    planned = service.prune(dry_run=True)
    assert paths(planned) == PRUNED
    assert planned.freed_bytes == service.view().prunable_bytes == 75 * KB
    assert "checkpoints/1.pt" in files_of(old)
    report = service.prune(dry_run=False)
    assert report == planned
    left = files_of(old)
    assert {"checkpoints/2.pt", "config.json", "telemetry.jsonl", "telemetry.db"} <= left
    assert not left & {path for path, _, _ in EVERYTHING if path != "checkpoints/2.pt"}
    assert files_of(recent) == recent_before
    assert not list(home.runs.glob(".*"))
    assert service.prune(dry_run=False) == PruneReport()


def test_events_and_manifest_are_updated(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """One event for each removal, one for the prune, and a manifest of the remaining files."""
    run = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    seq = registry.last_event_seq()
    retention_service(home, registry, keep_days=2).prune(dry_run=False)
    events = registry.events_after(seq)
    pruned = [event.what for event in events if isinstance(event.what, ArtifactPruned)]
    assert [event.path for event in pruned] == PRUNED
    assert sum(event.freed_bytes for event in pruned) == 75 * KB
    (changes,) = [event for event in events if isinstance(event.what, RetentionChanged)]
    assert (changes.run_id, changes.run) == ("", None)
    assert changes.what == RetentionChanged(freed_bytes=75 * KB, removed=4)
    manifest = decode_manifest(registry.details(run.run_id).manifest_json)
    assert [file.path for file in manifest.checkpoints] == ["checkpoints/2.pt"]
    assert (manifest.videos, manifest.tensorboard_dir) == ((), None)
    assert read_manifest(run.manifest) == manifest


def test_prune_order_with_a_size_limit(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """Videos of all runs are removed before checkpoints, starting with the run that ended first."""
    later = add_run(*EVERYTHING, ended_at=NOW - 1)
    first = add_run(*EVERYTHING, ended_at=NOW - 2)
    total = retention_service(home, registry).view().limited_bytes

    def planned_removals(kilobytes: int) -> list[tuple[str, str]]:
        max_gb = (total - kilobytes * KB) / 1e9
        report = retention_service(home, registry, max_gb=max_gb).prune(dry_run=True)
        assert report.freed_bytes >= kilobytes * KB
        return [(item.run_id, item.path) for item in report.items]

    videos = [(first.run_id, PRUNED[0]), (later.run_id, PRUNED[0])]
    older = [(first.run_id, PRUNED[1]), (later.run_id, PRUNED[1])]
    assert planned_removals(1) == videos[:1]
    assert planned_removals(41) == videos
    assert planned_removals(81) == [*videos, older[0]]
    logs = [(run.run_id, path) for run in (first, later) for path in PRUNED[2:]]
    assert planned_removals(149) == [*videos, *older, *logs]
    assert retention_service(home, registry, max_gb=total / 1e9).prune(dry_run=True).items == ()
    report = retention_service(home, registry, max_gb=0).prune(dry_run=False)
    assert report.freed_bytes == 150 * KB
    left = {use.kind: use.size_bytes for use in retention_service(home, registry).view().used}
    assert [left[kind] for kind in ("videos", "checkpoints", "tensorboard", "wandb")] == [
        0,
        40 * KB,
        0,
        0,
    ]


@pytest.mark.parametrize("state", [state for state in RunState if not state.is_final])
def test_active_runs_are_not_pruned(
    home: Home, registry: RunRegistry, add_run: AddRun, state: RunState
) -> None:
    """Nothing is removed in any state that is not final."""
    run = add_run(*EVERYTHING, state=state)
    before = files_of(run)
    assert retention_service(home, registry, max_gb=0, keep_days=0).prune(dry_run=False).items == ()
    assert files_of(run) == before


def test_runs_kept_by_the_user(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """Archived runs and runs with the tag `keep` are not pruned."""
    tagged, archived = (add_run(*EVERYTHING, ended_at=NOW - 9 * DAY_S) for _ in range(2))
    registry.annotate(tagged.run_id, add_tags=["keep"])
    registry.annotate(archived.run_id, archived=True)
    service = retention_service(home, registry, max_gb=0, keep_days=1)
    assert service.prune(dry_run=False) == PruneReport()
    assert service.view().prunable_bytes == 0


def test_checkpoints_that_other_runs_need(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """A checkpoint that a queued run starts from is not removed."""
    run = add_run(OLD_CHECKPOINT, NEW_CHECKPOINT, ended_at=NOW - 3 * DAY_S)
    needed = artifact_id(run.run_id, "checkpoints/1.pt")
    add_run(state=RunState.QUEUED, warm_start=needed)
    assert retention_service(home, registry, keep_days=1).prune(dry_run=True).items == ()


def test_the_last_and_best_checkpoints_are_kept(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """Even if neither is the newest; a hard link to a kept file is kept, too."""
    run = add_run(
        ("checkpoints/best.pt", b"b" * 20 * KB, NOW),
        ("checkpoints/last.pt", b"l" * 20 * KB, NOW + 1),
        ("checkpoints/step-3.pt", b"3" * 20 * KB, NOW + 2),
        ("checkpoints/step-4.pt", b"4" * 20 * KB, NOW + 4),
        ended_at=NOW - 3 * DAY_S,
    )
    (run.checkpoints / "step-1.pt").hardlink_to(run.checkpoints / "best.pt")
    (run.checkpoints / "step-3-again.pt").hardlink_to(run.checkpoints / "step-3.pt")
    registry.set_manifest(run.run_id, scan_artifacts(run, []))
    service = retention_service(home, registry, keep_days=1)
    used = {use.kind: use.size_bytes for use in service.view().used}
    assert used["checkpoints"] == 80 * KB
    report = service.prune(dry_run=False)
    assert sorted(paths(report)) == ["checkpoints/step-3-again.pt", "checkpoints/step-3.pt"]
    assert report.freed_bytes == 20 * KB
    left = {path.name for path in run.checkpoints.iterdir()}
    assert left == {"best.pt", "last.pt", "step-1.pt", "step-4.pt"}


def test_run_files_announced_as_artifacts_are_kept(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """Telemetry and configuration are not removed even if a worker announces them."""
    announced: dict[str, dict[str, Any]] = {
        path: {}
        for path in (
            "telemetry.jsonl",
            "telemetry.db",
            "config.json",
            "./config.json",
            "checkpoints",
        )
    }
    run = add_run(*EVERYTHING, announced=announced, ended_at=NOW - 3 * DAY_S)
    retention_service(home, registry, max_gb=0, keep_days=1).prune(dry_run=False)
    assert {"telemetry.jsonl", "telemetry.db", "config.json"} <= files_of(run)


def test_symlinks_are_not_followed(
    home: Home, registry: RunRegistry, add_run: AddRun, tmp_path: Path
) -> None:
    """No file outside of a run is removed through a symlinked folder."""
    run = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    outside = tmp_path / "outside"
    run.videos.rename(outside)
    run.videos.symlink_to(outside)
    run.wandb.rename(tmp_path / "elsewhere")
    run.wandb.symlink_to(tmp_path / "elsewhere")
    report = retention_service(home, registry, keep_days=1).prune(dry_run=False)
    assert paths(report) == ["checkpoints/1.pt", "runs"]
    assert (outside / "a.mp4").is_file()


def test_the_newest_model_beside_event_files_is_kept(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """CleanRL saves models in the TensorBoard folder; only the newest model is kept there."""
    run = add_run(
        EVENTS,
        ("runs/x/old.cleanrl_model", b"m", NOW),
        ("runs/x/new.cleanrl_model", b"m", NOW + 1),
        ended_at=NOW - 3 * DAY_S,
    )
    report = retention_service(home, registry, keep_days=1).prune(dry_run=False)
    assert paths(report) == ["runs/x/old.cleanrl_model", EVENTS[0]]
    assert "runs/x/new.cleanrl_model" in files_of(run)


def test_metadata_is_removed_with_its_file(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """Metadata of a removed video is removed; metadata shared with a kept file is kept."""
    run = add_run(
        VIDEO,
        ("videos/a.meta.json", b"{}", NOW),
        ("checkpoints/p.pt", b"x", NOW),
        ("checkpoints/p.onnx", b"x", NOW + 1),
        ("checkpoints/p.meta.json", json.dumps({"step": 1}).encode(), NOW),
        ended_at=NOW - 3 * DAY_S,
    )
    retention_service(home, registry, keep_days=1).prune(dry_run=False)
    left = files_of(run)
    assert "videos/a.meta.json" not in left
    assert {"checkpoints/p.onnx", "checkpoints/p.meta.json"} <= left


def test_a_file_that_cannot_be_removed(
    home: Home, registry: RunRegistry, add_run: AddRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported as a problem and not as removed; the other files are removed."""
    run = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    rename = Path.rename

    def fail_for_video(self: Path, target: Path) -> Path:
        if self.name == "a.mp4":
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_for_video)
    report = retention_service(home, registry, keep_days=1).prune(dry_run=False)
    assert paths(report) == PRUNED[1:]
    assert "videos/a.mp4" in report.problems[0]
    assert "videos/a.mp4" in files_of(run)


def test_runs_without_a_folder_are_skipped(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """A run whose folder is missing frees nothing and raises no error."""
    moved = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    moved.path.rename(home.path / "moved-away")
    registry.add(
        "01J0000000000000000000000Z",
        TrainRunConfig(worker="w", algo="a", env_id="E"),
        state=RunState.FAILED,
    )
    assert retention_service(home, registry, keep_days=1).prune(dry_run=False) == PruneReport()
