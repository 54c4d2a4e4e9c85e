"""Deleting a run removes all of its files and no others, also after an interruption."""

import json
import os
import stat
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import Home, RunDirectory
from mosaic.trainer.artifacts.run_removal import clean_leftovers, delete_run
from tests.trainer.artifacts.conftest import put


@pytest.fixture
def config_copy(home: Home, run: RunDirectory) -> Path:
    home.configs.mkdir(parents=True)
    path = home.config_copy(run.run_id)
    path.write_text("{}")
    return path


def test_delete_frees_the_disk_space_of_a_run(
    home: Home, run: RunDirectory, config_copy: Path
) -> None:
    """The directory and the copy of the configuration are deleted; other runs are not."""
    put(run, "checkpoints/nested/deeper/a.pt", b"x" * 1_000_000)
    other = home.run(new_ulid()).path
    other.mkdir()
    assert delete_run(home, run.run_id) >= 1_000_000
    assert not config_copy.exists()
    assert list(home.runs.iterdir()) == [other]
    assert delete_run(home, run.run_id) == 0


def test_links_are_removed_and_not_followed(home: Home, run: RunDirectory, tmp_path: Path) -> None:
    """The target of a link is not deleted."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target").write_text("x")
    (run.path / "folder").symlink_to(outside)
    (run.path / "file").symlink_to(outside / "target")
    os.mkfifo(run.path / "control")
    delete_run(home, run.run_id)
    assert not run.path.exists()
    assert (outside / "target").read_text() == "x"
    run.path.symlink_to(outside)
    delete_run(home, run.run_id)
    assert (outside / "target").read_text() == "x"
    assert not run.path.is_symlink()


def test_folders_without_permissions_are_deleted(home: Home, run: RunDirectory) -> None:
    """Folders whose permissions a worker removed are deleted."""
    put(run, "locked/inner/a.txt")
    for folder in ("locked/inner", "locked"):
        (run.path / folder).chmod(stat.S_IRUSR if folder == "locked" else 0)
    delete_run(home, run.run_id)
    assert not run.path.exists()


def test_a_tree_deeper_than_the_path_limit(home: Home, run: RunDirectory) -> None:
    """Folders nested beyond the maximum path length are deleted."""
    folder = os.open(run.path, os.O_RDONLY)
    for depth in range(1200):
        os.mkdir("deep", dir_fd=folder)
        inner = os.open("deep", os.O_RDONLY, dir_fd=folder)
        os.close(os.open(f"file-{depth}", os.O_CREAT, dir_fd=inner))
        os.close(folder)
        folder = inner
    os.close(folder)
    (run.path / "0").mkdir()
    delete_run(home, run.run_id)
    assert list(home.runs.iterdir()) == []


def test_an_interrupted_deletion_is_completed(
    home: Home, run: RunDirectory, config_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an interruption the run does not exist, and the next start deletes the rest."""
    put(run, "checkpoints/a.pt")
    put(run, "videos/a.mp4")
    real_unlink = Path.unlink

    def interrupt(self: Path, missing_ok: bool = False) -> None:
        if self.name == "a.mp4":
            raise KeyboardInterrupt
        real_unlink(self, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", interrupt)
    with pytest.raises(KeyboardInterrupt):
        delete_run(home, run.run_id)
    monkeypatch.undo()
    assert not run.path.exists()
    config_copy.write_text("{}")
    assert clean_leftovers(home) > 0
    assert list(home.runs.iterdir()) == []
    assert not config_copy.exists()


def test_the_next_deletion_completes_an_interrupted_one(home: Home, run: RunDirectory) -> None:
    """Leftover files of the same run are deleted, too."""
    rest = home.runs / f".deleting-{run.run_id}"
    (rest / "checkpoints").mkdir(parents=True)
    delete_run(home, run.run_id)
    assert list(home.runs.iterdir()) == []


def test_leftovers_of_imports_and_exports(home: Home, run: RunDirectory) -> None:
    """Only folders with the prefix of an import or export are deleted."""
    for name in (".importing-abc", ".exporting-xyz"):
        (home.runs / name / "inner").mkdir(parents=True)
        (home.runs / name / "inner" / "a").write_text("x")
    (home.runs / "notes.txt").write_text("x")
    clean_leftovers(home)
    assert {path.name for path in home.runs.iterdir()} == {run.run_id, "notes.txt"}
    assert json.loads(run.config.read_text())
    assert clean_leftovers(Home(home.path / "missing")) == 0


def test_a_failed_deletion_is_reported(
    home: Home, run: RunDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error is readable, and the next start retries the deletion."""

    def fail(_: Path) -> int:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("mosaic.trainer.artifacts.run_removal.remove_folder", fail)
    with pytest.raises(UserError, match="T367"):
        delete_run(home, run.run_id)
    assert clean_leftovers(home) == 0
    monkeypatch.undo()
    assert clean_leftovers(home) > 0


@pytest.mark.parametrize("run_id", ["..", "", "../runs", "x/y", ".deleting-x"])
def test_only_runs_can_be_deleted(home: Home, run: RunDirectory, run_id: str) -> None:
    """An invalid run id is never used as a path."""
    with pytest.raises(UserError, match="is not a run id"):
        delete_run(home, run_id)
    assert run.path.exists()
