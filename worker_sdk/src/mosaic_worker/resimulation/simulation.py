"""Simulation: the recorded episode in an environment of its own, at any step of it."""

from __future__ import annotations

import contextlib
import traceback
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.making import make_environment
from mosaic_worker.environments.pace import steps_per_second
from mosaic_worker.environments.spaces import to_action
from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.starts import restore
from mosaic_worker.resimulation.drawing import Drawing, drawing_of
from mosaic_worker.resimulation.keyframes import Keyframes
from mosaic_worker.resimulation.pictures import Picture, draw
from mosaic_worker.resimulation.position import DRAWING, MAKING, STARTING, STEPPING

if TYPE_CHECKING:
    from mosaic_worker.resimulation.comparison import Comparison
    from mosaic_worker.resimulation.episode_record import EpisodeRecord
    from mosaic_worker.resimulation.position import Position

_DEFAULT_FPS = 30.0
_REMEDY = "Its telemetry can still be looked at."


class Simulation:
    """Every step is compared with the record when it is first made. For one thread."""

    def __init__(
        self, record: EpisodeRecord, comparison: Comparison, position: Position, *, draws: bool
    ) -> None:
        self._record = record
        self._comparison = comparison
        self._position = position
        self._draws = draws
        self._env: Any = None
        self._keyframes: Keyframes
        self._drawing: Drawing
        self.steps = 0
        """How many steps of the episode have been made."""
        self._has_ended = False
        self._drawn: Picture | None = None
        """The environment as it stands; None when it was not drawn since its last step."""

    @property
    def fps(self) -> float:
        """How fast the environment is meant to be seen."""
        return steps_per_second(self._env) or _DEFAULT_FPS

    def open(self) -> None:
        """Makes the environment and brings it to the recorded start.

        Also to begin again: a new environment comes out as the first one did, whatever its family
        keeps from one episode to the next.
        """
        self.close()
        record = self._record
        self._position.note(MAKING, 0)
        self._env = make_environment(
            record.env_id,
            record.env_kwargs,
            render_mode="rgb_array" if self._draws else None,
            max_episode_steps=record.max_episode_steps,
        )
        self._position.note(STARTING, 0)
        try:
            restore(self._env, record.seed, record.start, record.options)
        except WorkerError:
            raise
        except Exception as error:
            raise self._raised("when it was reset", error) from error
        self._keyframes = Keyframes(self._env)
        self._drawing = drawing_of(self._env)
        self._stand_at(0)

    def close(self) -> None:
        env, self._env = self._env, None
        if env is not None:
            with contextlib.suppress(Exception):  # it is not needed any more, in whatever state
                env.close()

    def go_back(self, steps: int) -> None:
        """To some point before so many steps; `step_towards` leads there."""
        kept = self._keyframes.restore(before=steps)
        if kept is None:
            self.open()
        else:
            self._stand_at(kept)

    def step_towards(self, index: int) -> bool:
        """The next step on the way to a picture after `index` steps. False: the episode is over."""
        is_seen = index - self.steps <= self._drawing.pictures_before
        if is_seen:
            self.picture(self.steps)
        return self.step(is_seen=is_seen)

    def step(self, *, is_seen: bool = False) -> bool:
        """The next recorded action. False: the episode is over."""
        if self._has_ended or self.steps == self._record.steps:
            return False
        number = self.steps
        self._position.note(STEPPING, number)
        self._drawing.before_step(is_seen=is_seen)
        try:
            recorded = self._record.actions[number]
            action = to_action(self._env.action_space, recorded, self._record.action_dtype)
            _, reward, terminated, truncated, _ = self._env.step(action)
            reward, terminated, truncated = float(reward), bool(terminated), bool(truncated)
        except WorkerError as error:
            raise WorkerError(
                f"Step {number} cannot be taken again: {error.message}", remedy=_REMEDY
            ) from error
        except Exception as error:
            raise self._raised(f"in step {number}", error) from error
        self._comparison.compare(number, reward, terminated, truncated)
        self._stand_at(number + 1)
        self._has_ended = terminated or truncated
        self._keyframes.keep(self.steps, action)
        return True

    def picture(self, index: int) -> Picture:
        """What is seen after `index` steps, which have been made; unless it ended before."""
        if index > self.steps:
            return Picture(problem=f"The replay ended after {self.steps} steps.")
        if self._drawn is None:
            self._position.note(DRAWING, index)
            self._drawing.before_picture(index)
            self._drawn = draw(self._env)
        return self._drawn

    def _stand_at(self, steps: int) -> None:
        self.steps = steps
        self._has_ended = False
        self._drawn = None

    def _raised(self, when: str, error: Exception) -> WorkerError:
        traceback.print_exc()
        return WorkerError(
            f"The environment {self._record.env_id} failed {when}: {type(error).__name__}: {error}",
            remedy=_REMEDY,
        )
