"""ExportJob: progress, cancelling, and files that cannot be written."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mosaic.contract.errors import UserError
from mosaic.replay.cancellation import CancelledError
from mosaic.replay.export.export_job import ExportJob
from mosaic.replay.export.export_request import ExportFormat, ExportRequest
from mosaic.replay.export.target_file import write_atomically
from tests.replay.stand_in import TIMEOUT_S, StandInClient

MP4, GIF, JSONL = ExportFormat.MP4, ExportFormat.GIF, ExportFormat.JSONL


@pytest.mark.parametrize("kind", list(ExportFormat))
def test_progress_from_zero_to_total(tmp_path: Path, kind: ExportFormat) -> None:
    """It never decreases, and ends at 1."""
    seen: list[float] = []
    started = threading.Event()

    def record_progress() -> None:
        started.wait(TIMEOUT_S)
        seen.append(job.state.fraction)

    request = ExportRequest(target=tmp_path / "out", format=kind)
    job = ExportJob(StandInClient(steps=600), "RUN", 0, request, on_change=record_progress)
    started.set()
    result = job.result()
    assert job.state.phase == "done"
    assert result.path.stat().st_size == result.size_bytes
    assert len(seen) >= 3
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("kind", [MP4, GIF])
def test_cancelling_leaves_nothing(tmp_path: Path, kind: ExportFormat) -> None:
    """Even while it waits for a frame; an existing file is kept."""
    (tmp_path / "out").write_bytes(b"precious")
    client = StandInClient(steps=100)
    client.gate.limit(5)
    half_way = threading.Event()

    def record_progress() -> None:
        if len(client.made) == 5:
            half_way.set()

    request = ExportRequest(target=tmp_path / "out", format=kind, overwrite=True)
    job = ExportJob(client, "RUN", 0, request, on_change=record_progress)
    assert half_way.wait(TIMEOUT_S)
    assert not job.wait(0)
    job.cancel()
    assert job.wait(TIMEOUT_S)
    assert job.state.phase == "cancelled"
    with pytest.raises(CancelledError):
        job.result()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_bytes() == b"precious"


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    """Unless requested; then the new file has default permissions."""
    target = tmp_path / "out"
    target.write_bytes(b"precious")
    rejected = ExportJob(StandInClient(), "RUN", 0, ExportRequest(target=target, format=GIF))
    with pytest.raises(UserError, match="already exists") as caught:
        rejected.result()
    assert caught.value.remedy
    assert target.read_bytes() == b"precious"
    request = ExportRequest(target=target, format=GIF, overwrite=True)
    ExportJob(StandInClient(), "RUN", 0, request).result()
    assert target.read_bytes()[:3] == b"GIF"
    plain = tmp_path / "plain"
    plain.touch()
    assert target.stat().st_mode == plain.stat().st_mode


def test_file_created_during_export_is_kept(tmp_path: Path) -> None:
    """Overwriting that file was not requested."""
    target = tmp_path / "out"
    with (
        pytest.raises(UserError, match="already exists"),
        write_atomically(target, overwrite=False),
    ):
        target.write_bytes(b"precious")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert target.read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("path", "message"),
    [("missing/out", "does not exist"), (".", "is a folder"), ("a" * 300, "name")],
)
def test_targets_that_cannot_be_written(tmp_path: Path, path: str, message: str) -> None:
    """The error has a remedy."""
    job = ExportJob(StandInClient(), "RUN", 0, ExportRequest(target=tmp_path / path, format=JSONL))
    with pytest.raises(UserError, match=message) as caught:
        job.result()
    assert caught.value.remedy
    assert caught.value.code != "C185"  # the code of an internal error


def test_special_file_is_not_replaced(tmp_path: Path) -> None:
    """Not even with `overwrite`, because a device or a pipe would be lost."""
    target = tmp_path / "pipe"
    os.mkfifo(target)
    request = ExportRequest(target=target, format=JSONL, overwrite=True)
    with pytest.raises(UserError, match="is not a regular file"):
        ExportJob(StandInClient(), "RUN", 0, request).result()
    assert target.is_fifo()


def test_folder_without_permissions(tmp_path: Path) -> None:
    """For users other than root."""
    if os.geteuid() == 0:
        target = Path("/proc/episode.mp4")  # not writable, even for root
    else:
        tmp_path.chmod(0o500)
        target = tmp_path / "episode.mp4"
    job = ExportJob(StandInClient(), "RUN", 0, ExportRequest(target=target, format=MP4))
    with pytest.raises(UserError, match="cannot be written") as caught:
        job.result()
    assert caught.value.code == "C181"


_WITH_SIZE_LIMIT = """
import resource, signal, sys
from pathlib import Path
from mosaic.replay.export.export_job import ExportJob
from mosaic.replay.export.export_request import ExportFormat, ExportRequest
from mosaic.contract.errors import UserError
from tests.replay.stand_in import StandInClient

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))
client = StandInClient(steps=200)
request = ExportRequest(target=Path(sys.argv[1]), format=ExportFormat(sys.argv[2]))
try:
    ExportJob(client, "RUN", 0, request).result()
except UserError as error:
    print(error.code)
"""


@pytest.mark.parametrize("kind", list(ExportFormat))
@pytest.mark.process
def test_full_disk(tmp_path: Path, kind: ExportFormat) -> None:
    """It is reported, and the temporary file is removed."""
    done = subprocess.run(
        [sys.executable, "-c", _WITH_SIZE_LIMIT, str(tmp_path / "out"), kind],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[3],
    )
    assert done.stdout.strip() == "C180", done.stderr
    assert list(tmp_path.iterdir()) == []


def test_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Videos cannot be written, with a remedy; JSONL can."""
    monkeypatch.setitem(sys.modules, "av", None)
    request = ExportRequest(target=tmp_path / "out", format=MP4)
    with pytest.raises(UserError, match="PyAV is required") as caught:
        ExportJob(StandInClient(), "RUN", 0, request).result()
    assert "pip install av" in caught.value.remedy
    lines = ExportRequest(target=tmp_path / "out", format=JSONL)
    assert ExportJob(StandInClient(), "RUN", 0, lines).result().lines == 12
