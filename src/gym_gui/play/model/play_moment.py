"""NewestMoment: what the environment looks like now, from pictures and from the store alike.

A picture carries the line of the step that it shows, and comes before that step is stored; steps
without a picture come from the store alone. Owned by `PlayModel`.
"""

from dataclasses import dataclass
from typing import Any

from gym_gui.play.model.play_score import PastEpisodes
from mosaic.contract.decode import decode
from mosaic.contract.events import EpisodeStart, StepRecord

BEFORE_FIRST_STEP = -1


@dataclass(frozen=True, slots=True)
class Moment:
    """After a step, or before the first one."""

    episode_id: str = ""
    step: int = BEFORE_FIRST_STEP
    observation: Any = None
    info: Any = None
    render: Any = None
    record: StepRecord | None = None
    """The step that led here; None before the first one."""

    @property
    def action(self) -> Any:
        return self.record.action if self.record else None

    @property
    def is_over(self) -> bool:
        return self.record is not None and (self.record.terminated or self.record.truncated)


class NewestMoment:
    """Of one run; never goes back."""

    def __init__(self) -> None:
        self.now = Moment()
        self._past = PastEpisodes()

    def take_json(self, line: bytes) -> bool:
        """The line that a picture carries; whether it is news."""
        if not line:
            return False
        try:
            event = decode(line)
        except ValueError:  # a worker wrote it, and nobody has checked it
            return False
        return isinstance(event, EpisodeStart | StepRecord) and self.take(event)

    def take(self, line: EpisodeStart | StepRecord) -> bool:
        """Whether it is newer than what is known."""
        step = line.step if isinstance(line, StepRecord) else BEFORE_FIRST_STEP
        if line.episode_id == self.now.episode_id:
            if step <= self.now.step:
                return False
        elif line.episode_id in self._past:
            return False
        else:
            self._past.add(self.now.episode_id)
        record = line if isinstance(line, StepRecord) else None
        self.now = Moment(line.episode_id, step, line.obs, line.info, line.render, record)
        return True
