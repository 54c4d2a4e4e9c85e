"""`.wandb` files read without W&B: complete, growing and damaged ones, and W&B's own."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.analytics.wandb_log import NotAWandbFileError
from mosaic.analytics.wandb_runs import WandbContents, WandbRecords, find_wandb_folders
from mosaic.contract.layout import Home
from tests.analytics.wandb_writing import (
    BLOCK,
    exit_record,
    history_record,
    log_of,
    run_record,
    some_records,
    stats_record,
    summary_record,
    wandb_folder,
)

_TRACK = """
import sys, wandb
run = wandb.init(mode="offline", project="cleanRL", entity="lab", name="night", dir=sys.argv[1],
                 config={"seed": 3, "nested": {"layers": [64, 64]}},
                 settings=wandb.Settings(silent=True, console="off"))
for at in range(200):
    run.log({"charts/return": at / 2, "losses/value": 1 / (at + 1)}, step=at * 10)
run.log({"weights": wandb.Histogram([1, 2, 3]), "deep": {"er": 7}, "odd": float("nan")}, step=2000)
run.summary["best"] = 99.5
run.finish()
"""


def _read(reader: WandbRecords) -> WandbContents:
    while reader.read_more():
        pass
    return reader.contents


def test_run_details(tmp_path: Path) -> None:
    """Configuration, last values, history length, and exit code."""
    records = [
        run_record({"seed": 1, "_wandb": {}, "env_id": "CartPole-v1"}),
        stats_record(),
        history_record(0, {"charts/return": 1.0, "_runtime": 0.1}),
        summary_record({"charts/return": 1.0}),
        history_record(128, {"charts/return": 2.5}),
        summary_record({"charts/return": 2.5, "img._type": "image-file", "img.path": "a.png"}),
        exit_record(1),
    ]
    path = tmp_path / "run-a.wandb"
    path.write_bytes(log_of(records))
    contents = _read(WandbRecords(path))
    assert (contents.project, contents.entity, contents.name) == (
        "cleanRL",
        "lab",
        "CartPole ppo s1",
    )
    assert contents.config == {"env_id": "CartPole-v1", "seed": 1}
    assert contents.summary == {"charts/return": 2.5, "img": "(image-file)"}
    assert (contents.rows, contents.last_step, contents.exit_code) == (2, 128, 1)
    assert (contents.unreadable, contents.unread_bytes) == (0, 0)


def test_growing_file_is_read(tmp_path: Path) -> None:
    """Cut anywhere, also in the middle of a record, nothing is lost and nothing is read twice."""
    complete = log_of(
        [run_record({"text": "x" * BLOCK}), *(history_record(at, {"a": at}) for at in range(2000))]
    )
    assert len(complete) > 2 * BLOCK
    path = tmp_path / "run-a.wandb"
    path.write_bytes(b"")
    reader = WandbRecords(path)
    for end in (3, 7, 20, BLOCK - 3, BLOCK, BLOCK + 5, 2 * BLOCK, len(complete) - 4):
        path.write_bytes(complete[:end])
        partial = _read(reader)
        assert partial.unreadable == 0
    assert partial.rows == 1999
    assert partial.unread_bytes > 0
    path.write_bytes(complete)
    contents = _read(reader)
    assert (contents.rows, contents.last_step, contents.unread_bytes) == (2000, 1999, 0)
    assert len(contents.config["text"]) == BLOCK


def test_damaged_records_are_counted_and_skipped(tmp_path: Path) -> None:
    """A flipped bit loses a record, noise at most a block; all others are read."""
    records = [run_record({"seed": 1}), *(history_record(at, {"a": at}) for at in range(6000))]
    data = bytearray(log_of(records))
    middle = data.index(b"a", BLOCK + 200)
    data[middle] ^= 0xFF
    data[3 * BLOCK // 2 + BLOCK : 3 * BLOCK // 2 + BLOCK + 40] = b"\x5a" * 40
    path = tmp_path / "run-a.wandb"
    path.write_bytes(bytes(data))
    contents = _read(WandbRecords(path))
    assert 1 < contents.unreadable < 10
    assert 3000 < contents.rows < 6000
    assert contents.last_step == 5999


def test_undecodable_records_are_counted(tmp_path: Path) -> None:
    """Their framing is valid, but their content is not."""
    path = tmp_path / "run-a.wandb"
    path.write_bytes(log_of([b"\xff\xff\xff", *some_records()]))
    contents = _read(WandbRecords(path))
    assert (contents.unreadable, contents.rows) == (1, 3)


def test_file_of_another_kind(tmp_path: Path) -> None:
    """Another kind of file is rejected; a replaced file is read again."""
    path = tmp_path / "run-a.wandb"
    path.write_bytes(b"something else altogether")
    with pytest.raises(NotAWandbFileError, match="is not a Weights & Biases file"):
        WandbRecords(path).read_more()
    path.write_bytes(log_of(some_records(50)))
    reader = WandbRecords(path)
    assert _read(reader).rows == 50
    path.write_bytes(log_of(some_records(2)))
    assert _read(reader).rows == 2


def test_folders_are_found_by_name(tmp_path: Path) -> None:
    """Offline and online ones, newest first; the link to the newest is not another run."""
    older = wandb_folder(tmp_path / "wandb", some_records())
    newer = tmp_path / "wandb" / "run-20260201_000000-new"
    newer.mkdir()
    (tmp_path / "wandb" / "latest-run").symlink_to(newer.name)
    (tmp_path / "wandb" / "debug.log").write_text("")
    found = find_wandb_folders([tmp_path / "wandb", older, tmp_path / "nothing"])
    assert [folder.run_id for folder in found] == ["new", "abc12345"]
    assert [folder.is_offline for folder in found] == [False, True]
    assert found[0].file is None
    assert not found[1].is_synced
    assert found[1].file is not None
    found[1].file.with_name(f"{found[1].file.name}.synced").touch()
    assert find_wandb_folders([older])[0].is_synced


@pytest.mark.process
def test_run_written_by_wandb(tmp_path: Path, give_bundles: Callable[..., None]) -> None:
    """A real offline run: the values are the same as in W&B."""
    home = Home(tmp_path / "home")
    give_bundles(home, "cleanrl_worker")
    [python] = home.venvs.glob("cleanrl_worker-*/bin/python")
    command = [str(python), "-I", "-W", "ignore", "-c", _TRACK, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    [folder] = find_wandb_folders([tmp_path / "wandb"])
    assert folder.is_offline
    assert folder.file is not None
    contents = _read(WandbRecords(folder.file))
    assert (contents.run_id, contents.project, contents.entity, contents.name) == (
        folder.run_id,
        "cleanRL",
        "lab",
        "night",
    )
    assert contents.config == {"seed": 3, "nested": {"layers": [64, 64]}}
    assert (contents.rows, contents.last_step, contents.exit_code) == (201, 2000, 0)
    summary = dict(contents.summary)
    assert str(summary.pop("odd")) == "nan"
    assert summary == {
        "best": 99.5,
        "charts/return": 99.5,
        "deep.er": 7,
        "losses/value": 0.005,
        "weights": "(histogram)",
    }
    assert (contents.unreadable, contents.unread_bytes) == (0, 0)
    assert contents.client
