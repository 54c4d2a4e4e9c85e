"""A run directory, and helpers to write its spool and ingest it."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService

Line = bytes | Mapping[str, object]


def as_line(line: Line) -> bytes:
    return line if isinstance(line, bytes) else msgspec.json.encode(line)


def step(n: int, episode: str = "e0", **more: object) -> dict[str, object]:
    return {
        "type": "step",
        "episode_id": episode,
        "step": n,
        "action": n % 4,
        "reward": 1.0,
        "terminated": False,
        "truncated": False,
        **more,
    }


class Spool:
    """Writes to the run's spool, as a worker does."""

    def __init__(self, run: RunDirectory) -> None:
        self.run = run

    def write(self, *lines: Line) -> None:
        self.write_raw(b"".join(as_line(line) + b"\n" for line in lines))

    def write_raw(self, data: bytes) -> None:
        with self.run.spool.open("ab") as file:
            file.write(data)


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    path = tmp_path / new_ulid()
    path.mkdir()
    return RunDirectory(path)


@pytest.fixture
def spool(run: RunDirectory) -> Spool:
    return Spool(run)


@pytest.fixture
def ingest(run: RunDirectory) -> Callable[[], None]:
    """Ingest the complete spool with a new service."""

    def ingest_all() -> None:
        with TelemetryService(run) as service:
            assert service.finish(), service.status()

    return ingest_all


@pytest.fixture
def stored(
    run: RunDirectory, ingest: Callable[[], None]
) -> Iterator[Callable[[], TelemetryReader]]:
    """Ingest the complete spool and return a reader."""
    readers: list[TelemetryReader] = []

    def open_reader() -> TelemetryReader:
        ingest()
        readers.append(TelemetryReader(run))
        return readers[-1]

    yield open_reader
    for reader in readers:
        reader.close()
