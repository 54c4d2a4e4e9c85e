"""ScriptFrames: frames of one environment for live views while a script trains in it.

At most 30 frames a second are rendered, after a step. Only `rgb_array` is used, because it does not
change the environment's state.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.pixel_rows import in_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker import Emitter, FrameMailbox

NO_FRAMES = "W250"
"""The script's environment renders no frames; the training continues without."""

RENDER_MODE = "rgb_array"
_FRAME_INTERVAL_S = 1 / 30


class ScriptFrames:
    """Frames of the environment that `attach` was called with."""

    def __init__(
        self,
        mailbox: FrameMailbox,
        emitter: Emitter,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mailbox = mailbox
        self._emitter = emitter
        self._clock = clock
        self._due = 0.0
        self._steps = 0
        self._has_failed = False

    def attach(self, env: Any) -> None:
        """Render after steps of `env`, the result of `gymnasium.make`."""
        if getattr(env, "render_mode", None) != RENDER_MODE:
            self._give_up(f"its render_mode is {getattr(env, 'render_mode', None)!r}")
            return
        inner_step = env.step
        clock = self._clock

        def step(action: Any) -> Any:
            result = inner_step(action)
            self._steps += 1
            if clock() >= self._due and not self._has_failed:
                self._render(env)
            return result

        env.step = step

    def _give_up(self, problem: str) -> None:
        """Log once why there are no frames."""
        if not self._has_failed:
            self._has_failed = True
            self._emitter.log("warning", NO_FRAMES, f"The environment has no frames: {problem}.")

    def _render(self, env: Any) -> None:
        try:
            frame = env.render()
            height, width, channels = frame.shape
            self._mailbox.write(in_rows(frame), width, height, channels, step=self._steps - 1)
        except WorkerError as error:
            self._give_up(error.message)
        except Exception as error:  # noqa: BLE001 - rendering may raise anything
            self._give_up(f"render() raised {type(error).__name__}: {error}")
        self._due = self._clock() + _FRAME_INTERVAL_S
