"""Whatever is in a store, reading it gives a result or a `UserError`, and ingest a fault."""

import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.contract.errors import UserError
from mosaic.contract.ids import new_ulid
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry.errors import FaultKind
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.service import TelemetryService
from tests.telemetry.conftest import Spool, step

QUERIES: tuple[Callable[[TelemetryReader], object], ...] = (
    TelemetryReader.stats,
    TelemetryReader.counts,
    TelemetryReader.episodes,
    lambda reader: reader.episodes_after(-1),
    lambda reader: reader.steps(1),
    lambda reader: reader.episode_details(1),
    lambda reader: reader.recording(1),
    lambda reader: reader.steps_after(-1),
    lambda reader: reader.metrics_after(-1),
    lambda reader: reader.events_after(-1),
    TelemetryReader.newest_step,
    TelemetryReader.recent_returns,
    TelemetryReader.series,
    lambda reader: reader.curve("loss"),
    lambda reader: list(reader.rejects()),
)
TABLES = ("counter", "step_chunk", "metric_chunk", "step_span", "episode", "series", "curve_chunk")
VALUES = (
    *(None, -1, 0, 1, 2**63 - 1, -(2**63), 1.5, float("inf"), "", "text", "\ufffd"),
    *(b"", bytes(7), b"\xff" * 100, b"(\xb5/\xfd\x04\x00"),
)


@pytest.fixture(scope="module")
def run() -> Iterator[RunDirectory]:
    """A small run with every kind of row."""
    with tempfile.TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder) / new_ulid())
        run.path.mkdir()
        spool = Spool(run)
        for episode in ("e0", "e1", "e2"):
            spool.write({"type": "episode_start", "episode_id": episode, "seed": 1})
            spool.write(*(step(n, episode, obs=[0.5, n]) for n in range(30)))
            spool.write(*({"type": "metric", "name": "loss", "value": n} for n in range(30)))
            spool.write({"type": "episode_end", "episode_id": episode, "return": 30.0, "steps": 30})
        spool.write(b"not an event")
        with TelemetryService(run) as service:
            assert service.finish()
        yield run


@contextmanager
def copy_of(run: RunDirectory) -> Iterator[RunDirectory]:
    with tempfile.TemporaryDirectory() as folder:
        yield RunDirectory(Path(shutil.copytree(run.path, Path(folder) / run.run_id)))


def read_everything(run: RunDirectory) -> None:
    with suppress(UserError), TelemetryReader(run) as reader:
        for query in QUERIES:
            with suppress(UserError), reader.explain_errors():
                query(reader)
    with TelemetryService(run) as service:
        service.ingest()


@given(st.lists(st.tuples(st.integers(0), st.integers(0, 255)), min_size=1, max_size=8))
def test_any_bytes_of_the_file(run: RunDirectory, changes: list[tuple[int, int]]) -> None:
    with copy_of(run) as damaged:
        content = bytearray(damaged.store.read_bytes())
        for position, value in changes:
            content[position % len(content)] = value
        damaged.store.write_bytes(content)
        read_everything(damaged)


@given(
    st.lists(
        st.tuples(st.sampled_from(TABLES), st.integers(0, 20), st.sampled_from(VALUES)),
        min_size=1,
        max_size=3,
    )
)
def test_any_value_in_any_column(run: RunDirectory, changes: list[tuple[str, int, object]]) -> None:
    with copy_of(run) as damaged:
        with closing(sqlite3.connect(damaged.store)) as connection:
            for table, number, value in changes:
                columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
                column = columns[number % len(columns)]
                with suppress(sqlite3.IntegrityError):  # a constraint of the schema
                    connection.execute(f"UPDATE {table} SET {column} = ?", (value,))  # noqa: S608
            connection.commit()
        read_everything(damaged)


def test_a_damaged_counter_is_a_fault_with_a_remedy(run: RunDirectory) -> None:
    """Ingest says what to do, instead of failing without end."""
    with copy_of(run) as damaged:
        with closing(sqlite3.connect(damaged.store)) as connection:
            connection.execute("UPDATE counter SET value = 'text' WHERE name = 'offset'")
            connection.commit()
        with TelemetryService(damaged) as service:
            assert service.ingest() == 0
            fault = service.status().fault
    assert fault is not None
    assert (fault.kind, "offset" in fault.message) == (FaultKind.CORRUPT, True)
    assert "rebuilt" in fault.remedy
