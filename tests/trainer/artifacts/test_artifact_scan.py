"""The manifest lists all artifacts in the run directory and nothing else."""

import json
import os
import socket
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from mosaic.contract.events import Artifact
from mosaic.contract.layout import RunDirectory
from mosaic.contract.manifest import (
    MAX_MANIFEST_BYTES,
    ArtifactFile,
    ArtifactManifest,
    ManifestError,
    decode_manifest,
    encode_manifest,
    read_manifest,
    write_manifest,
)
from mosaic.trainer.artifacts import artifact_scan
from mosaic.trainer.artifacts.artifact_scan import scan_artifacts
from mosaic.trainer.artifacts.run_tree import MAX_DEPTH
from tests.trainer.artifacts.conftest import put


def paths(files: tuple[ArtifactFile, ...]) -> list[str]:
    return [file.path for file in files]


def test_an_empty_run_has_an_empty_manifest(run: RunDirectory) -> None:
    """Empty or missing folders are not listed."""
    for folder in (run.tensorboard, run.videos, run.checkpoints, run.wandb):
        folder.mkdir()
    assert scan_artifacts(run, []) == ArtifactManifest()
    assert scan_artifacts(RunDirectory(run.path / "missing"), []) == ArtifactManifest()


def test_artifacts_are_found_without_being_announced(run: RunDirectory) -> None:
    """The files of a worker that announces nothing, such as an upstream script, are listed."""
    put(run, "runs/CartPole-v1__ppo__1__1700000000/events.out.tfevents.1.host.2.0")
    put(run, "runs/CartPole-v1__ppo__1__1700000000/ppo.cleanrl_model", b"weights")
    put(run, "videos/CartPole-v1__ppo/rl-video-episode-0.mp4", b"12345")
    put(run, "videos/CartPole-v1__ppo/rl-video-episode-0.meta.json", b'{"episode_id": 0}')
    put(run, "checkpoints/policy-100.pt", b"1234")
    put(run, "wandb/offline-run-20260101_120000-abc123/run-abc123.wandb")
    (run.wandb / "latest-run").symlink_to("offline-run-20260101_120000-abc123")
    put(run, "cleanrl_hpopt.db")
    put(run, "datasets/recorded.hdf5")
    put(run, "reports/summary.md")
    os.utime(run.path / "checkpoints/policy-100.pt", (1.7e9, 1.7e9))
    manifest = scan_artifacts(run, [])
    assert manifest.tensorboard_dir == "runs/CartPole-v1__ppo__1__1700000000"
    assert manifest.wandb_offline_dirs == ("wandb/offline-run-20260101_120000-abc123",)
    assert manifest.wandb_run_id == "abc123"
    assert manifest.optuna_db_path == "cleanrl_hpopt.db"
    assert manifest.checkpoints[0] == ArtifactFile(
        path="checkpoints/policy-100.pt", size_bytes=4, t=1.7e9
    )
    assert paths(manifest.checkpoints)[1:] == [
        "runs/CartPole-v1__ppo__1__1700000000/ppo.cleanrl_model"
    ]
    (video,) = manifest.videos
    assert (video.path, video.size_bytes, video.meta) == (
        "videos/CartPole-v1__ppo/rl-video-episode-0.mp4",
        5,
        {"episode_id": 0},
    )
    assert paths(manifest.datasets) == ["datasets/recorded.hdf5"]
    assert paths(manifest.reports) == ["reports/summary.md"]
    assert decode_manifest(encode_manifest(manifest)) == manifest


def test_several_event_folders_use_their_common_parent(run: RunDirectory) -> None:
    """TensorBoard shows a run and its evaluation together."""
    put(run, "runs/a/events.out.tfevents.1")
    put(run, "runs/a-eval/events.out.tfevents.1")
    assert scan_artifacts(run, []).tensorboard_dir == "runs"


def test_a_folder_without_events_is_not_tensorboard(run: RunDirectory) -> None:
    """Only folders with event files are listed, even if announced."""
    put(run, "runs/a/model.pt")
    announced = [Artifact(kind="tensorboard", path="runs/a")]
    assert scan_artifacts(run, announced).tensorboard_dir is None
    put(run, "logs/tb/events.out.tfevents.1")
    for path in ("logs/tb", "logs/tb/events.out.tfevents.1", "logs"):
        announced = [Artifact(kind="tensorboard", path=path)]
        assert scan_artifacts(run, announced).tensorboard_dir == "logs/tb"
    put(run, "events.out.tfevents.1")
    assert scan_artifacts(run, [Artifact(kind="tensorboard", path=".")]).tensorboard_dir == "."


