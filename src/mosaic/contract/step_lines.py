"""The steps on a stored line: one, or many when they came as columns."""

from typing import Any

from mosaic.contract import numbers
from mosaic.contract.decode import decode, decode_step
from mosaic.contract.events import EpisodeEnd, StepColumns, StepRecord


def steps_on_line(line: bytes, first: int = 0, last: int | None = None) -> list[StepRecord]:
    """The step on a stored line; of those that came as columns `first` to `last` (included)."""
    if line.startswith(b'{"type":"step",'):
        return [decode_step(line)]
    event = decode(line)
    if isinstance(event, StepRecord):
        return [event]
    if isinstance(event, StepColumns):
        return _unfolded(event, event.actions, event.rewards, first, last)
    if isinstance(event, EpisodeEnd) and event.actions and event.rewards:
        steps = _unfolded(event, event.actions, event.rewards, first, last)
        if steps and steps[-1].step + 1 == _end(event, event.actions) == event.steps:
            steps[-1].terminated = bool(event.terminated)
            steps[-1].truncated = bool(event.truncated)
        return steps
    raise TypeError(f"a {type(event).__name__} among the steps")


def _end(event: StepColumns | EpisodeEnd, actions: list[Any]) -> int:
    """The number after the last step of the columns."""
    return (event.first or 0) + len(actions)


def _unfolded(
    event: StepColumns | EpisodeEnd,
    actions: list[Any],
    rewards: list[float],
    first: int,
    last: int | None,
) -> list[StepRecord]:
    begin, end = event.first or 0, _end(event, actions)
    return [
        StepRecord(
            agent_id=event.agent_id,
            episode_id=event.episode_id,
            step=step,
            action=actions[step - begin],
            reward=numbers.as_float(rewards[step - begin]),
            terminated=False,
            truncated=False,
        )
        for step in range(max(begin, first), end if last is None else min(end, last + 1))
    ]
