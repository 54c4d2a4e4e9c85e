"""The steps on a stored line: one, or many when they came as columns."""

from mosaic.contract import numbers
from mosaic.contract.decode import decode, decode_step
from mosaic.contract.events import StepColumns, StepRecord


def steps_on_line(line: bytes) -> list[StepRecord]:
    """The step on a stored line, or all of them when they came as columns."""
    if line.startswith(b'{"type":"step",'):
        return [decode_step(line)]
    event = decode(line)
    if isinstance(event, StepRecord):
        return [event]
    if isinstance(event, StepColumns):
        return [
            StepRecord(
                agent_id=event.agent_id,
                episode_id=event.episode_id,
                step=event.first + index,
                action=action,
                reward=numbers.as_float(reward),
                terminated=False,
                truncated=False,
            )
            for index, (action, reward) in enumerate(zip(event.actions, event.rewards, strict=True))
        ]
    raise TypeError(f"a {type(event).__name__} among the steps")
