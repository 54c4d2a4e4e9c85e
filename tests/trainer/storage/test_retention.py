"""What is kept, and that pruning removes what it may, in its order, and nothing else."""

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
GOES = ["videos/a.mp4", "checkpoints/1.pt", "runs", "wandb"]


def retention(home: Home, registry: RunRegistry, **settings: Any) -> RetentionService:
    chosen = {f"retention_{name}": value for name, value in settings.items()}
    return RetentionService(home, registry, DaemonSettings(**chosen), clock=lambda: NOW)


def paths(report: PruneReport) -> list[str]:
    return [item.path for item in report.items]


def files_of(run: RunDirectory) -> set[str]:
    return {str(path.relative_to(run.path)) for path in run.path.rglob("*") if path.is_file()}


def test_nothing_is_pruned_without_limits(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """By default everything is kept for ever, and a person sees what it takes."""
    run = add_run(*EVERYTHING)
    (home.venvs / "b").mkdir(parents=True)
    (home.venvs / "b/lib").write_bytes(b"b" * 7)
    before = files_of(run)
    kept = retention(home, registry)
    assert kept.prune(dry_run=False) == PruneReport()
    assert files_of(run) == before
    view = kept.view()
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
    """All but the newest checkpoint, and never telemetry, configuration or log."""
    old = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    young = add_run(*EVERYTHING, ended_at=NOW - 1 * DAY_S)
    young_before = files_of(young)
    kept = retention(home, registry, keep_days=2)
    planned = kept.prune(dry_run=True)
    assert paths(planned) == GOES
    assert planned.freed_bytes == kept.view().prunable_bytes == 75 * KB
    assert "checkpoints/1.pt" in files_of(old)
    done = kept.prune(dry_run=False)
    assert done == planned
    left = files_of(old)
    assert {"checkpoints/2.pt", "config.json", "telemetry.jsonl", "telemetry.db"} <= left
    assert not left & {path for path, _, _ in EVERYTHING if path != "checkpoints/2.pt"}
    assert files_of(young) == young_before
    assert not list(home.runs.glob(".*"))
    assert kept.prune(dry_run=False) == PruneReport()


def test_events_and_manifest_are_updated(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """An event for each removal and one for all, and a manifest that lists what is left."""
    run = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    seq = registry.last_event_seq()
    retention(home, registry, keep_days=2).prune(dry_run=False)
    events = registry.events_after(seq)
    pruned = [event.what for event in events if isinstance(event.what, ArtifactPruned)]
    assert [each.path for each in pruned] == GOES
    assert sum(each.freed_bytes for each in pruned) == 75 * KB
    (changes,) = [event for event in events if isinstance(event.what, RetentionChanged)]
    assert (changes.run_id, changes.run) == ("", None)
    assert changes.what == RetentionChanged(freed_bytes=75 * KB, removed=4)
    manifest = decode_manifest(registry.details(run.run_id).manifest_json)
    assert [file.path for file in manifest.checkpoints] == ["checkpoints/2.pt"]
    assert (manifest.videos, manifest.tensorboard_dir) == ((), None)
    assert read_manifest(run.manifest) == manifest


def test_the_order_until_the_limit_holds(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """Videos of all runs go before any checkpoint, those of the run that ended first first."""
    later = add_run(*EVERYTHING, ended_at=NOW - 1)
    first = add_run(*EVERYTHING, ended_at=NOW - 2)
    total = retention(home, registry).view().limited_bytes

    def to_go(kilobytes: int) -> list[tuple[str, str]]:
        most = (total - kilobytes * KB) / 1e9
        report = retention(home, registry, max_gb=most).prune(dry_run=True)
        assert report.freed_bytes >= kilobytes * KB
        return [(item.run_id, item.path) for item in report.items]

    videos = [(first.run_id, GOES[0]), (later.run_id, GOES[0])]
    older = [(first.run_id, GOES[1]), (later.run_id, GOES[1])]
    assert to_go(1) == videos[:1]
    assert to_go(41) == videos
    assert to_go(81) == [*videos, older[0]]
    logs = [(run.run_id, path) for run in (first, later) for path in GOES[2:]]
    assert to_go(149) == [*videos, *older, *logs]
    assert retention(home, registry, max_gb=total / 1e9).prune(dry_run=True).items == ()
    done = retention(home, registry, max_gb=0).prune(dry_run=False)
    assert done.freed_bytes == 150 * KB
    left = {use.kind: use.size_bytes for use in retention(home, registry).view().used}
    assert [left[kind] for kind in ("videos", "checkpoints", "tensorboard", "wandb")] == [
        0,
        40 * KB,
        0,
        0,
    ]


@pytest.mark.parametrize("state", [state for state in RunState if not state.is_final])
def test_runs_that_are_not_over_lose_nothing(
    home: Home, registry: RunRegistry, add_run: AddRun, state: RunState
) -> None:
    """Whatever they wait for."""
    run = add_run(*EVERYTHING, state=state)
    before = files_of(run)
    assert retention(home, registry, max_gb=0, keep_days=0).prune(dry_run=False).items == ()
    assert files_of(run) == before


def test_what_a_person_keeps(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """Archived runs and those with the tag `keep` lose nothing."""
    tagged, archived = (add_run(*EVERYTHING, ended_at=NOW - 9 * DAY_S) for _ in range(2))
    registry.annotate(tagged.run_id, add_tags=["keep"])
    registry.annotate(archived.run_id, archived=True)
    kept = retention(home, registry, max_gb=0, keep_days=1)
    assert kept.prune(dry_run=False) == PruneReport()
    assert kept.view().prunable_bytes == 0


def test_checkpoints_that_other_runs_need(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """A run that waits to begin with a checkpoint will find it."""
    run = add_run(OLD_CHECKPOINT, NEW_CHECKPOINT, ended_at=NOW - 3 * DAY_S)
    needed = artifact_id(run.run_id, "checkpoints/1.pt")
    add_run(state=RunState.QUEUED, warm_start=needed)
    assert retention(home, registry, keep_days=1).prune(dry_run=True).items == ()


def test_the_last_and_the_best_are_kept(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """Though neither is the newest; another name of a kept file costs nothing, and stays."""
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
    kept = retention(home, registry, keep_days=1)
    used = {use.kind: use.size_bytes for use in kept.view().used}
    assert used["checkpoints"] == 80 * KB
    report = kept.prune(dry_run=False)
    assert sorted(paths(report)) == ["checkpoints/step-3-again.pt", "checkpoints/step-3.pt"]
    assert report.freed_bytes == 20 * KB
    left = {path.name for path in run.checkpoints.iterdir()}
    assert left == {"best.pt", "last.pt", "step-1.pt", "step-4.pt"}


def test_records_that_a_worker_calls_artifacts(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """A worker can announce anything; its telemetry and configuration stay anyway."""
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
    retention(home, registry, max_gb=0, keep_days=1).prune(dry_run=False)
    assert {"telemetry.jsonl", "telemetry.db", "config.json"} <= files_of(run)


def test_links_lead_nowhere(
    home: Home, registry: RunRegistry, add_run: AddRun, tmp_path: Path
) -> None:
    """Nothing outside of a run is removed through a link that stands in for its folder."""
    run = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    outside = tmp_path / "outside"
    run.videos.rename(outside)
    run.videos.symlink_to(outside)
    run.wandb.rename(tmp_path / "elsewhere")
    run.wandb.symlink_to(tmp_path / "elsewhere")
    report = retention(home, registry, keep_days=1).prune(dry_run=False)
    assert paths(report) == ["checkpoints/1.pt", "runs"]
    assert (outside / "a.mp4").is_file()


def test_models_beside_event_files_stay(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """CleanRL saves its model in TensorBoard's folder: the events go, the newest model stays."""
    run = add_run(
        EVENTS,
        ("runs/x/old.cleanrl_model", b"m", NOW),
        ("runs/x/new.cleanrl_model", b"m", NOW + 1),
        ended_at=NOW - 3 * DAY_S,
    )
    report = retention(home, registry, keep_days=1).prune(dry_run=False)
    assert paths(report) == ["runs/x/old.cleanrl_model", EVENTS[0]]
    assert "runs/x/new.cleanrl_model" in files_of(run)


def test_metadata_goes_with_its_file(home: Home, registry: RunRegistry, add_run: AddRun) -> None:
    """Of a removed video no orphan stays; a file that two artifacts share stays with the other."""
    run = add_run(
        VIDEO,
        ("videos/a.meta.json", b"{}", NOW),
        ("checkpoints/p.pt", b"x", NOW),
        ("checkpoints/p.onnx", b"x", NOW + 1),
        ("checkpoints/p.meta.json", json.dumps({"step": 1}).encode(), NOW),
        ended_at=NOW - 3 * DAY_S,
    )
    retention(home, registry, keep_days=1).prune(dry_run=False)
    left = files_of(run)
    assert "videos/a.meta.json" not in left
    assert {"checkpoints/p.onnx", "checkpoints/p.meta.json"} <= left


def test_a_file_that_cannot_be_removed(
    home: Home, registry: RunRegistry, add_run: AddRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is reported by name, the others go, and nothing claims that it went."""
    run = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name == "a.mp4":
            raise PermissionError(13, "Permission denied")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    report = retention(home, registry, keep_days=1).prune(dry_run=False)
    assert paths(report) == GOES[1:]
    assert "videos/a.mp4" in report.problems[0]
    assert "videos/a.mp4" in files_of(run)


def test_a_plan_survives_runs_that_vanish(
    home: Home, registry: RunRegistry, add_run: AddRun
) -> None:
    """A run whose folder is gone frees nothing and harms nothing."""
    gone = add_run(*EVERYTHING, ended_at=NOW - 3 * DAY_S)
    gone.path.rename(home.path / "moved-away")
    registry.add(
        "01J0000000000000000000000Z",
        TrainRunConfig(worker="w", algo="a", env_id="E"),
        state=RunState.FAILED,
    )
    assert retention(home, registry, keep_days=1).prune(dry_run=False) == PruneReport()
