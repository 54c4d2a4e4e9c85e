"""The environment of a session: how it is made, what it is like, and what its failures mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from mosaic_worker.environments.making import make_environment
from mosaic_worker.environments.pace import steps_per_second
from mosaic_worker.errors import WorkerError
from mosaic_worker.play.actor import print_cause
from mosaic_worker.play.pacing import DEFAULT_TICK_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.recording.recorder import EpisodeRecorder

Wrap = Callable[[Any], Any]
"""Puts wrappers around an environment. Actions must stay what they are."""

_TURN_BASED_MODULES = ("gymnasium.envs.toy_text", "minigrid")


class Host:
    """One environment. `record` is called before the first reset.

    Whatever the environment raises becomes a `WorkerError` that says where; its traceback goes
    along. An environment that hangs or crashes takes its process with it, and nothing else.
    """

    def __init__(
        self,
        env_id: str,
        env_kwargs: Mapping[str, Any],
        *,
        draws: bool,
        wrap: Wrap | None = None,
    ) -> None:
        """WorkerError says why it cannot be made."""
        self.env_id = env_id
        self._made = make_environment(
            env_id, dict(env_kwargs), render_mode="rgb_array" if draws else None
        )
        self.env = self._made if wrap is None else wrap(self._made)
        self.render = self._made.render if draws else None

    @property
    def action_space(self) -> Any:
        """Of the environment itself: what is recorded, and what a person's actions fit."""
        return self._made.action_space

    @property
    def tick_s(self) -> float:
        """The time between steps at which the environment is meant to be watched."""
        fps = steps_per_second(self._made)
        return 1 / fps if fps else DEFAULT_TICK_S

    @property
    def is_turn_based(self) -> bool:
        """Whether nothing happens in it before somebody moves, as on a board."""
        homes = [base.__module__ for base in type(self._made.unwrapped).__mro__]
        return any(home.startswith(_TURN_BASED_MODULES) for home in homes)

    def record(self, recorder: EpisodeRecorder) -> None:
        recorder.attach(self._made)

    def reset(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        """Begins an episode."""
        try:
            observation, info = self.env.reset(seed=seed)
        except WorkerError:
            raise
        except Exception as error:
            raise self._failure("reset", error) from error
        return observation, info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except WorkerError:
            raise
        except Exception as error:
            raise self._failure("step", error) from error
        return observation, reward, terminated, truncated, info

    def close(self) -> None:
        """What an environment raises now spoils nothing that was played."""
        try:
            self.env.close()
        except Exception as error:  # noqa: BLE001 - somebody else's code, which may raise anything
            print_cause(error)

    def _failure(self, where: str, error: Exception) -> WorkerError:
        return WorkerError(
            f"The environment {self.env_id} failed in {where}: {type(error).__name__}: {error}",
            remedy="Correct the environment or its settings; the traceback is in the run's log.",
        )
