"""paint: what an environment looks like after a reset, small enough for a card."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.making import make_environment
from mosaic_worker.resimulation.pictures import Picture, draw

if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_SIDE = 320
_SETTLED_AFTER = {"LunarLander": 30, "CarRacing": 60}
"""Steps of doing nothing: the lander begins half outside the picture, the race far above it."""
_MOST_STEPS = 120
_MOST_STEPPING_S = 3.0


def paint(env_id: str, env_kwargs: Mapping[str, Any], seed: int) -> Picture:
    """The picture, or why there is none. `WorkerError` when the environment cannot be made.

    An environment that begins with an empty screen, as many Atari games do, is shown after the
    first steps that put something on it. What it raises otherwise is the caller's.
    """
    env = make_environment(env_id, env_kwargs, render_mode="rgb_array")
    try:
        env.reset(seed=seed)
        _settle(env)
        picture = draw(env)
        if is_blank(picture):
            picture = _after_steps(env, seed) or picture
        return scaled_down(picture)
    finally:
        with contextlib.suppress(Exception):  # it is not needed any more, in whatever state
            env.close()


def is_blank(picture: Picture) -> bool:
    """Whether all pixels are the same; what is no picture is not blank."""
    if picture.pixels is None:
        return False
    pixels = _array(picture, picture.pixels).reshape(-1, picture.channels)
    return bool((pixels == pixels[0]).all())


def scaled_down(picture: Picture) -> Picture:
    """The picture, each of its squares of n x n pixels being one, so that it fits the card."""
    divisor = -(-max(picture.width, picture.height) // LARGEST_SIDE)
    if picture.pixels is None or divisor < 2:
        return picture
    width, height = max(1, picture.width // divisor), max(1, picture.height // divisor)
    rows, columns = min(divisor, picture.height), min(divisor, picture.width)
    cut = _array(picture, picture.pixels)[: height * rows, : width * columns]
    squares = cut.reshape(height, rows, width, columns, picture.channels)
    small = squares.mean(axis=(1, 3)).round().astype("uint8")
    return Picture(width, height, picture.channels, memoryview(small).cast("B"))


def _settle(env: Any) -> None:
    steps = _SETTLED_AFTER.get(type(env.unwrapped).__name__)
    if steps is None:
        return
    idle = env.action_space.sample() * 0  # nothing, whether it takes a number or several
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(idle)
        if terminated or truncated:
            break


def _after_steps(env: Any, seed: int) -> Picture | None:
    """The first picture that is not blank; None when none comes soon."""
    until = time.monotonic() + _MOST_STEPPING_S
    env.action_space.seed(seed)
    # Nothing is lost when a step fails: the empty screen is shown, which is what it has.
    with contextlib.suppress(Exception):
        for _ in range(_MOST_STEPS):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
            picture = draw(env)
            if picture.pixels is not None and not is_blank(picture):
                return picture
            if time.monotonic() > until:
                break
    return None


def _array(picture: Picture, pixels: memoryview) -> Any:
    import numpy as np  # noqa: PLC0415 - of the bundle, and start-up counts

    flat = np.frombuffer(pixels, dtype=np.uint8)
    return flat.reshape(picture.height, picture.width, picture.channels)