def test_artifact_lines_add_metadata(run: RunDirectory) -> None:
    """Artifact lines add metadata, URLs and files in other folders of the run."""
    put(run, "checkpoints/a.pt", b"123")
    put(run, "checkpoints/a.meta.json", b'{"step": 1, "by": "file"}')
    put(run, "results/table.json", b"{}")
    put(run, "clips/a.mp4")
    put(run, "clips/b.txt")
    put(run, "study.db")
    announced = [
        Artifact(kind="checkpoint", path="checkpoints/a.pt", meta={"step": 1}),
        Artifact(kind="checkpoint", path="./checkpoints//a.pt", meta={"step": 2}),
        Artifact(kind="checkpoint", path="checkpoints/deleted.pt", meta={"step": 3}),
        Artifact(kind="checkpoint", path="results/table.json"),
        Artifact(kind="report", path="results/table.json", meta="final"),
        Artifact(kind="report", path="results"),
        Artifact(kind="video", path="clips"),
        Artifact(kind="optuna", path="study.db"),
        Artifact(kind="optuna", path="missing.db"),
        Artifact(kind="wandb", url="https://wandb.example/team/p/runs/xyz9"),
    ]
    manifest = scan_artifacts(run, announced)
    checkpoint, table = manifest.checkpoints
    assert (checkpoint.path, checkpoint.meta) == ("checkpoints/a.pt", {"step": 2, "by": "file"})
    assert table.path == "results/table.json"
    assert [(file.path, file.meta) for file in manifest.reports] == [
        ("results/table.json", {"value": "final"})
    ]
    assert paths(manifest.videos) == ["clips/a.mp4"]
    assert manifest.optuna_db_path == "study.db"
    assert manifest.wandb_url == "https://wandb.example/team/p/runs/xyz9"
    assert manifest.wandb_run_id == "xyz9"


def test_a_checkpoint_may_be_a_folder(run: RunDirectory) -> None:
    """A folder with metadata, or an announced one, is one checkpoint with its total size."""
    put(run, "checkpoints/step-1/metadata.json", b'{"step": 1}')
    put(run, "checkpoints/step-1/deep/weights.bin", b"w" * 100)
    put(run, "checkpoints/step-2/weights.bin", b"w" * 7)
    put(run, "checkpoints/by-seed/1.pt")
    put(run, "checkpoints/by-seed/2.pt")
    announced = [Artifact(kind="checkpoint", path="checkpoints/step-2", meta={"step": 2})]
    checkpoints = scan_artifacts(run, announced).checkpoints
    assert {file.path: (file.size_bytes, file.meta) for file in checkpoints} == {
        "checkpoints/by-seed/1.pt": (1, {}),
        "checkpoints/by-seed/2.pt": (1, {}),
        "checkpoints/step-1": (111, {"step": 1}),
        "checkpoints/step-2": (7, {"step": 2}),
    }


def test_a_file_still_being_written_is_not_listed(run: RunDirectory) -> None:
    """Incomplete checkpoints must not be loaded."""
    for name in (".partial-a.pt", "a.pt.tmp", "b.part", "c.pt~"):
        put(run, f"checkpoints/{name}")
    put(run, "checkpoints/.tmp-folder/a.pt")
    put(run, "videos/.a.mp4")
    assert scan_artifacts(run, []) == ArtifactManifest()


def test_files_outside_of_the_run_are_not_listed(run: RunDirectory, tmp_path: Path) -> None:
    """Links to files and folders outside of the run are ignored."""
    outside = tmp_path / "outside"
    for name in ("a.mp4", "secret.pt", "events.out.tfevents.1", "optuna.db"):
        outside.mkdir(exist_ok=True)
        (outside / name).write_text("private")
    (outside / "offline-run-20260101_120000-abc").mkdir()
    run.videos.mkdir()
    (run.videos / "link.mp4").symlink_to(outside / "a.mp4")
    (run.videos / "folder").symlink_to(outside)
    run.checkpoints.symlink_to(outside)
    run.tensorboard.symlink_to(outside)
    run.wandb.symlink_to(outside)
    (run.path / "optuna.db").symlink_to(outside / "optuna.db")
    announced = [
        Artifact(kind="checkpoint", path="checkpoints/secret.pt"),
        Artifact(kind="checkpoint", path="checkpoints"),
        Artifact(kind="report", path="../../../../outside/secret.pt"),
        Artifact(kind="report", path=str(outside / "secret.pt")),
        Artifact(kind="report", path="videos/link.mp4"),
        Artifact(kind="report", path="a\0b"),
        Artifact(kind="tensorboard", path="runs"),
        Artifact(kind="wandb", path="wandb", url="javascript:alert(1)"),
        Artifact(kind="optuna", path="optuna.db"),
    ]
    assert scan_artifacts(run, announced) == ArtifactManifest()


