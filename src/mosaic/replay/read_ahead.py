"""Which frames to ask for next, so that what a person looks at is there before they do.

Ahead of the playhead first, as far as the cache has room; then what is missing behind it. Whoever
goes backwards gets what is behind first, a block at a time: the simulation only runs forwards.
"""

from dataclasses import dataclass

from mosaic.replay.frame_cache import FrameCache

_PROBE = 32
"""Frames to ask for while it is not known how large they are."""
_BLOCK = 64
_SAFETY = (9, 10)
"""Frames to come may be larger than those that the capacity was reckoned from."""
_AHEAD = (4, 5)


@dataclass(frozen=True)
class Stretch:
    """Frames from `first` on; never empty."""

    first: int
    count: int

    @property
    def end(self) -> int:
        return self.first + self.count


@dataclass(frozen=True)
class Playhead:
    """Where a person is, and where they are heading."""

    index: int
    is_going_back: bool = False


def next_stretch(cache: FrameCache, playhead: Playhead, frames: int) -> Stretch | None:
    """What to ask for; None when everything that there is room for is here."""
    here = playhead.index
    capacity = cache.capacity
    if capacity is None:
        return _missing(cache, here, min(frames, here + (1 if playhead.is_going_back else _PROBE)))
    usable = max(1, capacity * _SAFETY[0] // _SAFETY[1])
    ahead = max(1, usable * _AHEAD[0] // _AHEAD[1])
    end = min(frames, here + ahead)
    begin = max(0, here - max(0, usable - (end - here)))
    if here not in cache:
        return Stretch(here, 1) if playhead.is_going_back else _missing(cache, here, end)
    if playhead.is_going_back:
        last = cache.last_missing(max(begin, here - 2 * _BLOCK), here)
        if last is not None:
            return _missing(cache, max(begin, last + 1 - _BLOCK), last + 1)
    # Not for a frame or two at the far end of a full cache: half of the way ahead may run empty.
    if cache.first_missing(here, min(end, here + (ahead + 1) // 2)) is not None or end == frames:
        found = _missing(cache, here, end)
        if found is not None:
            return found
    return _missing(cache, begin, here)


def _missing(cache: FrameCache, first: int, end: int) -> Stretch | None:
    """The first frames in a row that are not here."""
    start = cache.first_missing(first, end)
    if start is None:
        return None
    stop = cache.first_present(start, end)
    return Stretch(start, (end if stop is None else stop) - start)
