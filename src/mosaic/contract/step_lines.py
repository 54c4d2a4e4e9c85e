"""The steps on a stored line: one, or many when they came as columns."""

from typing import Any

from mosaic.contract import numbers
from mosaic.contract.decode import decode, decode_step
from mosaic.contract.events import EpisodeEnd, StepColumns, StepRecord


def steps_on_line(line: bytes) -> list[StepRecord]:
    """The step on a stored line, or all of them when they came as columns."""
    if line.startswith(b'{"type":"step",'):
        return [decode_step(line)]
    event = decode(line)
    if isinstance(event, StepRecord):
        return [event]
    if isinstance(event, StepColumns):
        return _unfolded(event, event.actions, event.rewards)
    if isinstance(event, EpisodeEnd) and event.actions and event.rewards:
        steps = _unfolded(event, event.actions, event.rewards)
        if steps[-1].step == event.steps - 1:
            steps[-1].terminated = bool(event.terminated)
            steps[-1].truncated = bool(event.truncated)
        return steps
    raise TypeError(f"a {type(event).__name__} among the steps")


def _unfolded(
    event: StepColumns | EpisodeEnd, actions: list[Any], rewards: list[float]
) -> list[StepRecord]:
    return [
        StepRecord(
            agent_id=event.agent_id,
            episode_id=event.episode_id,
            step=(event.first or 0) + index,
            action=action,
            reward=numbers.as_float(reward),
            terminated=False,
            truncated=False,
        )
        for index, (action, reward) in enumerate(zip(actions, rewards, strict=True))
    ]
