"""render_thumbnail: a small image of an environment after a reset."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.resimulation.rendering import RenderedFrame, render_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_SIDE = 320
_IDLE_STEPS = {"LunarLander": 30, "CarRacing": 60}
"""Idle steps before rendering: the lander starts partly outside the frame, the race zoomed out."""
_MAX_STEPS = 120
_MAX_STEPPING_S = 3.0


def render_thumbnail(env_id: str, env_kwargs: Mapping[str, Any], seed: int) -> RenderedFrame:
    """Render the environment, or return the problem. Raises `WorkerError` if it cannot be created.

    An environment that starts with a blank screen, like many Atari games, is stepped until it shows
    something. Other exceptions of the environment are passed on.
    """
    env = make_environment(env_id, env_kwargs, render_mode="rgb_array")
    try:
        env.reset(seed=seed)
        _run_idle_steps(env)
        frame = render_frame(env)
        if is_blank(frame):
            frame = _step_until_visible(env, seed) or frame
        return scale_down(frame)
    finally:
        with contextlib.suppress(Exception):  # its state does not matter any more
            env.close()


def is_blank(frame: RenderedFrame) -> bool:
    """Whether all pixels are equal; False if there is no image."""
    if frame.pixels is None:
        return False
    pixels = _to_array(frame, frame.pixels).reshape(-1, frame.channels)
    return bool((pixels == pixels[0]).all())


def scale_down(frame: RenderedFrame) -> RenderedFrame:
    """The frame, reduced by averaging squares of n x n pixels."""
    divisor = -(-max(frame.width, frame.height) // MAX_SIDE)
    if frame.pixels is None or divisor < 2:
        return frame
    width, height = max(1, frame.width // divisor), max(1, frame.height // divisor)
    rows, columns = min(divisor, frame.height), min(divisor, frame.width)
    cropped = _to_array(frame, frame.pixels)[: height * rows, : width * columns]
    squares = cropped.reshape(height, rows, width, columns, frame.channels)
    small = squares.mean(axis=(1, 3)).round().astype("uint8")
    return RenderedFrame(width, height, frame.channels, memoryview(small).cast("B"))


def _run_idle_steps(env: Any) -> None:
    steps = _IDLE_STEPS.get(type(env.unwrapped).__name__)
    if steps is None:
        return
    idle = env.action_space.sample() * 0  # zero, for scalar and array actions
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(idle)
        if terminated or truncated:
            break


def _step_until_visible(env: Any, seed: int) -> RenderedFrame | None:
    """Step until the frame is not blank; None if that takes too long."""
    deadline = time.monotonic() + _MAX_STEPPING_S
    env.action_space.seed(seed)
    # If a step fails, the blank frame is used.
    with contextlib.suppress(Exception):
        for _ in range(_MAX_STEPS):
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()
            frame = render_frame(env)
            if frame.pixels is not None and not is_blank(frame):
                return frame
            if time.monotonic() > deadline:
                break
    return None


def _to_array(frame: RenderedFrame, pixels: memoryview) -> Any:
    import numpy as np  # noqa: PLC0415 - optional, and start-up counts

    flat = np.frombuffer(pixels, dtype=np.uint8)
    return flat.reshape(frame.height, frame.width, frame.channels)
