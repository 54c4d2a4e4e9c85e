"""FrameCache: compressed frames of an episode in memory, and which frames to request next.

`EpisodeReplay` fills the cache on its thread while a window reads from it. Thread-safe.
"""

import threading
from bisect import bisect_left, insort
from dataclasses import dataclass

from mosaic.client.resimulation import SimulatedFrame

DEFAULT_LIMIT_BYTES = 256 << 20
_BACKWARD_WEIGHT = 4
"""Frames behind the playhead are evicted earlier: their distance is multiplied by this factor. Most
viewers play forwards, and stepping back a little needs no wait."""
_FRAME_OVERHEAD_BYTES = 512
"""Memory of a frame in addition to its pixels, so that empty frames count, too."""

_PROBE_FRAMES = 32
"""Frames to request while their size is unknown."""
_BACKWARD_BLOCK_FRAMES = 64
_USABLE_SHARE = (9, 10)
"""Later frames may be larger than those that the capacity was estimated from."""
_AHEAD_SHARE = (4, 5)


class FrameCache:
    """Frames by index. The frames farthest from the playhead are evicted first."""

    def __init__(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        if limit_bytes <= 0:
            raise ValueError(f"limit_bytes must be positive, got {limit_bytes}")
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._frames: dict[int, SimulatedFrame] = {}
        self._indices: list[int] = []
        """Sorted: the farthest frame is always the first or the last one."""
        self._ranges: tuple[range, ...] | None = ()
        self._used_bytes = 0
        self._playhead = 0

    def put(self, frame: SimulatedFrame) -> bool:
        """Add a frame. Return False if it was evicted immediately in favour of nearer frames."""
        with self._lock:
            previous = self._frames.get(frame.index)
            if previous is None:
                insort(self._indices, frame.index)
                self._ranges = None
            else:
                self._used_bytes -= _get_size(previous)
            self._frames[frame.index] = frame
            self._used_bytes += _get_size(frame)
            self._evict()
            return frame.index in self._frames

    def get(self, index: int) -> SimulatedFrame | None:
        with self._lock:
            return self._frames.get(index)

    def __contains__(self, index: int) -> bool:
        with self._lock:
            return index in self._frames

    def move_playhead(self, index: int) -> None:
        """Set the playhead that distances are measured from. Nothing is evicted yet."""
        with self._lock:
            self._playhead = index

    def clear(self) -> None:
        with self._lock:
            self._frames.clear()
            self._indices.clear()
            self._ranges = ()
            self._used_bytes = 0

    @property
    def limit_bytes(self) -> int:
        return self._limit_bytes

    @property
    def used_bytes(self) -> int:
        """Never more than the limit, unless a single frame is larger."""
        with self._lock:
            return self._used_bytes

    @property
    def capacity(self) -> int | None:
        """Estimated number of frames that fit; None for an empty cache."""
        with self._lock:
            if not self._frames:
                return None
            return max(1, self._limit_bytes * len(self._frames) // self._used_bytes)

    @property
    def ranges(self) -> tuple[range, ...]:
        """The cached indices as ascending ranges."""
        with self._lock:
            if self._ranges is None:
                self._ranges = _to_ranges(self._indices)
            return self._ranges

    def first_missing(self, first: int, end: int) -> int | None:
        """Return the first index in [first, end) that is not cached."""
        with self._lock:
            at = bisect_left(self._indices, first)
            is_cached = at < len(self._indices) and self._indices[at] == first
            missing = first + (_consecutive_count(self._indices, at) if is_cached else 0)
            return missing if missing < end else None

    def first_present(self, first: int, end: int) -> int | None:
        """Return the first index in [first, end) that is cached."""
        with self._lock:
            at = bisect_left(self._indices, first)
            index = self._indices[at] if at < len(self._indices) else end
            return index if index < end else None

    def last_missing(self, first: int, end: int) -> int | None:
        """Return the last index in [first, end) that is not cached."""
        with self._lock:
            at = bisect_left(self._indices, end) - 1
            before = bisect_left(
                range(at + 1), 1, key=lambda steps: self._indices[at - steps] < end - 1 - steps
            )
            missing = end - 1 - before
            return missing if missing >= first else None

    def _evict(self) -> None:
        # The last frame is never evicted: even with a limit that is too small for one frame, a
        # frame must be visible.
        while self._used_bytes > self._limit_bytes and len(self._indices) > 1:
            first, last = self._indices[0], self._indices[-1]
            behind = (self._playhead - first) * _BACKWARD_WEIGHT
            at = 0 if first < self._playhead and behind >= last - self._playhead else -1
            evicted = self._frames.pop(self._indices.pop(at))
            self._used_bytes -= _get_size(evicted)
            self._ranges = None


def _get_size(frame: SimulatedFrame) -> int:
    return len(frame.zstd) + len(frame.problem) + _FRAME_OVERHEAD_BYTES


def _to_ranges(indices: list[int]) -> tuple[range, ...]:
    ranges: list[range] = []
    at = 0
    while at < len(indices):
        length = _consecutive_count(indices, at)
        ranges.append(range(indices[at], indices[at] + length))
        at += length
    return tuple(ranges)


def _consecutive_count(indices: list[int], at: int) -> int:
    """Return how many consecutive indices start at position `at`, by bisection.

    Within consecutive indices, index and position grow by the same amount; after a gap they do not.
    """
    first = indices[at]
    return bisect_left(
        range(len(indices) - at), 1, key=lambda behind: indices[at + behind] > first + behind
    )


@dataclass(frozen=True)
class FrameRange:
    """`count` frames starting at `first`; never empty."""

    first: int
    count: int

    @property
    def end(self) -> int:
        return self.first + self.count


@dataclass(frozen=True)
class Playhead:
    """Position and direction of the viewer."""

    index: int
    is_backward: bool = False


def next_frames_to_request(cache: FrameCache, playhead: Playhead, frames: int) -> FrameRange | None:
    """Return the frames to request next; None if all frames that fit are cached.

    Frames ahead of the playhead come first, as far as the cache has capacity, then missing frames
    behind it. Backwards, frames behind the playhead come first, in blocks, because the simulation
    only runs forwards.
    """
    index = playhead.index
    capacity = cache.capacity
    if capacity is None:
        return _first_missing_range(
            cache, index, min(frames, index + (1 if playhead.is_backward else _PROBE_FRAMES))
        )
    usable = max(1, capacity * _USABLE_SHARE[0] // _USABLE_SHARE[1])
    ahead = max(1, usable * _AHEAD_SHARE[0] // _AHEAD_SHARE[1])
    end = min(frames, index + ahead)
    start = max(0, index - max(0, usable - (end - index)))
    if index not in cache:
        return (
            FrameRange(index, 1)
            if playhead.is_backward
            else _first_missing_range(cache, index, end)
        )
    if playhead.is_backward:
        last = cache.last_missing(max(start, index - 2 * _BACKWARD_BLOCK_FRAMES), index)
        if last is not None:
            return _first_missing_range(
                cache, max(start, last + 1 - _BACKWARD_BLOCK_FRAMES), last + 1
            )
    # Do not request single frames at the far end of a full cache: wait until half of it is used.
    if cache.first_missing(index, min(end, index + (ahead + 1) // 2)) is not None or end == frames:
        missing = _first_missing_range(cache, index, end)
        if missing is not None:
            return missing
    return _first_missing_range(cache, start, index)


def _first_missing_range(cache: FrameCache, first: int, end: int) -> FrameRange | None:
    """Return the first consecutive frames in [first, end) that are not cached."""
    start = cache.first_missing(first, end)
    if start is None:
        return None
    stop = cache.first_present(start, end)
    return FrameRange(start, (end if stop is None else stop) - start)
