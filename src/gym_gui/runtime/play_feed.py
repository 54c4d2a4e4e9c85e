"""PlayFeed: everything that happens in the session's run, in order, for its score and its maps.

A session's state has only the newest step; the return of an episode needs them all, and what is
seen before the first step stands on the line that begins the episode. Owned by `SessionService`.
"""

import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gym_gui.runtime.stream_thread import StreamThread
from mosaic.client.results import EventLine
from mosaic.contract.events import EpisodeEnd, EpisodeStart, StepRecord

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

PlayedLine = EpisodeStart | StepRecord | EpisodeEnd

_MOST_WAITING = 2000
"""What is taken in one beat: more would be felt."""


class PlayFeed:
    """Of one run. Steps and other lines come by streams of their own: either may be ahead."""

    def __init__(self, client: "TrainerClient", run_id: str, wake: Callable[[], None]) -> None:
        self.run_id = run_id
        self._steps: StreamThread[tuple[int, StepRecord]] = StreamThread(
            f"play-steps-{run_id[-6:]}",
            lambda: client.steps(run_id, follow=True),
            wake,
            _MOST_WAITING,
        )
        self._lines: StreamThread[EventLine] = StreamThread(
            f"play-lines-{run_id[-6:]}",
            lambda: client.events(run_id, follow=True),
            wake,
            _MOST_WAITING,
        )

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        return (self._steps.thread, self._lines.thread)

    def take(self) -> list[PlayedLine]:
        """What came since the last time: beginnings, steps, endings."""
        told = list(self._told())
        beginnings: list[PlayedLine] = [line for line in told if isinstance(line, EpisodeStart)]
        endings = [line for line in told if isinstance(line, EpisodeEnd)]
        return [*beginnings, *(step for _, step in self._steps.take()), *endings]

    def close(self) -> None:
        """Does not wait for its threads."""
        self._steps.close()
        self._lines.close()

    def _told(self) -> Iterator[EpisodeStart | EpisodeEnd]:
        for line in self._lines.take():
            if line.type in ("episode_start", "episode"):
                event = line.decode()
                if isinstance(event, EpisodeStart | EpisodeEnd):
                    yield event
