"""EpisodeTracker: how far the episodes of a run, or of one of its agents, have come.

It says where a change of mind belongs: to the step that comes next, and where none came, to the
last one that there was. Owned by `mind_feed`.
"""

from gym_gui.beliefs.feed.bdi_state import MindEntry, Place

_MOST_OPEN = 20_000
"""A run that tells of no episodes has ever more changes."""


class EpisodeTracker:
    """Told of lines in their order."""

    def __init__(self) -> None:
        self._episode = 0
        """The one that is under way, or comes next."""
        self._started = 0
        self._tells_starts = False
        self._is_between = False
        """No episode is under way; known only of runs that tell when one begins."""
        self._steps_before = 0
        """How many steps had been counted when the episode began."""
        self._last_end: Place | None = None
        """The last step of the episode that ended last."""
        self._open: list[MindEntry] = []
        """Changes at a step that may never come."""
        self._are_too_many = False

    @property
    def is_open(self) -> bool:
        """There are changes whose step is not known to have come."""
        return bool(self._open)

    def begin(self, number: int | None) -> None:
        number = self._started if number is None else number
        self._started = max(self._started, number + 1)
        self._episode = max(self._episode, number)
        self._is_between, self._tells_starts = False, True

    def end(self, number: int | None, steps: int) -> list[MindEntry]:
        """Changes that were told after its last step: where they belong now."""
        number = self._episode if number is None else number
        self._started = max(self._started, number + 1)
        self._episode = max(self._episode, number + 1)
        self._steps_before += steps
        self._is_between, self._are_too_many = self._tells_starts, False
        last = Place(number, steps - 1) if steps > 0 else None
        self._last_end = last or self._last_end
        late = [entry for entry in self._open if entry.place.episode == number]
        self._open = [entry for entry in self._open if entry.place.episode > number]
        return _moved(late, last)

    def place_now(self, steps_done: int | None) -> Place:
        """`steps_done`: of all episodes together, as the change itself says."""
        if self._is_between and steps_done is not None:
            self._steps_before = steps_done  # some episodes do not count, such as evaluation
        return Place(self._episode, max(0, (steps_done or 0) - self._steps_before))

    def wait_for_step(self, entry: MindEntry) -> None:
        """It was placed at a step that is still to come."""
        if len(self._open) == _MOST_OPEN:
            # All stay where they are: later ones must not be placed before earlier ones.
            self._open, self._are_too_many = [], True
        if not self._are_too_many:
            self._open.append(entry)

    def close(self, last_step: Place | None) -> list[MindEntry]:
        """No more lines come: where the changes belong whose step was never played.

        `last_step` is the last one that is stored; None where that is not known.
        """
        if last_step is None and self._episode >= self._started:
            last_step = self._last_end
        return _moved(self._open, last_step)


def _moved(entries: list[MindEntry], last: Place | None) -> list[MindEntry]:
    if last is None:
        return []
    return [each._replace(place=last, is_after=True) for each in entries if each.place > last]
