"""FrameCache: never exceeds its limit, and keeps frames near the playhead."""

import threading
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mosaic.client.resimulation import SimulatedFrame
from mosaic.replay.frame_cache import FrameCache

OVERHEAD = 512


def frame(index: int, size: int = 0) -> SimulatedFrame:
    return SimulatedFrame(
        request=1, index=index, width=1, height=1, channels=3, zstd=b"x" * size, problem=""
    )


@given(
    puts=st.lists(st.tuples(st.integers(0, 60), st.integers(0, 3_000)), max_size=80),
    playhead=st.integers(0, 60),
    limit=st.integers(1, 40_000),
)
def test_any_sequence_stays_within_the_limit(
    puts: Sequence[tuple[int, int]], playhead: int, limit: int
) -> None:
    """Bytes are counted correctly, and only a single frame may exceed the limit."""
    cache = FrameCache(limit)
    cache.move_playhead(playhead)
    sizes = {}
    for index, size in puts:
        kept = cache.put(frame(index, size))
        sizes[index] = size
        assert kept == (index in cache)
        indices = [each for index_range in cache.ranges for each in index_range]
        assert cache.used_bytes == sum(sizes[each] + OVERHEAD for each in indices)
        assert cache.used_bytes <= limit or len(indices) == 1
        assert indices == sorted(set(indices))


@given(indices=st.lists(st.integers(0, 50), unique=True, min_size=1), playhead=st.integers(0, 50))
def test_nearest_frames_are_kept(indices: list[int], playhead: int) -> None:
    """Of equal frames the nearest stay; distance behind counts four times."""
    cache = FrameCache(5 * OVERHEAD)
    cache.move_playhead(playhead)
    for index in indices:
        cache.put(frame(index))

    def distance(index: int) -> tuple[int, bool]:
        behind = index < playhead
        return (playhead - index) * 4 if behind else index - playhead, behind

    nearest = sorted(sorted(indices, key=distance)[:5])
    assert [index for index_range in cache.ranges for index in index_range] == nearest


@given(indices=st.sets(st.integers(0, 40)), first=st.integers(0, 40), end=st.integers(0, 41))
def test_missing_frames_are_found(indices: set[int], first: int, end: int) -> None:
    """The first and last gap and the first frame of any range."""
    cache = FrameCache(1 << 20)
    for index in indices:
        cache.put(frame(index))
    missing = [index for index in range(first, end) if index not in indices]
    present = [index for index in range(first, end) if index in indices]
    assert cache.first_missing(first, end) == (missing[0] if missing else None)
    assert cache.last_missing(first, end) == (missing[-1] if missing else None)
    assert cache.first_present(first, end) == (present[0] if present else None)


def test_ranges_are_consecutive_indices() -> None:
    """As a timeline shows them."""
    cache = FrameCache(1 << 20)
    for index in (7, 1, 2, 8, 4):
        cache.put(frame(index))
    assert cache.ranges == (range(1, 3), range(4, 5), range(7, 9))


def test_repeated_frame_counts_once() -> None:
    """Also with another size."""
    cache = FrameCache(1 << 20)
    cache.put(frame(3, 1_000))
    cache.put(frame(3, 10))
    assert cache.used_bytes == OVERHEAD + 10
    assert cache.ranges == (range(3, 4),)


def test_limit_below_one_frame_keeps_one() -> None:
    """The one at the playhead."""
    cache = FrameCache(1)
    cache.move_playhead(5)
    cache.put(frame(5, 100))
    assert not cache.put(frame(6, 100))
    assert cache.ranges == (range(5, 6),)


def test_limit_must_be_positive() -> None:
    """A programming error of the caller."""
    with pytest.raises(ValueError, match="must be positive"):
        FrameCache(0)


def test_cache_is_thread_safe() -> None:
    """Two writers and two readers; the count is correct at the end."""
    cache = FrameCache(20 * OVERHEAD)
    failures: list[Exception] = []

    def fill(offset: int) -> None:
        for index in range(offset, 2_000, 2):
            cache.put(frame(index))
            cache.move_playhead(index)

    def read() -> None:
        try:
            for index in range(2_000):
                found = cache.get(index)
                assert found is None or found.index == index
                assert cache.used_bytes <= cache.limit_bytes
                _ = cache.ranges
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=fill, args=(offset,)) for offset in (0, 1)]
    threads += [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cache.used_bytes == OVERHEAD * sum(map(len, cache.ranges))
