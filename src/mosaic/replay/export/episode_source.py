"""What an export needs of the client, and the steps of an episode to the last of them."""

from collections.abc import Iterator
from typing import Protocol

from mosaic.contract.episodes import EpisodeDetails
from mosaic.contract.events import StepRecord
from mosaic.replay.simulation import SimulationSource

_STEPS_PER_CALL = 1_000


class EpisodeSource(SimulationSource, Protocol):
    """A `TrainerClient`."""

    def episode(self, run_id: str, episode: int) -> EpisodeDetails: ...

    def episode_steps(
        self, run_id: str, episode: int, first: int = 0, count: int = 0
    ) -> list[StepRecord]: ...


def steps_between(
    source: EpisodeSource, run_id: str, episode: int, first: int, end: int
) -> Iterator[StepRecord]:
    """The stored steps with numbers from `first` on and before `end`, each once, in order."""
    while first < end:
        count = min(_STEPS_PER_CALL, end - first)
        asked_from = first
        for step in source.episode_steps(run_id, episode, first, count):
            if step.step >= first:
                yield step
                first = step.step + 1
        if first == asked_from:  # a worker that sends samples leaves gaps
            first += count


def step_end(details: EpisodeDetails) -> int:
    """The number after the last step, as far as is known."""
    return max(details.episode.steps, details.episode.reported_steps or 0)
