"""Which seed the next episode begins with, when nobody asks for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic_worker.play.settings import Settings


class Seeds:
    """An evaluation seeds every episode, so that it can be repeated and compared.

    A game begins with the run's seed and goes on by chance; its record holds what a replay needs.
    """

    def __init__(self, seed: int, settings: Settings) -> None:
        self._seed = seed
        self._seeds = settings.seeds
        self._is_evaluation = settings.is_evaluation
        self._is_first = True

    def next(self, played: int, actors_own: int | None) -> int | None:
        """`played` episodes are over; `actors_own` is what the actor insists on."""
        is_first, self._is_first = self._is_first, False
        if self._is_evaluation:
            return self._of_evaluation(played)
        if actors_own is not None:
            return actors_own
        return self._seed if is_first else None

    def _of_evaluation(self, played: int) -> int:
        if not self._seeds:
            return self._seed + played
        beyond = max(0, played - len(self._seeds) + 1)
        return self._seeds[min(played, len(self._seeds) - 1)] + beyond
