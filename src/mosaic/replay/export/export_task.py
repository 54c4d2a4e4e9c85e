"""ExportTask: the input of one export, created by `ExportJob` and used by each format's writer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from mosaic.contract.episodes import EpisodeDetails
from mosaic.contract.events import StepRecord
from mosaic.replay.cancellation import Cancellation
from mosaic.replay.export.export_request import ExportRequest
from mosaic.replay.simulation import SimulationSource, SimulationStream

_STEPS_PER_CALL = 1_000


class EpisodeSource(SimulationSource, Protocol):
    """What an export needs of the client: a `TrainerClient`."""

    def episode(self, run_id: str, episode: int) -> EpisodeDetails: ...

    def episode_steps(
        self, run_id: str, episode: int, first: int = 0, count: int = 0
    ) -> list[StepRecord]: ...


@dataclass(frozen=True)
class ExportTask:
    """One episode, the request, and callbacks for progress and cancellation."""

    source: EpisodeSource
    run_id: str
    episode: int
    request: ExportRequest
    on_progress: Callable[[int, int], None]
    """Called with the number of written frames or steps and the total."""
    cancellation: Cancellation

    def details(self) -> EpisodeDetails:
        return self.source.episode(self.run_id, self.episode)

    def steps(self, first: int, end: int) -> Iterator[StepRecord]:
        """Iterate over the recorded steps with numbers in [first, end), in order."""
        while first < end:
            count = min(_STEPS_PER_CALL, end - first)
            requested_first = first
            for step in self.source.episode_steps(self.run_id, self.episode, first, count):
                if step.step >= first:
                    yield step
                    first = step.step + 1
            if first == requested_first:  # a worker that samples steps leaves gaps
                first += count

    def simulate(self) -> SimulationStream:
        return self.source.resimulate(self.run_id, self.episode)


def count_steps(details: EpisodeDetails) -> int:
    """Return the number of steps of the episode, as far as it is known."""
    return max(details.episode.steps, details.episode.reported_steps or 0)
