"""Which frames are requested next: ahead first, then behind, within the capacity."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mosaic.replay.frame_cache import FrameCache, FrameRange, Playhead, next_frames_to_request
from tests.replay.test_frame_cache import OVERHEAD, frame


def holding(limit_frames: int, *indices: int, playhead: int = 0) -> FrameCache:
    cache = FrameCache(limit_frames * OVERHEAD)
    cache.move_playhead(playhead)
    for index in indices:
        cache.put(frame(index))
    return cache


def test_first_request_is_small() -> None:
    """While their size is unknown."""
    assert next_frames_to_request(holding(1_000), Playhead(0), 500) == FrameRange(0, 32)
    assert next_frames_to_request(holding(1_000), Playhead(490), 500) == FrameRange(490, 10)


def test_frames_ahead_are_requested_next() -> None:
    """In one request, if they fit."""
    assert next_frames_to_request(holding(1_000, *range(32)), Playhead(0), 500) == FrameRange(
        32, 468
    )


def test_frames_behind_are_requested_last() -> None:
    """When everything ahead is there, the gap before the playhead is filled."""
    cache = holding(1_000, *range(300, 500), playhead=300)
    assert next_frames_to_request(cache, Playhead(300), 500) == FrameRange(0, 300)
    assert next_frames_to_request(holding(1_000, *range(500)), Playhead(300), 500) is None


def test_backward_requests_frame_then_preceding_block() -> None:
    """The frame alone first, because the simulation only goes forwards."""
    cache = holding(1_000, *range(300, 400), playhead=299)
    assert next_frames_to_request(cache, Playhead(299, is_backward=True), 500) == FrameRange(299, 1)
    cache.put(frame(299))
    assert next_frames_to_request(cache, Playhead(299, is_backward=True), 500) == FrameRange(
        235, 64
    )


def test_full_cache_refills_when_half_is_used() -> None:
    """Requesting single frames would restart the simulation repeatedly."""
    cache = holding(100, *range(72))
    assert next_frames_to_request(cache, Playhead(0), 10_000) is None
    assert next_frames_to_request(cache, Playhead(30), 10_000) is None
    assert next_frames_to_request(cache, Playhead(40), 10_000) == FrameRange(72, 40)


@settings(deadline=None)
@given(
    limit=st.integers(1, 60),
    frames=st.integers(1, 150),
    seeks=st.lists(st.integers(0, 149), min_size=1, max_size=8),
)
def test_read_ahead_reaches_playhead(limit: int, frames: int, seeks: list[int]) -> None:
    """For any positions: equal frames are rendered once, cached, and not requested again."""
    cache = FrameCache(limit * OVERHEAD)
    before = 0
    for seek in seeks:
        here = min(seek, frames - 1)
        cache.move_playhead(here)
        playhead = Playhead(here, is_backward=here < before)
        before = here
        for _ in range(frames + 2):
            requested = next_frames_to_request(cache, playhead, frames)
            if requested is None:
                break
            assert 0 <= requested.first < requested.end <= frames
            kept = [cache.put(frame(index)) for index in range(requested.first, requested.end)]
            if not all(kept):
                break
        else:
            raise AssertionError("it never stops requesting frames")
        assert here in cache
