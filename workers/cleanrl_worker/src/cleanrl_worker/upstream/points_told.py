"""Remembers which points were told, so that one that is printed and also written counts once.

Which of the two is seen first depends on when each is read.
"""

from __future__ import annotations

_MOST_REMEMBERED = 100_000


class SeenPoints:
    """By curve and step; a step may have several points, one for each episode that ended there."""

    def __init__(self) -> None:
        self._unmatched: dict[tuple[str, int], int] = {}
        """Above 0: so many were printed and not yet seen in a file; below 0: the other way."""
        self._printed_tags: set[str] = {"charts/episodic_return", "eval/episodic_return"}

    def is_new_in_print(self, tag: str, step: int) -> bool:
        self._printed_tags.add(tag)
        return self._is_new(tag, step, 1)

    def is_new_in_file(self, tag: str, step: int) -> bool:
        """Curves that are never printed need not be remembered."""
        return tag not in self._printed_tags or self._is_new(tag, step, -1)

    def _is_new(self, tag: str, step: int, side: int) -> bool:
        key = (tag, step)
        before = self._unmatched.get(key, 0)
        if before == -side:
            del self._unmatched[key]
        else:
            self._unmatched[key] = before + side
        if len(self._unmatched) > _MOST_REMEMBERED:
            del self._unmatched[next(iter(self._unmatched))]
        return before * side >= 0
