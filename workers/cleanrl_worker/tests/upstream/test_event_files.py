"""Event files are followed while they are written, and read without TensorBoard."""

from pathlib import Path

import pytest
from workers.cleanrl_worker.tests.upstream.event_writing import (
    record,
    scalar_record,
    text_record,
)

from cleanrl_worker.upstream.event_files import EventFiles, EventPoint, EventText

LOSS = scalar_record("losses/value_loss", 0.5, 300, 1700000001.25)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "runs" / "CartPole-v1__ppo__1__1700000000"
    folder.mkdir(parents=True)
    return folder / "events.out.tfevents.1700000000.host.1.0"


def test_a_file_is_read_from_the_last_offset(tmp_path: Path, path: Path) -> None:
    """An incomplete record is read later, and none twice."""
    files = EventFiles(tmp_path)
    path.write_bytes(LOSS + LOSS[:20])
    files.find_new()
    assert list(files.read_new()) == [EventPoint("losses/value_loss", 300, 1700000001.25, 0.5)]
    assert list(files.read_new()) == []
    with path.open("ab") as file:
        file.write(LOSS[20:] + text_record("hyperparameters", "|seed|1|"))
    assert [type(event) for event in files.read_new()] == [EventPoint, EventText]
    assert not files.broken


def test_texts_keep_their_tag(tmp_path: Path, path: Path) -> None:
    """The table of hyperparameters is found by its tag."""
    path.write_bytes(text_record("hyperparameters", "|param|value|"))
    files = EventFiles(tmp_path)
    files.find_new()
    assert list(files.read_new()) == [EventText("hyperparameters", "|param|value|")]


@pytest.mark.parametrize("garbage", [b"\x00" * 40, record(b"\xff\xff\xff"), b"not an event file"])
def test_a_file_in_another_format_is_reported(tmp_path: Path, path: Path, garbage: bytes) -> None:
    """Earlier records are kept, and the rest is skipped."""
    path.write_bytes(LOSS + garbage)
    files = EventFiles(tmp_path)
    files.find_new()
    assert len(list(files.read_new())) == 1
    assert path.name in files.broken
    assert list(files.read_new()) == []


def test_copies_in_the_wandb_folder_are_skipped(tmp_path: Path) -> None:
    """W&B links to the event files in its own folder."""
    copy = tmp_path / "wandb" / "run-1" / "events.out.tfevents.1"
    copy.parent.mkdir(parents=True)
    copy.write_bytes(LOSS)
    files = EventFiles(tmp_path)
    files.find_new()
    assert files.paths == []
