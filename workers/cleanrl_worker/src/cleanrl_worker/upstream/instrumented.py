"""Runs a script unmodified with its environments recorded.

    python -m cleanrl_worker.upstream.instrumented SCRIPT [its flags …]

`ScriptRun` starts this instead of the script if a run requests telemetry of steps or frames. The
recorder is attached to every environment that the script makes.
"""

from __future__ import annotations

import os
import runpy
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cleanrl_worker.upstream.telemetry_channel import TelemetryChannel, pop_channel
from mosaic_worker import Emitter, EpisodeRecorder, FrameMailbox
from mosaic_worker.errors import WorkerError
from mosaic_worker.frames import make_contiguous

if TYPE_CHECKING:
    from collections.abc import Callable

NO_FRAMES = "W250"
"""The script's environment cannot be rendered; the training continues without frames."""

NOT_RECORDED = "W251"
"""The environments of the script cannot be recorded, because gymnasium is not installed."""

RENDER_MODE = "rgb_array"
_FRAME_INTERVAL_S = 1 / 30


def main() -> None:
    channel = pop_channel(os.environ)
    script, *arguments = sys.argv[1:]
    # As if Python was started with the script itself.
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(Path(script).resolve().parent)
    recorder = None if channel is None else _install(channel)
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        if recorder is not None:
            recorder.close()


def _install(channel: TelemetryChannel) -> EpisodeRecorder | None:
    emitter = Emitter(fd=channel.fd)
    try:
        import gymnasium  # noqa: PLC0415 - only if it is recorded
        import gymnasium.vector  # noqa: PLC0415
    except ImportError as error:
        emitter.log("warning", NOT_RECORDED, f"Environments cannot be recorded: {error}.")
        return None
    recorder = EpisodeRecorder(emitter, detail=channel.options.steps)
    frames = None
    if channel.options.frames:
        frames = ScriptFrames(FrameMailbox(Path.cwd() / "frames", emitter), emitter)
    EnvInstrumentation(recorder, frames).install(gymnasium)
    return recorder


class EnvInstrumentation:
    """Replaces `gymnasium.make` and related functions; works with gymnasium 0.29 and 1.x.

    Active only in the process that installed it. Environments in forked processes are recorded
    through their vector environment.
    """

    def __init__(self, recorder: EpisodeRecorder, frames: ScriptFrames | None) -> None:
        self._recorder = recorder
        self._frames = frames
        self._indices = count()
        self._pid = os.getpid()

    def install(self, gymnasium: Any) -> None:
        """Replace the functions of the module `gymnasium` that create environments."""
        make = self._wrap_make(gymnasium.make)
        gymnasium.make = gymnasium.envs.registration.make = make
        make_vec = getattr(gymnasium, "make_vec", None)
        if make_vec is not None:
            recording = self._wrap_make_vec(make_vec)
            gymnasium.make_vec = gymnasium.envs.registration.make_vec = recording
        self._record_async_vector(gymnasium.vector.AsyncVectorEnv)

    def _wrap_make(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def recording_make(*args: Any, **kwargs: Any) -> Any:
            if os.getpid() != self._pid:
                return make(*args, **kwargs)
            index = next(self._indices)
            if index or self._frames is None:
                return self._recorder.attach(make(*args, **kwargs), env_index=index)
            env = self._recorder.attach(_make_rendering(make, args, kwargs), env_index=index)
            self._frames.attach(env)
            return env

        return recording_make

    def _wrap_make_vec(self, make_vec: Callable[..., Any]) -> Callable[..., Any]:
        def recording_make_vec(*args: Any, **kwargs: Any) -> Any:
            envs = make_vec(*args, **kwargs)
            return self._recorder.attach_vector(envs) if os.getpid() == self._pid else envs

        return recording_make_vec

    def _record_async_vector(self, vector_class: Any) -> None:
        """Its environments are created in other processes, which this recorder cannot reach."""
        construct = vector_class.__init__

        def recording_construct(envs: Any, *args: Any, **kwargs: Any) -> None:
            construct(envs, *args, **kwargs)
            if os.getpid() == self._pid:
                self._recorder.attach_vector(envs)

        vector_class.__init__ = recording_construct


class ScriptFrames:
    """Frames of one environment for live views while a script trains in it.

    At most 30 frames a second are rendered, after a step. Only `rgb_array` is used, because it does
    not change the environment's state.
    """

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
            self._disable(f"its render_mode is {getattr(env, 'render_mode', None)!r}")
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

    def _disable(self, problem: str) -> None:
        """Stop rendering, and log the reason once."""
        if not self._has_failed:
            self._has_failed = True
            self._emitter.log("warning", NO_FRAMES, f"The environment has no frames: {problem}.")

    def _render(self, env: Any) -> None:
        try:
            frame = env.render()
            height, width, channels = frame.shape
            self._mailbox.write(
                make_contiguous(frame), width, height, channels, step=self._steps - 1
            )
        except WorkerError as error:
            self._disable(error.message)
        except Exception as error:  # noqa: BLE001 - rendering may raise anything
            self._disable(f"render() raised {type(error).__name__}: {error}")
        self._due = self._clock() + _FRAME_INTERVAL_S


def _make_rendering(make: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Make the environment with `rgb_array` frames if possible, else as the script requested."""
    if kwargs.get("render_mode") is not None:
        return make(*args, **kwargs)
    try:
        return make(*args, **{**kwargs, "render_mode": "rgb_array"})
    except Exception:  # noqa: BLE001 - constructors raise anything; the original call follows
        return make(*args, **kwargs)


if __name__ == "__main__":
    main()
