"""What W&B left on the disk, as the window is told of it."""

from pathlib import Path

import pytest

from gym_gui.wandb.feed.wandb_runs import WandbPlaces, sync_command, watch_wandb
from tests.analytics.wandb_writing import log_of, some_records, wandb_folder


def test_a_look_tells_only_what_is_new(tmp_path: Path) -> None:
    """Nothing at first, then a run, then its values; a file that is none says so."""
    look = watch_wandb(WandbPlaces((tmp_path / "wandb",)))
    assert look() == ()
    assert look() is None
    folder = wandb_folder(tmp_path / "wandb", [])
    (run,) = look() or ()
    assert run.contents.rows == 0
    file = folder / "run-abc12345.wandb"
    file.write_bytes(log_of(some_records(4)))
    (run,) = look() or ()
    assert (run.contents.rows, run.problem) == (4, "")
    assert look() is None
    file.write_bytes(b"something else")
    (run,) = look() or ()
    assert "is not a Weights & Biases file" in run.problem


def test_the_command_that_uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the run's own Python where `wandb` is not on the path; quoted; through its proxy."""
    folder, python = tmp_path / "my runs", tmp_path / "python"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sync_command(folder, python, "") == f"wandb sync '{folder}'"
    python.touch()
    assert sync_command(folder, python, "") == f"{python} -m wandb sync '{folder}'"
    (tmp_path / "wandb").write_text("")
    (tmp_path / "wandb").chmod(0o755)
    given = sync_command(folder, python, "http://proxy:8080")
    assert given == f"HTTPS_PROXY=http://proxy:8080 wandb sync '{folder}'"