def test_a_link_inside_the_run_is_listed(run: RunDirectory) -> None:
    """`best.pt` may be a link to another checkpoint."""
    put(run, "checkpoints/1.pt", b"123")
    (run.checkpoints / "best.pt").symlink_to("1.pt")
    checkpoints = scan_artifacts(run, []).checkpoints
    assert [(file.path, file.size_bytes) for file in checkpoints] == [
        ("checkpoints/1.pt", 3),
        ("checkpoints/best.pt", 3),
    ]


def test_a_symlinked_home(run: RunDirectory, tmp_path: Path) -> None:
    """The home may be a link to another disk."""
    put(run, "videos/a.mp4")
    link = tmp_path / "link"
    link.symlink_to(run.path)
    assert paths(scan_artifacts(RunDirectory(link), []).videos) == ["videos/a.mp4"]


def test_special_files_and_invalid_names_are_skipped(run: RunDirectory) -> None:
    """A FIFO does not block the scan, and a name that JSON cannot contain is skipped."""
    run.videos.mkdir()
    os.mkfifo(run.videos / "fifo.mp4")
    os.mkfifo(run.videos / "a.meta.json")
    with socket.socket(socket.AF_UNIX) as listener:
        folder = os.open(run.videos, os.O_RDONLY)
        listener.bind(f"/proc/self/fd/{folder}/s.mp4")
        os.close(folder)
        for name in (
            b"new\nline.mp4",
            b"not-utf8-\xff.mp4",
            b"back\\slash.mp4",
            "ü 1.mp4".encode(),
        ):
            Path(os.fsdecode(os.fsencode(run.videos) + b"/" + name)).write_bytes(b"x")
        put(run, "videos/a.mp4")
        manifest = scan_artifacts(run, [])
    assert set(paths(manifest.videos)) == {"videos/a.mp4", "videos/ü 1.mp4"}
    assert encode_manifest(manifest)


@pytest.mark.parametrize(
    "meta",
    [b"{", b"[1]", b"\xff", b"NaN", b'{"n": 1e999}', b"[" * 5000, b'{"a": "%s"}' % (b"x" * 20_000)],
)
def test_invalid_metadata_is_ignored(run: RunDirectory, meta: bytes) -> None:
    """The file is listed without metadata."""
    put(run, "videos/a.mp4")
    put(run, "videos/a.meta.json", meta)
    (video,) = scan_artifacts(run, []).videos
    assert video.meta == {}


def test_metadata_that_is_a_link_is_not_read(run: RunDirectory, tmp_path: Path) -> None:
    """A symlinked metadata file cannot expose another file."""
    (tmp_path / "private.json").write_text('{"password": 1}')
    put(run, "videos/a.mp4")
    (run.videos / "a.meta.json").symlink_to(tmp_path / "private.json")
    assert scan_artifacts(run, []).videos[0].meta == {}


def test_an_unchanged_directory_gives_an_equal_manifest(run: RunDirectory) -> None:
    """Clients are not notified if nothing changed."""
    for number in range(300):
        put(run, f"checkpoints/{number}.pt")
    first = scan_artifacts(run, [])
    assert scan_artifacts(run, []) == first
    assert paths(first.checkpoints) == sorted(paths(first.checkpoints))
    put(run, "checkpoints/7.pt", b"longer")
    assert scan_artifacts(run, []) != first


