"""Synthetic telemetry: step lines of CartPole, as a worker would write them.

The observations come from the real equations, rounded to the 32-bit floats of gymnasium,
because random digits would compress differently.
"""

import math
import random
import struct
from collections.abc import Iterator
from pathlib import Path

_FORCE, _GRAVITY, _POLE_MASS, _TOTAL_MASS, _HALF_LENGTH, _TICK_S = 10.0, 9.8, 0.1, 1.1, 0.5, 0.02
_PRECISION = 7
STEPS_PER_EPISODE = 500


class CartPole:
    """A CartPole with random actions that never ends: an angle beyond the limit wraps around."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._state = [self._random.uniform(-0.05, 0.05) for _ in range(4)]

    def step(self) -> tuple[int, list[str]]:
        """Return the action and the observation with the digits of 32-bit floats."""
        action = self._random.randrange(2)
        x, speed, angle, turn = self._state
        force = _FORCE if action else -_FORCE
        sine, cosine = math.sin(angle), math.cos(angle)
        pushed = (force + _POLE_MASS * _HALF_LENGTH * turn * turn * sine) / _TOTAL_MASS
        spin = (_GRAVITY * sine - cosine * pushed) / (
            _HALF_LENGTH * (4 / 3 - _POLE_MASS * cosine * cosine / _TOTAL_MASS)
        )
        pull = pushed - _POLE_MASS * _HALF_LENGTH * spin * cosine / _TOTAL_MASS
        self._state = [
            x + _TICK_S * speed,
            speed + _TICK_S * pull,
            math.remainder(angle + _TICK_S * turn, 0.42),
            turn * 0.99 + _TICK_S * spin,
        ]
        return action, [_float32_digits(value) for value in self._state]


def _float32_digits(value: float) -> str:
    (rounded,) = struct.unpack("f", struct.pack("f", value))
    return f"{rounded:.{_PRECISION}g}"


def step_lines(count: int, environments: int = 1, seed: int = 1) -> Iterator[bytes]:
    """Yield `count` step lines of interleaved environments."""
    carts = [CartPole(seed + index) for index in range(environments)]
    for number in range(count):
        index = number % environments
        turn = number // environments
        episode = turn // STEPS_PER_EPISODE * environments + index
        step = turn % STEPS_PER_EPISODE
        action, digits = carts[index].step()
        end = "true" if step == STEPS_PER_EPISODE - 1 else "false"
        yield (
            f'{{"type":"step","episode_id":"e{episode}","step":{step},"action":{action},'
            f'"reward":1.0,"terminated":false,"truncated":{end},"obs":[{",".join(digits)}]}}\n'
        ).encode()


def write_spool(path: Path, count: int, environments: int = 1) -> None:
    """Write a spool of `count` step lines."""
    with path.open("wb") as file:
        file.writelines(step_lines(count, environments))
