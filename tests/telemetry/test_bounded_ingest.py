"""One call of `ingest` does a bounded amount of work, whatever a worker writes."""

import base64
import json

import pytest

from mosaic.contract.decode import RejectKind
from mosaic.contract.layout import RunDirectory
from mosaic.telemetry import line_ingester
from mosaic.telemetry.reader import TelemetryReader
from mosaic.telemetry.rejects import read_rejects
from mosaic.telemetry.service import TelemetryService
from mosaic.telemetry.spool import MAX_BLOCK_LINES, SCAN_BYTES
from tests.telemetry.conftest import Spool, step


def ingest_all(run: RunDirectory) -> list[int]:
    """Ingest the spool; returns the size of each piece."""
    complete = run.spool.read_bytes().rfind(b"\n") + 1
    with TelemetryService(run) as service:
        sizes: list[int] = []
        while size := service.ingest():
            sizes.append(size)
            assert service.has_more == (sum(sizes) < complete)
        assert service.finish()
    return sizes


def test_tiny_lines_are_stored_in_small_transactions(
    run: RunDirectory, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line_ingester, "MAX_BLOCK_S", float("inf"))
    spool.write_raw(b"x\n" * (2 * MAX_BLOCK_LINES))
    spool.write(step(0))
    assert ingest_all(run)[:2] == [2 * MAX_BLOCK_LINES] * 2
    with TelemetryReader(run) as reader:
        assert reader.stats().rejects == 2 * MAX_BLOCK_LINES
        assert reader.stats().steps == 1


def test_a_huge_line_is_searched_in_parts(run: RunDirectory, spool: Spool) -> None:
    """Its beginning is kept with its position; the line itself stays in the spool."""
    size = 4 * SCAN_BYTES
    spool.write(step(0))
    start = run.spool.stat().st_size
    with run.spool.open("r+b") as file:
        file.truncate(start + size)  # a hole takes no space
    spool.write_raw(b"\n")
    spool.write(step(1))
    with TelemetryService(run) as service:
        sizes = [service.ingest() for _ in range(4)]
        assert max(sizes) < SCAN_BYTES + (2 << 20)
        assert service.status().committed_bytes == start
        assert service.has_more
        assert service.finish()
    with TelemetryReader(run) as reader:
        stats, (reject,) = reader.stats(), reader.rejects()
    assert (stats.steps, stats.committed_bytes) == (2, stats.spool_bytes)
    assert (reject.offset, reject.bytes, reject.kind) == (start, size, RejectKind.TOO_LONG)
    assert base64.b64decode(reject.base64 or "") == bytes(1 << 20)


def test_slow_lines_leave_the_rest_of_their_block(
    run: RunDirectory, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line is stored exactly once, even if the time is up after each of them."""
    monkeypatch.setattr(line_ingester, "MAX_BLOCK_S", 0.0)
    paths = [f"checkpoints/{number}.pt" for number in range(20)]
    spool.write(*({"type": "artifact", "kind": "checkpoint", "path": path} for path in paths))
    spool.write_raw(b"not an event")
    assert len(ingest_all(run)) == len(paths)
    with TelemetryReader(run) as reader:
        stored = [json.loads(event.line)["path"] for event in reader.events_after(-1, "artifact")]
        assert (reader.stats().lines, reader.stats().rejects) == (len(paths) + 1, 1)
    assert stored == paths


def test_a_huge_record_of_an_earlier_version_is_read_without_its_content(
    run: RunDirectory,
) -> None:
    """Earlier versions stored oversize lines completely."""
    huge = {"offset": 7, "bytes": 30 << 20, "kind": "too_long", "reason": "", "base64": "A" * 2**25}
    small = {"offset": 9, "bytes": 1, "kind": "not_json", "reason": "", "text": "x"}
    encoded = "".join(json.dumps(r, separators=(",", ":")) + "\n" for r in (huge, small))
    run.rejects.write_text(encoded)
    assert [
        (reject.offset, reject.bytes, reject.base64, reject.text)
        for reject in read_rejects(run.rejects, len(encoded))
    ] == [(7, 30 << 20, None, None), (9, 1, None, "x")]
