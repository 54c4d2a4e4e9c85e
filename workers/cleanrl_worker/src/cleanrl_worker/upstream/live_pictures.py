"""Offers pictures of one environment to live views while a script trains in it.

At most 30 a second are drawn, after a step. Drawing changes nothing for the script: only what
`rgb_array` draws is taken, which leaves nothing behind.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.frames import make_contiguous

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker import Emitter, FrameMailbox

NO_PICTURE = "W250"
"""The script's environment draws no picture; training goes on without."""

RENDER_MODE = "rgb_array"
_SECONDS_BETWEEN = 1 / 30


class LivePictures:
    """Pictures of the environment that `watch` was called with."""

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
        self._is_over = False

    def watch(self, env: Any) -> None:
        """Draw after steps of `env`, which is what `gymnasium.make` returned."""
        if getattr(env, "render_mode", None) != RENDER_MODE:
            self.give_up(f"its render_mode is {getattr(env, 'render_mode', None)!r}")
            return
        inner_step = env.step
        clock = self._clock

        def step(action: Any) -> Any:
            result = inner_step(action)
            self._steps += 1
            if clock() >= self._due and not self._is_over:
                self._draw(env)
            return result

        env.step = step

    def give_up(self, problem: str) -> None:
        """Say once why there are no pictures."""
        if not self._is_over:
            self._is_over = True
            self._emitter.log(
                "warning", NO_PICTURE, f"There is no picture of the environment: {problem}."
            )

    def _draw(self, env: Any) -> None:
        try:
            picture = env.render()
            height, width, channels = picture.shape
            self._mailbox.write(
                make_contiguous(picture), width, height, channels, step=self._steps - 1
            )
        except WorkerError as error:
            self.give_up(error.message)
        except Exception as error:  # noqa: BLE001 - an environment's drawing may raise anything
            self.give_up(f"drawing raised {type(error).__name__}: {error}")
        self._due = self._clock() + _SECONDS_BETWEEN
