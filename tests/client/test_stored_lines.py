"""Decoding of stored lines and logs, and run references, without a daemon."""

import pytest
import zstandard

from mosaic.client.errors import RunReferenceError
from mosaic.client.run_reference import find_run
from mosaic.client.telemetry_api import (
    LineCursor,
    LineSplitter,
    TimestampConverter,
    decode_metric,
    decode_stored_steps,
)
from mosaic.contract.rpc.trainer_pb2 import LineChunk


def test_cursor_returns_only_new_lines_of_a_chunk() -> None:
    """Also if the same chunk is sent again, with more lines."""
    cursor = LineCursor(after=1)
    assert list(cursor.read_lines(_chunk(0, b"a", b"b", b"c"))) == [(2, b"c")]
    assert list(cursor.read_lines(_chunk(0, b"a", b"b", b"c", b"d"))) == [(3, b"d")]
    assert cursor.seq == 3


def _chunk(first_seq: int, *lines: bytes) -> LineChunk:
    data = zstandard.ZstdCompressor().compress(b"\n".join(lines))
    return LineChunk(first_seq=first_seq, lines=len(lines), zstd=data)


def test_columns_decode_into_steps() -> None:
    """Non-finite rewards become floats."""
    line = b'{"type":"steps","episode_id":"e","first":7,"actions":[1,2],"rewards":[0.5,"NaN"]}'
    first, second = decode_stored_steps(line, TimestampConverter(lambda: None))
    assert (first.step, first.action, first.reward) == (7, 1, 0.5)
    assert second.step == 8
    assert second.reward != second.reward


def test_small_times_are_relative_to_run_start() -> None:
    """The start is fetched once, and only if it is needed."""
    fetched = []

    def started_at() -> float:
        fetched.append(True)
        return 2e9

    clock = TimestampConverter(started_at)
    late = b'{"type":"metric","name":"x","value":1,"t":1.8e9}'
    early = b'{"type":"metric","name":"x","value":1,"t":5.0}'
    absolute = decode_metric(late, clock)
    assert absolute is not None
    assert absolute.t == 1.8e9
    assert not fetched
    for _ in range(2):
        relative = decode_metric(early, clock)
        assert relative is not None
        assert relative.t == 2e9 + 5
    assert len(fetched) == 1


def test_log_lines_are_complete_for_any_chunks() -> None:
    """A chunk may end within a UTF-8 sequence, and the last line may have no newline."""
    splitter = LineSplitter()
    text = "grün\nblau\nrot".encode()
    lines = [line for byte in text for line in splitter.feed(bytes([byte]))]
    assert lines == ["grün", "blau"]
    assert splitter.flush() == ["rot"]
    assert splitter.flush() == []


def test_overlong_line_is_split() -> None:
    """The buffer stays small, and nothing is lost."""
    splitter = LineSplitter()
    part = b"x" * (1 << 20)
    lines = [line for _ in range(9) for line in splitter.feed(part)]
    assert lines
    assert sum(map(len, [*lines, *splitter.flush()])) == 9 * len(part)


_RUNS = [("01AAAAAAAAAAAAAAAAAAAAAAAX", "one"), ("01AAAAAAAAAAAAAAAAAAAAAAAY", "two")]


@pytest.mark.parametrize(
    ("reference", "index"),
    [("ax", 0), ("01AAAAAAAAAAAAAAAAAAAAAAAY", 1), ("two", 1), ("last", 1)],
)
def test_reference_matches_a_run(reference: str, index: int) -> None:
    """By the end of its id in either case, its complete id, its name, or as the newest."""
    assert find_run(reference, _RUNS) == _RUNS[index][0]


@pytest.mark.parametrize("reference", ["01A", "", "zzz", "On"])
def test_ambiguous_or_unknown_reference_is_rejected(reference: str) -> None:
    """The message contains the reference, and there is a remedy."""
    with pytest.raises(RunReferenceError) as raised:
        find_run(reference, _RUNS)
    assert reference in raised.value.message
    assert raised.value.remedy
