"""Environments with integer states, as `TableLearner` uses them.

`TabularEnv` is the interface, and `GymEnv` steps the environment itself. `TransitionTableEnv`, in
its own module, simulates environments that publish their transition table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from mosaic_worker.recording.episode_log import ALL, SAMPLED
from spade_bdi_rl_worker.telemetry.episode_writer import PendingAnnotation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.recording.recorder import EpisodeRecorder
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding

    StepResult = tuple[int, float, bool, bool]
    """Next state, reward, terminated, truncated."""


class TabularEnv(Protocol):
    """An environment whose states and actions are indices, and whose episodes are recorded."""

    n_actions: int
    step: Callable[[int], StepResult]

    def reset(self) -> int:
        """Start an episode and return its first state."""

    def flush(self) -> None:
        """Pass the steps so far to the writer, which writes them within 200 ms."""

    def annotate_next_step(self, bdi: Mapping[str, Any]) -> None:
        """Attach BDI fields to the next step, if steps are recorded one by one."""

    def learnable_visits(self, visits: list[int]) -> list[int]:
        """Return the visit counts of state-action pairs that can be learned."""

    def close(self) -> None: ...


class GymEnv:
    """Steps a gymnasium environment, recorded by the SDK's recorder."""

    def __init__(
        self,
        env: Any,
        encoding: StateEncoding,
        seed: int,
        recorder: EpisodeRecorder | None,
        env_index: int | None = None,
    ) -> None:
        self.n_actions = int(env.action_space.n)
        self._env = env
        self._encoding = encoding
        self._recorder = recorder
        self._seed: int | None = seed
        self._annotation = PendingAnnotation()
        if recorder is not None:
            recorder.attach(env, env_index=env_index)
        self.step = self._make_step()

    def reset(self) -> int:
        seed, self._seed = self._seed, None
        # Only the first reset has a seed: the recorder stores the random state of every start.
        observation, _ = self._env.reset() if seed is None else self._env.reset(seed=seed)
        return self._encoding.index(observation)

    def flush(self) -> None:
        """Do nothing: the recorder flushes periodically."""

    def annotate_next_step(self, bdi: Mapping[str, Any]) -> None:
        if self._recorder is not None and self._recorder.detail in (ALL, SAMPLED):
            self._annotation.merge(bdi)

    def learnable_visits(self, visits: list[int]) -> list[int]:
        """Return the counts of visited states: which others are reachable is unknown."""
        size = self.n_actions
        rows = [visits[start : start + size] for start in range(0, len(visits), size)]
        return [count for row in rows if any(row) for count in row]

    def close(self) -> None:
        self._env.close()

    def _make_step(self) -> Callable[[int], StepResult]:
        env, index, first = self._env, self._encoding.index, int(self._env.action_space.start)
        pop_annotation, recorder = self._annotation.pop, self._recorder

        def step(action: int) -> StepResult:
            bdi = pop_annotation()
            if bdi and recorder is not None:
                recorder.annotate(bdi=bdi)
            observation, reward, terminated, truncated, _ = env.step(action + first)
            return index(observation), float(reward), bool(terminated), bool(truncated)

        return step
