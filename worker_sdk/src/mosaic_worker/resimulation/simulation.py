"""EpisodeSimulation: replays a recorded episode, and can go back to any step.

`Keyframes` are snapshots of the Atari emulator: creating and resetting it takes 400 ms, restoring a
snapshot about 10. Other environments are replayed from the start without rendering.
"""

from __future__ import annotations

import contextlib
import traceback
from typing import TYPE_CHECKING, Any, NamedTuple

from mosaic_worker.compat import make_getattr
from mosaic_worker.environments.factory import make_environment
from mosaic_worker.environments.inspection import steps_per_second
from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.start_states import restore
from mosaic_worker.resimulation.messages import CREATING, RENDERING, RESETTING, STEPPING
from mosaic_worker.resimulation.rendering import (
    RenderAdapter,
    RenderedFrame,
    make_render_adapter,
    render_frame,
)

if TYPE_CHECKING:
    from mosaic_worker.resimulation.episode_record import EpisodeRecord, RecordComparison
    from mosaic_worker.resimulation.messages import PositionFile

_DEFAULT_FPS = 30.0
_REMEDY = "Its telemetry can still be viewed."

KEYFRAME_EVERY_STEPS = 500
_STICKY_ACTION_STEPS = 16
"""Steps of four frames, in each of which an action is applied with a probability of 3/4."""


class EpisodeSimulation:
    """Replays the actions; each step is compared once. Not thread-safe."""

    def __init__(
        self,
        record: EpisodeRecord,
        comparison: RecordComparison,
        position: PositionFile,
        *,
        has_frames: bool,
    ) -> None:
        self._record = record
        self._comparison = comparison
        self._position = position
        self._has_frames = has_frames
        self._env: Any = None
        self._keyframes: Keyframes
        self._adapter: RenderAdapter
        self.steps = 0
        """Number of replayed steps."""
        self._has_ended = False
        self._frame: RenderedFrame | None = None
        """The current frame; None if it was not rendered since the last step."""

    @property
    def fps(self) -> float:
        """The intended frame rate of the environment."""
        return steps_per_second(self._env) or _DEFAULT_FPS

    def open(self) -> None:
        """Create the environment and restore the recorded start.

        Call it again to restart: a new environment has no state of earlier episodes.
        """
        self.close()
        record = self._record
        self._position.write(CREATING, 0)
        self._env = make_environment(
            record.env_id,
            record.env_kwargs,
            render_mode="rgb_array" if self._has_frames else None,
            max_episode_steps=record.max_episode_steps,
        )
        self._position.write(RESETTING, 0)
        try:
            restore(self._env, record.seed, record.start, record.options)
        except WorkerError:
            raise
        except Exception as error:
            raise self._make_error("in reset", error) from error
        self._keyframes = Keyframes(self._env)
        self._adapter = make_render_adapter(self._env)
        self._set_position(0)

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            with contextlib.suppress(Exception):  # its state no longer matters
                env.close()

    def go_back(self, steps: int) -> None:
        """Go to a position before `steps`; call `step_towards` to reach it."""
        restored = self._keyframes.restore(before=steps)
        if restored is None:
            self.open()
        else:
            self._set_position(restored)

    def step_towards(self, index: int) -> bool:
        """Take the next step towards the frame `index`. False if the episode has ended."""
        is_visible = index - self.steps <= self._adapter.frames_before
        if is_visible:
            self.render(self.steps)
        return self.step(is_visible=is_visible)

    def step(self, *, is_visible: bool = False) -> bool:
        """Take the next recorded action. False if the episode has ended."""
        if self._has_ended or self.steps == self._record.steps:
            return False
        number = self.steps
        self._position.write(STEPPING, number)
        self._adapter.before_step(is_visible=is_visible)
        try:
            recorded = self._record.actions[number]
            action = to_action(self._env.action_space, recorded, self._record.action_dtype)
            _, reward, terminated, truncated, _ = self._env.step(action)
            reward, terminated, truncated = float(reward), bool(terminated), bool(truncated)
        except WorkerError as error:
            raise WorkerError(
                f"Step {number} cannot be replayed: {error.message}", remedy=_REMEDY
            ) from error
        except Exception as error:
            raise self._make_error(f"in step {number}", error) from error
        self._comparison.compare(number, reward, terminated, truncated)
        self._set_position(number + 1)
        self._has_ended = terminated or truncated
        self._keyframes.save(self.steps, action)
        return True

    def render(self, index: int) -> RenderedFrame:
        """The frame after `index` steps; call it when `steps` has reached `index`."""
        if index > self.steps:
            return RenderedFrame(problem=f"The replay ended after {self.steps} steps.")
        if self._frame is None:
            self._position.write(RENDERING, index)
            self._adapter.before_frame(index)
            self._frame = render_frame(self._env)
        return self._frame

    def _set_position(self, steps: int) -> None:
        self.steps = steps
        self._has_ended = False
        self._frame = None

    def _make_error(self, when: str, error: Exception) -> WorkerError:
        traceback.print_exc()
        return WorkerError(
            f"The environment {self._record.env_id} failed {when}: {type(error).__name__}: {error}",
            remedy=_REMEDY,
        )


class _Keyframe(NamedTuple):
    emulator: Any
    action: Any
    """The last action: sticky actions may repeat it, and the emulator state lacks it."""
    random_state: Any
    elapsed: list[tuple[Any, int]]
    """The step count of each time limit wrapper."""


class Keyframes:
    """Snapshots of an Atari environment by number of steps; empty for other environments."""

    def __init__(self, env: Any) -> None:
        self._env = env
        self._unwrapped = env.unwrapped
        self._emulator: Any = getattr(self._unwrapped, "ale", None)
        self._by_steps: dict[int, _Keyframe] = {}

    def save(self, steps: int, action: Any) -> None:
        """Call it after each step; saves a snapshot every 500 steps."""
        if self._emulator is None or steps % KEYFRAME_EVERY_STEPS or steps in self._by_steps:
            return
        generator = self._unwrapped.np_random.bit_generator
        self._by_steps[steps] = _Keyframe(
            self._emulator.cloneState(include_rng=True),
            action,
            generator.state,
            [(layer, vars(layer)["_elapsed_steps"]) for layer in _time_limits(self._env)],
        )

    def restore(self, before: int) -> int | None:
        """Restore the newest snapshot before `before` steps; returns its number of steps.

        Not one at exactly that number: a restored emulator updates its screen with the next step.
        """
        earlier = [steps for steps in self._by_steps if steps < before]
        if not earlier:
            return None
        steps = max(earlier)
        keyframe = self._by_steps[steps]
        self._emulator.restoreState(keyframe.emulator)
        for _ in range(_STICKY_ACTION_STEPS):
            self._unwrapped.step(keyframe.action)
        self._emulator.restoreState(keyframe.emulator)
        self._unwrapped.np_random.bit_generator.state = keyframe.random_state
        for layer, elapsed in keyframe.elapsed:
            layer._elapsed_steps = elapsed  # noqa: SLF001 - private
        return steps


def _time_limits(env: Any) -> list[Any]:
    limits = []
    while env is not None:
        if "_elapsed_steps" in vars(env):
            limits.append(env)
        env = vars(env).get("env")
    return limits


if not TYPE_CHECKING:
    __getattr__ = make_getattr(__name__)
