"""FrameCache: the frames of an episode that are in memory, compressed, within a limit.

`EpisodeReplay` fills it from its thread while a window reads from it; any thread may use it.
"""

import threading
from bisect import bisect_left, insort

from mosaic.client.resimulation import SimulatedFrame

DEFAULT_LIMIT_BYTES = 256 << 20
_BEHIND_IS_FARTHER = 4
"""A frame behind the playhead counts as so many times as far away: most people watch forwards, and
still may step back without waiting."""
_BYTES_BESIDE_PIXELS = 512
"""What one frame costs in memory besides its pixels, so that even empty ones count."""


class FrameCache:
    """Frames by index. What is farthest from the playhead goes first when room is needed."""

    def __init__(self, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> None:
        if limit_bytes <= 0:
            raise ValueError("a cache needs room")
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._frames: dict[int, SimulatedFrame] = {}
        self._indices: list[int] = []
        """In order: the farthest frame is always the first or the last of them."""
        self._ranges: tuple[range, ...] | None = ()
        self._used_bytes = 0
        self._playhead = 0

    def put(self, frame: SimulatedFrame) -> bool:
        """Keep a frame. False: there was no room for it beside what is nearer to the playhead."""
        with self._lock:
            before = self._frames.get(frame.index)
            if before is None:
                insort(self._indices, frame.index)
                self._ranges = None
            else:
                self._used_bytes -= _cost(before)
            self._frames[frame.index] = frame
            self._used_bytes += _cost(frame)
            self._make_room()
            return frame.index in self._frames

    def get(self, index: int) -> SimulatedFrame | None:
        with self._lock:
            return self._frames.get(index)

    def __contains__(self, index: int) -> bool:
        with self._lock:
            return index in self._frames

    def move_playhead(self, index: int) -> None:
        """From now on the distance from here counts. Nothing is thrown away yet."""
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
        """Never more than the limit, unless a single frame is larger than that."""
        with self._lock:
            return self._used_bytes

    @property
    def capacity(self) -> int | None:
        """How many frames like those that are here fit in; None when there is none to tell by."""
        with self._lock:
            if not self._frames:
                return None
            return max(1, self._limit_bytes * len(self._frames) // self._used_bytes)

    @property
    def ranges(self) -> tuple[range, ...]:
        """The indices that are here, as runs of neighbours, in order."""
        with self._lock:
            if self._ranges is None:
                self._ranges = _runs_of(self._indices)
            return self._ranges

    def first_missing(self, first: int, end: int) -> int | None:
        """The first index from `first` on and before `end` that is not here."""
        with self._lock:
            at = bisect_left(self._indices, first)
            is_here = at < len(self._indices) and self._indices[at] == first
            missing = first + (_run_length(self._indices, at) if is_here else 0)
            return missing if missing < end else None

    def first_present(self, first: int, end: int) -> int | None:
        """The first index from `first` on and before `end` that is here."""
        with self._lock:
            at = bisect_left(self._indices, first)
            found = self._indices[at] if at < len(self._indices) else end
            return found if found < end else None

    def last_missing(self, first: int, end: int) -> int | None:
        """The last index before `end` and from `first` on that is not here."""
        with self._lock:
            at = bisect_left(self._indices, end) - 1
            before = bisect_left(
                range(at + 1), 1, key=lambda steps: self._indices[at - steps] < end - 1 - steps
            )
            missing = end - 1 - before
            return missing if missing >= first else None

    def _make_room(self) -> None:
        # The last one stays however large it is: a limit that is too small for one frame must not
        # mean that nothing is ever seen.
        while self._used_bytes > self._limit_bytes and len(self._indices) > 1:
            first, last = self._indices[0], self._indices[-1]
            behind = (self._playhead - first) * _BEHIND_IS_FARTHER
            at = 0 if first < self._playhead and behind >= last - self._playhead else -1
            gone = self._frames.pop(self._indices.pop(at))
            self._used_bytes -= _cost(gone)
            self._ranges = None


def _cost(frame: SimulatedFrame) -> int:
    return len(frame.zstd) + len(frame.problem) + _BYTES_BESIDE_PIXELS


def _runs_of(indices: list[int]) -> tuple[range, ...]:
    runs: list[range] = []
    at = 0
    while at < len(indices):
        length = _run_length(indices, at)
        runs.append(range(indices[at], indices[at] + length))
        at += length
    return tuple(runs)


def _run_length(indices: list[int], at: int) -> int:
    """How many neighbours follow each other from position `at` on, found by bisection.

    Within a run each stands as far behind the first as its number says; beyond it, less far.
    """
    first = indices[at]
    return bisect_left(
        range(len(indices) - at), 1, key=lambda behind: indices[at + behind] > first + behind
    )
