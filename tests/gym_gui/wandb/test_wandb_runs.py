"""W&B runs on the disk, as the poller reports them."""

from pathlib import Path

import pytest

from gym_gui.wandb.feed.wandb_runs import WandbLocation, sync_command, watch_wandb
from tests.analytics.wandb_writing import log_of, some_records, wandb_folder


def test_a_poll_reports_only_changes(tmp_path: Path) -> None:
    """Nothing at first, then a run, then its values; an invalid file is reported."""
    poll = watch_wandb(WandbLocation((tmp_path / "wandb",)))
    assert poll() == ()
    assert poll() is None
    folder = wandb_folder(tmp_path / "wandb", [])
    (run,) = poll() or ()
    assert run.contents.rows == 0
    file = folder / "run-abc12345.wandb"
    file.write_bytes(log_of(some_records(4)))
    (run,) = poll() or ()
    assert (run.contents.rows, run.problem) == (4, "")
    assert poll() is None
    file.write_bytes(b"something else")
    (run,) = poll() or ()
    assert "is not a Weights & Biases file" in run.problem


def test_upload_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the Python of the run if `wandb` is not on the path; quoted; through its proxy."""
    folder, python = tmp_path / "my runs", tmp_path / "python"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sync_command(folder, python, "") == f"wandb sync '{folder}'"
    python.touch()
    assert sync_command(folder, python, "") == f"{python} -m wandb sync '{folder}'"
    (tmp_path / "wandb").write_text("")
    (tmp_path / "wandb").chmod(0o755)
    command = sync_command(folder, python, "http://proxy:8080")
    assert command == f"HTTPS_PROXY=http://proxy:8080 wandb sync '{folder}'"
