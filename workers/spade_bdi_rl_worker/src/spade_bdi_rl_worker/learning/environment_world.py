"""EnvironmentWorld: steps the environment itself, and lets the SDK's recorder listen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.episode_log import ALL, SAMPLED
from spade_bdi_rl_worker.telemetry.pending_note import PendingNote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.recording.recorder import EpisodeRecorder
    from spade_bdi_rl_worker.learning.state_encoding import StateEncoding
    from spade_bdi_rl_worker.learning.world import Stepped


class EnvironmentWorld:
    """For environments without a table of transitions, or whose table is not all there is."""

    def __init__(
        self,
        env: Any,
        encoding: StateEncoding,
        seed: int,
        recorder: EpisodeRecorder | None,
        env_index: int | None = None,
    ) -> None:
        self.actions = int(env.action_space.n)
        self._env = env
        self._encoding = encoding
        self._recorder = recorder
        self._seed: int | None = seed
        self._note = PendingNote()
        if recorder is not None:
            recorder.attach(env, env_index=env_index)
        self.step = self._stepper()

    def begin(self) -> int:
        seed, self._seed = self._seed, None
        # Without a seed after the first: what an episode begins with is recorded all the same.
        observation, _ = self._env.reset() if seed is None else self._env.reset(seed=seed)
        return self._encoding.index(observation)

    def tell(self) -> None:
        """The recorder sees to that by itself."""

    def note(self, bdi: Mapping[str, Any]) -> None:
        if self._recorder is not None and self._recorder.detail in (ALL, SAMPLED):
            self._note.put(bdi)

    def live_pairs(self, tries: list[int]) -> list[int]:
        """Of the states that were met: which ones there are is not known."""
        rows = [tries[at : at + self.actions] for at in range(0, len(tries), self.actions)]
        return [each for row in rows if any(row) for each in row]

    def close(self) -> None:
        self._env.close()

    def _stepper(self) -> Callable[[int], Stepped]:
        env, index, first = self._env, self._encoding.index, int(self._env.action_space.start)
        take_note, recorder = self._note.take, self._recorder

        def step(action: int) -> Stepped:
            bdi = take_note()
            if bdi and recorder is not None:
                recorder.annotate(bdi=bdi)
            observation, reward, terminated, truncated, _ = env.step(action + first)
            return index(observation), float(reward), bool(terminated), bool(truncated)

        return step
