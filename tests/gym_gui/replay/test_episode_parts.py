"""EpisodeParts: all steps of an episode, page by page."""

import math

from gym_gui.replay.feed.episode_parts import EpisodeParts
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


def test_goes_on_where_an_answer_was_cut_and_fills_gaps() -> None:
    """An answer holds less than was asked for; steps that were never stored are NaN."""
    stored = [number for number in range(2_500) if number % 10 != 3]

    def read(first: int, count: int) -> list[StepRecord]:
        wanted = [number for number in stored if first <= number < first + count]
        return [step(number) for number in wanted[:300]]

    parts = list(EpisodeParts(read, 2_500))
    rewards = [reward for part in parts for reward in part.rewards]
    assert len(rewards) == 2_500
    assert rewards[2_499] == 2_499.0
    assert math.isnan(rewards[13])
    assert sum(1 for reward in rewards if math.isnan(reward)) == 250


def test_tells_who_acted_from_which_step_on() -> None:
    """One entry a change, not one a step."""
    steps = [step(0, "dqn"), step(1, "dqn"), step(2, "human"), step(3)]
    (part,) = EpisodeParts(lambda _first, _count: steps, 4)
    assert part.actors == ((0, "dqn"), (2, "human"), (3, ""))


def test_a_closed_one_asks_for_nothing_more() -> None:
    """Whoever opens another episode does not wait for this one to be read."""
    asked = []

    def read(first: int, count: int) -> list[StepRecord]:
        asked.append(first)
        parts.close()
        return [step(number) for number in range(first, first + count)]

    parts = EpisodeParts(read, 10_000)
    assert len(list(parts)) == 1
    assert asked == [0]
