"""EpisodeChunks: all steps of an episode, in chunks."""

import math

from gym_gui.replay.feed.replays import EpisodeChunks
from mosaic.contract.events import StepRecord


def step(number: int, actor: str | None = None) -> StepRecord:
    return StepRecord(
        episode_id="ep0",
        step=number,
        action=0,
        reward=float(number),
        terminated=False,
        truncated=False,
        actor=actor,
    )


def test_continues_after_a_short_response_and_fills_gaps() -> None:
    """A response may be shorter than requested; steps that were not stored are NaN."""
    stored = [number for number in range(2_500) if number % 10 != 3]

    def read(first: int, count: int) -> list[StepRecord]:
        numbers = [number for number in stored if first <= number < first + count]
        return [step(number) for number in numbers[:300]]

    chunks = list(EpisodeChunks(read, 2_500))
    rewards = [reward for chunk in chunks for reward in chunk.rewards]
    assert len(rewards) == 2_500
    assert rewards[2_499] == 2_499.0
    assert math.isnan(rewards[13])
    assert sum(1 for reward in rewards if math.isnan(reward)) == 250


def test_reports_the_first_step_of_each_actor() -> None:
    """One entry per change, not per step."""
    steps = [step(0, "dqn"), step(1, "dqn"), step(2, "human"), step(3)]
    (chunk,) = EpisodeChunks(lambda _first, _count: steps, 4)
    assert chunk.actors == ((0, "dqn"), (2, "human"), (3, ""))


def test_close_stops_reading() -> None:
    """Another episode can be opened before this one is read."""
    requested = []

    def read(first: int, count: int) -> list[StepRecord]:
        requested.append(first)
        chunks.close()
        return [step(number) for number in range(first, first + count)]

    chunks = EpisodeChunks(read, 10_000)
    assert len(list(chunks)) == 1
    assert requested == [0]
