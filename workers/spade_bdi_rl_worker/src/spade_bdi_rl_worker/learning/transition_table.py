"""The table of transitions that some environments publish as `P`, made ready for fast stepping.

FrozenLake, CliffWalking and Taxi tell in `P[state][action]` what may come of an action: a list of
(probability, next state, reward, whether it is over); and in `initial_state_distrib` where they
begin. Both choose among these with one uniform number each, the same that is drawn here.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.value_copies import NotPlainError, copy_info
from mosaic_worker.scalars import to_number
from spade_bdi_rl_worker.learning.random_stream import RandomStream, is_known

if TYPE_CHECKING:
    from random import Random

_TRIED_EPISODES = 20
_TRIED_STEPS = 60


class Outcome(NamedTuple):
    """What may come of an action."""

    state: int
    reward: float
    terminated: bool
    info: dict[str, Any]


class Cell(NamedTuple):
    """Outcomes of which one is drawn: the first whose threshold is above the number."""

    thresholds: list[float]
    outcomes: list[Outcome]


class TransitionTable:
    """Of one environment. `cells[state * actions + action]` is what may come of the action.

    `sure` has the outcome alone where there is only one, and None elsewhere.
    """

    def __init__(self, unwrapped: Any) -> None:
        """Raises what an unexpected table makes it raise; `read_table` knows what to do then."""
        self.states = int(unwrapped.observation_space.n)
        self.actions = int(unwrapped.action_space.n)
        mask = getattr(unwrapped, "action_mask", None)
        masks = [mask(state).tolist() if mask else None for state in range(self.states)]
        self.cells = [
            _cell(unwrapped.P[state][action], masks)
            for state in range(self.states)
            for action in range(self.actions)
        ]
        self.sure = [cell.outcomes[0] if len(cell.outcomes) == 1 else None for cell in self.cells]
        self.starts = _thresholds(unwrapped.initial_state_distrib)
        self.start_infos = [_info(1, mask) for mask in masks]

    def live_states(self) -> list[int]:
        """Those that can be reached and are not the end: where there is something to learn."""
        chances = [
            after - before
            for after, before in zip(self.starts, [0.0, *self.starts[:-1]], strict=True)
        ]
        waiting = [state for state, chance in enumerate(chances) if chance > 0]
        found = set(waiting)
        while waiting:
            state = waiting.pop()
            for cell in self.cells[state * self.actions : (state + 1) * self.actions]:
                for outcome in cell.outcomes:
                    if not outcome.terminated and outcome.state not in found:
                        found.add(outcome.state)
                        waiting.append(outcome.state)
        return sorted(found)


def read_table(env: Any, chance: Random) -> TransitionTable | None:
    """The table of `env` if it has one and keeps to it; None when it must be stepped itself.

    It is tried against the environment: every observation, reward, flag and info, and the random
    numbers that were used. The environment is left as after some episodes.
    """
    unwrapped = env.unwrapped
    if not isinstance(getattr(unwrapped, "P", None), dict):
        return None
    try:
        table = TransitionTable(unwrapped)
    except (TypeError, ValueError, KeyError, AttributeError, WorkerError, NotPlainError):
        return None
    unwrapped.reset(seed=chance.getrandbits(31))
    if not is_known(unwrapped.np_random):
        return None
    return table if _is_kept_to(table, unwrapped, chance) else None


def _is_kept_to(table: TransitionTable, unwrapped: Any, chance: Random) -> bool:
    generator = unwrapped.np_random
    shadow = type(generator)(type(generator.bit_generator)())
    for _ in range(_TRIED_EPISODES):
        shadow.bit_generator.state = generator.bit_generator.state
        stream = RandomStream(shadow)
        state, info = unwrapped.reset()
        if (
            state != drawn(table.starts, stream.draw())
            or copy_info(info) != table.start_infos[state]
        ):
            return False
        for _ in range(_TRIED_STEPS):
            action = chance.randrange(table.actions)
            cell = table.cells[state * table.actions + action]
            foreseen = cell.outcomes[drawn(cell.thresholds, stream.draw())]
            state, reward, terminated, truncated, info = unwrapped.step(action)
            seen = (state, reward, terminated, copy_info(info))
            if seen != tuple(foreseen) or truncated:
                return False
            if terminated:
                break
        stream.settle()
        if shadow.bit_generator.state != generator.bit_generator.state:
            return False
    return True


def drawn(thresholds: list[float], uniform: float) -> int:
    """The first whose threshold is above the number; the first of all where none is."""
    index = bisect_right(thresholds, uniform)
    return index if index < len(thresholds) else 0


def _cell(listed: Any, masks: list[Any]) -> Cell:
    outcomes = [
        Outcome(
            int(state), to_number("reward", reward), bool(over), _info(chance, masks[int(state)])
        )
        for chance, state, reward, over in listed
    ]
    return Cell(_thresholds([each[0] for each in listed]), outcomes)


def _thresholds(chances: Any) -> list[float]:
    """As the environments add them up."""
    added: list[float] = np.cumsum(np.asarray(chances)).tolist()
    return added


def _info(chance: Any, mask: Any) -> dict[str, Any]:
    """What these environments say beside: how likely it was, and where it makes sense to act."""
    said = {"prob": to_number("prob", chance)}
    return said if mask is None else {**said, "action_mask": mask}
