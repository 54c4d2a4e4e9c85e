"""ExportTask: what one export works with. `ExportJob` makes it, each format's writer uses it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mosaic.contract.episodes import EpisodeDetails
from mosaic.contract.events import StepRecord
from mosaic.replay.cancellation import Cancellation
from mosaic.replay.export.episode_source import EpisodeSource, steps_between
from mosaic.replay.export.export_request import ExportRequest
from mosaic.replay.simulation import Simulation


@dataclass(frozen=True)
class ExportTask:
    """One episode, what is to be made of it, and whom to tell how far that is."""

    source: EpisodeSource
    run_id: str
    episode: int
    request: ExportRequest
    on_progress: Callable[[int, int], None]
    """Called with how many pictures or steps are done, and of how many."""
    cancellation: Cancellation

    def details(self) -> EpisodeDetails:
        return self.source.episode(self.run_id, self.episode)

    def steps(self, first: int, end: int) -> Iterator[StepRecord]:
        """The recorded steps from number `first` on and before `end`."""
        return steps_between(self.source, self.run_id, self.episode, first, end)

    def simulate(self) -> Simulation:
        return self.source.resimulate(self.run_id, self.episode)
