"""`python -m mosaic_worker.thumbnails`, started by the trainer daemon: renders environments.

Reads one request per line from stdin (`{"request": 1, "env_id": …, "env_kwargs": {…}, "seed": 0}`)
and answers each in order with a `frame`, a small image after a reset, or an `error`. Ends with the
daemon.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.errors import WorkerError
from mosaic_worker.resimulation.messages import MessageWriter
from mosaic_worker.resimulation.rendering import RenderedFrame, render_frame
from mosaic_worker.resimulation.requests import die_with_parent, read_json_lines
from mosaic_worker.standard_streams import claim_stdin, claim_stdout

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_MESSAGE_CHARS = 2000
MAX_SIDE = 320
_IDLE_STEPS = {"LunarLander": 30, "CarRacing": 60}
"""Idle steps before rendering: the lander starts partly outside the frame, the race zoomed out."""
_MAX_STEPS = 120
_MAX_STEPPING_S = 3.0


class RenderRequest(NamedTuple):
    """One environment to create, reset and render."""

    number: int
    env_id: str
    env_kwargs: dict[str, Any]
    seed: int


def main() -> int:
    """Answer requests until the daemon is gone; returns the exit code 0."""
    die_with_parent()
    messages = MessageWriter(claim_stdout())
    stdin = claim_stdin()
    if stdin is None:
        return 0
    requests: queue.Queue[RenderRequest] = queue.Queue()
    # In a thread, so that the end of stdin is noticed while an environment hangs.
    arguments = (stdin, lambda fields: requests.put(_parse_request(fields)))
    threading.Thread(target=read_json_lines, args=arguments, name="requests", daemon=True).start()
    try:
        while True:
            _answer(requests.get(), messages)
    except BrokenPipeError:
        return 0


def _parse_request(fields: Any) -> RenderRequest:
    return RenderRequest(
        fields["request"], fields["env_id"], dict(fields["env_kwargs"]), fields["seed"]
    )


def _answer(request: RenderRequest, messages: MessageWriter) -> None:
    try:
        frame = render_thumbnail(request.env_id, request.env_kwargs, request.seed)
    except WorkerError as error:
        messages.error(_shorten(error.message), _shorten(error.remedy))
    except Exception as error:  # noqa: BLE001 - third-party code may raise anything
        traceback.print_exc()
        messages.error(
            _shorten(f"{request.env_id} failed: {type(error).__name__}: {error}"),
            "Correct the environment or its settings; the traceback is in the daemon's log.",
        )
    else:
        messages.frame(request.number, 0, frame)


def _shorten(text: str) -> str:
    """Messages of an environment may be long, and contain lone surrogates."""
    return text[:_MAX_MESSAGE_CHARS].encode("utf-8", "replace").decode("utf-8")


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
        with contextlib.suppress(Exception):  # its state no longer matters
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
    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    flat = np.frombuffer(pixels, dtype=np.uint8)
    return flat.reshape(frame.height, frame.width, frame.channels)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # skip clean-up of the environment, which may hang