def test_only_the_newest_files_are_listed_above_the_limit(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last entry has the number of files that are not listed."""
    monkeypatch.setattr(artifact_scan, "MAX_LISTED", 10)
    for number in range(25):
        path = put(run, f"videos/{number:02}.mp4")
        os.utime(path, (1.7e9 - number, 1.7e9 - number))
    videos = scan_artifacts(run, []).videos
    assert paths(videos) == [f"videos/{number:02}.mp4" for number in range(10)]
    assert videos[-1].meta == {"not_listed": 15}
    assert scan_artifacts(run, []).videos == videos


def test_a_manifest_of_ten_thousand_files_is_written_and_read(run: RunDirectory) -> None:
    """The manifest may exceed the size limit of other documents."""
    run.checkpoints.mkdir()
    for number in range(10_050):
        (run.checkpoints / f"step-{number}.pt").touch()
    announced = [
        Artifact(
            kind="checkpoint",
            path=f"checkpoints/step-{number}.pt",
            meta={"step": number, "sha256": "0" * 64},
        )
        for number in range(10_050)
    ]
    manifest = scan_artifacts(run, announced)
    assert len(manifest.checkpoints) == 10_000
    assert manifest.checkpoints[-1].meta["not_listed"] == 50
    write_manifest(run.manifest, manifest)
    assert run.manifest.stat().st_size > 1 << 20
    assert read_manifest(run.manifest) == manifest


def test_a_manifest_over_its_limit_is_rejected() -> None:
    """Reading a manifest above the size limit raises an error."""
    with pytest.raises(ManifestError, match="larger than 16 MiB"):
        decode_manifest(b"{}" + b" " * MAX_MANIFEST_BYTES)
    with pytest.raises(ManifestError, match="not JSON"):
        decode_manifest(b"[" * (2 << 20))


def test_large_metadata_does_not_exceed_the_manifest_limit(run: RunDirectory) -> None:
    """Files are omitted so that the manifest can be stored."""
    run.checkpoints.mkdir()
    meta: dict[str, Any] = {"note": "\x01" * 2000}
    announced = []
    for number in range(2000):
        (run.checkpoints / f"{number}.pt").touch()
        announced.append(Artifact(kind="checkpoint", path=f"checkpoints/{number}.pt", meta=meta))
    manifest = scan_artifacts(run, announced)
    assert 0 < len(manifest.checkpoints) < 2000
    assert manifest.checkpoints[-1].meta["not_listed"] == 2000 - len(manifest.checkpoints)
    assert len(encode_manifest(manifest)) < MAX_MANIFEST_BYTES


def test_the_scan_depth_is_limited(run: RunDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a limit the time would grow with the cube of the depth."""
    put(run, "checkpoints/a/shallow.pt")
    put(run, "checkpoints/" + "a/" * 500 + "deep.pt")
    scandir = Mock(wraps=os.scandir)
    monkeypatch.setattr(os, "scandir", scandir)
    announced = Artifact(kind="checkpoint", path="checkpoints/" + "a/" * 499)
    assert paths(scan_artifacts(run, [announced]).checkpoints) == ["checkpoints/a/shallow.pt"]
    assert scandir.call_count <= MAX_DEPTH + 10


def test_files_that_disappear_during_the_scan(
    run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may remove old checkpoints during the scan."""
    put(run, "checkpoints/1.pt")
    put(run, "checkpoints/2.pt")
    put(run, "checkpoints/deep/3.pt")
    real_scandir = os.scandir

    def scan_and_remove(path: Any) -> Any:
        entries = real_scandir(path)
        for name in ("1.pt", "deep/3.pt"):
            (run.checkpoints / name).unlink(missing_ok=True)
        return entries

    monkeypatch.setattr(os, "scandir", scan_and_remove)
    assert paths(scan_artifacts(run, []).checkpoints) in (["checkpoints/2.pt"], [])


def test_the_newest_wandb_folder_has_the_run_id(run: RunDirectory) -> None:
    """A resumed run has several folders; the newest one is used, online or offline."""
    put(run, "wandb/offline-run-20260101_120000-old/x")
    put(run, "wandb/run-20260102_120000-new-id/x")
    put(run, "wandb/offline-run-broken/x")
    manifest = scan_artifacts(run, [])
    assert manifest.wandb_run_id == "new-id"
    assert manifest.wandb_offline_dirs == ("wandb/offline-run-20260101_120000-old",)


def test_the_manifest_is_plain_json(run: RunDirectory) -> None:
    """The `json` module can decode it."""
    put(run, "videos/a.mp4")
    document = json.loads(encode_manifest(scan_artifacts(run, [])))
    assert document["videos"][0]["path"] == "videos/a.mp4"
