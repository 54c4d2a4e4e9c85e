"""Chunks, logs and references taken apart, without a daemon."""

import pytest
import zstandard

from mosaic.client.errors import RunReferenceError
from mosaic.client.log_lines import LineSplitter
from mosaic.client.run_reference import find_run
from mosaic.client.step_lines import LineCursor, RunClock, metric_on, steps_on
from mosaic.contract.rpc.trainer_pb2 import LineChunk


def test_a_chunk_that_begins_before_the_cursor_gives_only_what_is_new() -> None:
    """Also when the same chunk comes again, longer."""
    cursor = LineCursor(after=1)
    assert list(cursor.lines_of(_chunk(0, b"a", b"b", b"c"))) == [(2, b"c")]
    assert list(cursor.lines_of(_chunk(0, b"a", b"b", b"c", b"d"))) == [(3, b"d")]
    assert cursor.seq == 3


def _chunk(first_seq: int, *lines: bytes) -> LineChunk:
    data = zstandard.ZstdCompressor().compress(b"\n".join(lines))
    return LineChunk(first_seq=first_seq, lines=len(lines), zstd=data)


def test_steps_in_columns_are_steps() -> None:
    """Non-finite rewards are floats again."""
    line = b'{"type":"steps","episode_id":"e","first":7,"actions":[1,2],"rewards":[0.5,"NaN"]}'
    first, second = steps_on(line, RunClock(lambda: None))
    assert (first.step, first.action, first.reward) == (7, 1, 0.5)
    assert second.step == 8
    assert second.reward != second.reward


def test_times_count_from_the_runs_start_when_they_are_small() -> None:
    """The start is asked for once, and only when it is needed."""
    asked = []

    def started_at() -> float:
        asked.append(True)
        return 2e9

    clock = RunClock(started_at)
    late = b'{"type":"metric","name":"x","value":1,"t":1.8e9}'
    early = b'{"type":"metric","name":"x","value":1,"t":5.0}'
    absolute = metric_on(late, clock)
    assert absolute is not None
    assert absolute.t == 1.8e9
    assert not asked
    for _ in range(2):
        relative = metric_on(early, clock)
        assert relative is not None
        assert relative.t == 2e9 + 5
    assert len(asked) == 1


def test_log_lines_are_whole_whatever_the_parts() -> None:
    """A letter of two bytes may be cut in the middle, and the last line may have no end."""
    splitter = LineSplitter()
    text = "grün\nblau\nrot".encode()
    lines = [line for byte in text for line in splitter.feed(bytes([byte]))]
    assert lines == ["grün", "blau"]
    assert splitter.rest() == ["rot"]
    assert splitter.rest() == []


def test_a_line_without_an_end_is_broken() -> None:
    """What is kept stays small, and nothing is lost."""
    splitter = LineSplitter()
    part = b"x" * (1 << 20)
    lines = [line for _ in range(9) for line in splitter.feed(part)]
    assert lines
    assert sum(map(len, [*lines, *splitter.rest()])) == 9 * len(part)


_RUNS = [("01AAAAAAAAAAAAAAAAAAAAAAAX", "one"), ("01AAAAAAAAAAAAAAAAAAAAAAAY", "two")]


@pytest.mark.parametrize(
    ("reference", "found"),
    [("ax", 0), ("01AAAAAAAAAAAAAAAAAAAAAAAY", 1), ("two", 1), ("last", 1)],
)
def test_a_reference_names_a_run(reference: str, found: int) -> None:
    """By its end in either case, its whole id, its name, or as the newest."""
    assert find_run(reference, _RUNS) == _RUNS[found][0]


@pytest.mark.parametrize("reference", ["01A", "", "zzz", "On"])
def test_a_reference_that_is_not_clear_is_refused(reference: str) -> None:
    """Several runs, or none: the message has the reference, the remedy what helps."""
    with pytest.raises(RunReferenceError) as raised:
        find_run(reference, _RUNS)
    assert reference in raised.value.message
    assert raised.value.remedy
