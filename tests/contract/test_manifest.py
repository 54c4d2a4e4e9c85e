"""The artifact manifest lists files of the run directory and no others."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.manifest import (
    ArtifactFile,
    ArtifactManifest,
    ManifestError,
    decode_manifest,
    encode_manifest,
    read_manifest,
    write_manifest,
)

VIDEO = ArtifactFile(path="videos/a/rl-video-0.mp4", size_bytes=10, t=1.5e9, meta={"episode": 0})
FULL = ArtifactManifest(
    tensorboard_dir="runs/CartPole-v1__ppo__1__1700000000",
    wandb_run_id="abc123",
    wandb_url="https://wandb.example/e/p/runs/abc123",
    wandb_offline_dirs=("wandb/offline-run-1-abc123",),
    optuna_db_path="optuna.db",
    checkpoints=(ArtifactFile(path="checkpoints/100.pt", size_bytes=0, t=0.0),),
    videos=(VIDEO,),
    datasets=(ArtifactFile(path="datasets/d.hdf5", size_bytes=2**40, t=1.5e9),),
    reports=(ArtifactFile(path="report.md", size_bytes=3, t=1.5e9),),
)


def test_file_round_trip(tmp_path: Path) -> None:
    """A written manifest is read back, and replacing it leaves no other file."""
    path = tmp_path / "analytics.json"
    write_manifest(path, ArtifactManifest())
    write_manifest(path, FULL)
    assert read_manifest(path) == FULL
    assert [entry.name for entry in tmp_path.iterdir()] == ["analytics.json"]


def test_empty_manifest_names_every_field() -> None:
    """A run without artifacts has every field, empty."""
    document = json.loads(encode_manifest(ArtifactManifest()))
    assert set(document) == set(ArtifactManifest.__struct_fields__)
    assert decode_manifest(b"{}") == ArtifactManifest()


@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../other", "a/../../b", "..", "a/..", "", "C:/x", "a\\b", "a\0b", "a\nb", "/"],
)
def test_path_outside_of_the_run_is_rejected(path: str) -> None:
    """Absolute paths and paths with `..`, in every field that has a path."""
    entry = {"path": path, "size_bytes": 1, "t": 1}
    document = {
        "tensorboard_dir": path,
        "optuna_db_path": path,
        "wandb_offline_dirs": ["fine", path],
        "videos": [entry],
    }
    with pytest.raises(ManifestError) as caught:
        decode_manifest(json.dumps(document).encode())
    assert {problem.field for problem in caught.value.problems} == {
        "tensorboard_dir",
        "optuna_db_path",
        "wandb_offline_dirs[1]",
        "videos[0].path",
    }


@pytest.mark.parametrize("path", ["a", "a/b.c", "a..b", "..a/b", "a b/ü", ".hidden", "a/.../b"])
def test_unusual_names_inside_are_accepted(path: str) -> None:
    """Files inside the run directory may have unusual names."""
    manifest = ArtifactManifest(tensorboard_dir=path)
    assert decode_manifest(encode_manifest(manifest)) == manifest


@pytest.mark.parametrize(
    ("document", "field"),
    [
        ({"videos": [{"path": "v.mp4", "size_bytes": -1, "t": 1}]}, "videos[0].size_bytes"),
        ({"videos": [{"path": "v.mp4", "t": 1}]}, "videos[0].size_bytes"),
        ({"checkpoints": {}}, "checkpoints"),
        ({"wandb_url": "javascript:alert(1)"}, "wandb_url"),
        ({"wandb_url": "file:///etc/passwd"}, "wandb_url"),
    ],
)
def test_wrong_field_is_named(document: dict[str, Any], field: str) -> None:
    """The error has the path of the invalid field."""
    with pytest.raises(ManifestError) as caught:
        decode_manifest(json.dumps(document).encode(), "analytics.json")
    assert [problem.field for problem in caught.value.problems] == [field]
    assert "analytics.json" in str(caught.value)


def test_later_fields_are_ignored() -> None:
    """The known fields of a later version are read."""
    assert decode_manifest(b'{"holograms": [1]}') == ArtifactManifest()


def test_manifest_that_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    """A path outside or a non-finite number is rejected before the file is changed."""
    path = tmp_path / "analytics.json"
    write_manifest(path, FULL)
    for broken in (
        ArtifactManifest(tensorboard_dir="/abs"),
        ArtifactManifest(videos=(msgspec.structs.replace(VIDEO, meta={"fps": math.nan}),)),
    ):
        with pytest.raises(ManifestError):
            write_manifest(path, broken)
    assert read_manifest(path) == FULL


def test_missing_and_broken_files_are_named(tmp_path: Path) -> None:
    """The error names a file that is missing or not JSON."""
    path = tmp_path / "analytics.json"
    with pytest.raises(ManifestError, match=r"analytics\.json"):
        read_manifest(path)
    path.write_bytes(b"\xff\xff")
    with pytest.raises(ManifestError, match=r"analytics\.json"):
        read_manifest(path)


def test_folder_that_is_gone_is_reported(tmp_path: Path) -> None:
    """Writing into a removed folder is a readable error, not a traceback."""
    with pytest.raises(UserError, match="cannot be written"):
        write_manifest(tmp_path / "gone" / "analytics.json", FULL)


def test_failed_replacement_leaves_nothing(tmp_path: Path) -> None:
    """No temporary file remains."""
    path = tmp_path / "analytics.json"
    path.mkdir()
    with pytest.raises(UserError, match="cannot be written"):
        write_manifest(path, FULL)
    assert [entry.name for entry in tmp_path.iterdir()] == ["analytics.json"]
