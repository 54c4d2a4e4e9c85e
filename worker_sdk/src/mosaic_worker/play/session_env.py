"""SessionEnv: the environment of a play session, with its exceptions as WorkerErrors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.environments.factory import make_environment
from mosaic_worker.environments.inspection import steps_per_second
from mosaic_worker.errors import WorkerError
from mosaic_worker.play.actor import print_traceback
from mosaic_worker.play.pacing import DEFAULT_TICK_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.recording.recorder import EpisodeRecorder

Wrap = Callable[[Any], Any]
"""Wraps an environment. The action space must not change."""

_TURN_BASED_MODULES = ("gymnasium.envs.toy_text", "minigrid")


class SessionEnv:
    """One environment. Call `record` before the first reset.

    An exception of the environment becomes a `WorkerError` with the original as its cause.
    """

    def __init__(
        self,
        env_id: str,
        env_kwargs: Mapping[str, Any],
        *,
        has_frames: bool,
        wrap: Wrap | None = None,
    ) -> None:
        """Create the environment. Raises WorkerError."""
        self.env_id = env_id
        self._base_env = make_environment(
            env_id, dict(env_kwargs), render_mode="rgb_array" if has_frames else None
        )
        self.env = self._base_env if wrap is None else wrap(self._base_env)
        self.render = self._base_env.render if has_frames else None

    @property
    def action_space(self) -> Any:
        """The action space of the unwrapped environment, for recorded and human actions."""
        return self._base_env.action_space

    @property
    def tick_s(self) -> float:
        """The intended time between steps."""
        fps = steps_per_second(self._base_env)
        return 1 / fps if fps else DEFAULT_TICK_S

    @property
    def is_turn_based(self) -> bool:
        """Whether the environment only changes when an action is sent, as in a board game."""
        modules = [base.__module__ for base in type(self._base_env.unwrapped).__mro__]
        return any(module.startswith(_TURN_BASED_MODULES) for module in modules)

    def record(self, recorder: EpisodeRecorder) -> None:
        recorder.attach(self._base_env)

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        try:
            observation, info = self.env.reset(seed=seed)
        except WorkerError:
            raise
        except Exception as error:
            raise self._make_error("reset", error) from error
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except WorkerError:
            raise
        except Exception as error:
            raise self._make_error("step", error) from error
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """Close the environment; an exception is only printed."""
        try:
            self.env.close()
        except Exception as error:  # noqa: BLE001 - third-party code may raise anything
            print_traceback(error)

    def _make_error(self, method: str, error: Exception) -> WorkerError:
        return WorkerError(
            f"The environment {self.env_id} failed in {method}: {type(error).__name__}: {error}",
            remedy="Correct the environment or its settings; the traceback is in the run's log.",
        )
