"""Scalars of event files, read without TensorBoard: complete, growing and damaged ones."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mosaic.analytics.event_files import EventFileWriter, EventFolder, read_scalars
from mosaic.analytics.summary_events import encode_scalars_event, encode_version_event
from mosaic.analytics.tfrecord import encode_record

_WRITE = """
import sys
from torch.utils.tensorboard import SummaryWriter
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.util.tensor_util import make_tensor_proto
import numpy as np
with SummaryWriter(sys.argv[1]) as writer:
    writer.add_text("hyperparameters", "|a|b|")
    writer.add_histogram("weights", np.arange(10.0), 3)
    for step in range(50):
        writer.add_scalar("losses/value", step / 8, step, walltime=1000.0 + step)
        writer.add_scalar("new", step / 4, step, walltime=1000.0 + step, new_style=True)
    plugin = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    for step, number in enumerate([np.float64(0.1), np.int64(7), np.int32(-2), np.float16(1.5)]):
        value = Summary.Value(tag="tensor", metadata=plugin, tensor=make_tensor_proto(number))
        event = Event(step=step, wall_time=2000.0 + step, summary=Summary(value=[value]))
        writer.file_writer.add_event(event)
"""


def _file(folder: Path, started_at: int, *records: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.tfevents.{started_at:010d}.host.1.0"
    path.write_bytes(b"".join(map(encode_record, (encode_version_event(started_at), *records))))
    return path


def _losses(first: int, count: int) -> list[bytes]:
    return [
        encode_scalars_event(100.0 + step, step, {"loss": step / 2})
        for step in range(first, first + count)
    ]


@pytest.mark.process
def test_reads_files_of_tensorboard_writers(tmp_path: Path, run_there: Callable[..., str]) -> None:
    """Plain numbers and tensors of every kind are read; texts and histograms are only named."""
    run_there(_WRITE, str(tmp_path / "run"))
    events = EventFolder(tmp_path)
    events.read_more()
    series = events.series
    assert list(series) == ["losses/value", "new", "tensor"]
    assert list(series["losses/value"].steps) == list(range(50))
    assert series["losses/value"].times[-1] == 1049.0
    assert series["losses/value"].values[-1] == 49 / 8
    assert series["new"].values[-1] == 49 / 4
    assert list(series["tensor"].values) == [0.1, 7.0, -2.0, 1.5]
    assert events.other_tags == ("hyperparameters/text_summary", "weights")
    assert (events.unreadable_records, events.broken_files) == (0, ())


def test_files_of_one_run_are_joined(tmp_path: Path) -> None:
    """The file that was created later continues the curve, in any order of discovery."""
    _file(tmp_path / "run", 200, *_losses(10, 5))
    _file(tmp_path / "run", 100, *_losses(0, 10))
    assert list(read_scalars(tmp_path)["loss"].steps) == list(range(15))


def test_late_points_are_sorted(tmp_path: Path) -> None:
    """Two writers of one curve: their points are ordered by time."""
    _file(tmp_path, 100, *_losses(5, 5))
    _file(tmp_path, 200, *_losses(0, 5))
    series = read_scalars(tmp_path)["loss"]
    assert list(series.steps) == list(range(10))
    assert list(series.values) == [step / 2 for step in range(10)]


def test_runs_in_subfolders_are_separate(tmp_path: Path) -> None:
    """A tag of several runs has the run's name as prefix; a unique tag does not."""
    _file(tmp_path / "a__1", 100, *_losses(0, 2), encode_scalars_event(1.0, 1, {"only": 1.0}))
    _file(tmp_path / "b__2", 100, *_losses(0, 3))
    series = read_scalars(tmp_path)
    assert {name: len(series) for name, series in series.items()} == {
        "a__1/loss": 2,
        "b__2/loss": 3,
        "only": 1,
    }


def test_growing_event_file_is_read(tmp_path: Path) -> None:
    """An incomplete record is read once it is complete, and nothing is read twice."""
    path = _file(tmp_path, 100, *_losses(0, 3))
    events = EventFolder(tmp_path)
    assert events.read_more() == 3
    assert events.read_more() == 0
    late = encode_record(_losses(3, 1)[0])
    for cut in (4, 20, len(late) - 1):
        path.write_bytes(path.read_bytes() + late[:cut])
        assert events.read_more() == 0
        path.write_bytes(path.read_bytes()[:-cut])
    path.write_bytes(path.read_bytes() + late)
    assert events.read_more() == 1
    _file(tmp_path / "later", 200, encode_scalars_event(500.0, 9, {"other": 1.0}))
    assert events.read_more() == 1
    assert (events.unreadable_records, events.broken_files) == (0, ())
    assert events.files[0].size_bytes == path.stat().st_size


def test_damaged_records_are_skipped(tmp_path: Path) -> None:
    """A record with a wrong checksum or invalid content is skipped and counted."""
    records = [encode_record(event) for event in (encode_version_event(1), *_losses(0, 400))]
    damaged = bytearray(records[50])
    damaged[20] ^= 0xFF
    records[50] = bytes(damaged)
    records[70] = encode_record(b"\xff\xff\xff")
    (tmp_path / "events.out.tfevents.1.host").write_bytes(b"".join(records))
    events = EventFolder(tmp_path)
    assert events.read_more() == 398
    assert events.unreadable_records == 2
    assert events.broken_files == ()


def test_broken_event_files_are_listed(tmp_path: Path) -> None:
    """A file with an invalid record yields the preceding ones and is listed as broken."""
    path = _file(tmp_path, 100, *_losses(0, 3))
    path.write_bytes(path.read_bytes() + b"\0" * 64)
    events = EventFolder(tmp_path)
    assert events.read_more() == 3
    assert events.broken_files == (path,)
    assert events.read_more() == 0


def test_missing_folder_has_no_series(tmp_path: Path) -> None:
    """No error: a run that has just started has none yet."""
    assert read_scalars(tmp_path / "nowhere") == {}


@pytest.mark.process
def test_tensorboard_reads_written_file(
    tmp_path: Path, read_by_tensorboard: Callable[[Path], dict[str, list[list[float]]]]
) -> None:
    """Every number is read back, NaN included, and the file appears when it is complete."""
    with EventFileWriter(tmp_path, 100.0) as file:
        for step in range(20):
            file.add(100.0 + step, step, {"charts/return": step * 0.5, "losses/ä b": math.inf})
        assert not file.path.exists()
    assert [path.name for path in tmp_path.iterdir()] == [file.path.name]
    series = read_by_tensorboard(tmp_path)
    assert series["charts/return"] == [[step, 100.0 + step, step * 0.5] for step in range(20)]
    assert series["losses/ä b"][3] == [3, 103.0, math.inf]


def test_failed_writer_leaves_no_file(tmp_path: Path) -> None:
    """Not even an incomplete one."""

    def write_half() -> None:
        with EventFileWriter(tmp_path, 100.0) as file:
            file.add(1.0, 1, {"a": 1.0})
            raise KeyError

    with pytest.raises(KeyError):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_pipe_is_not_read(tmp_path: Path) -> None:
    """Folders and broken links are skipped, too."""
    os.mkfifo(tmp_path / "events.out.tfevents.1.pipe")
    (tmp_path / "events.out.tfevents.2.folder").mkdir()
    (tmp_path / "events.out.tfevents.3.link").symlink_to(tmp_path / "nowhere")
    _file(tmp_path, 4, encode_scalars_event(1.0, 1, {"a": 2.0}))
    folder = EventFolder(tmp_path)
    assert folder.read_more() == 1
    assert len(folder.files) == 1
