"""EpisodeTrack: tells of episodes that are stepped by table, exactly as if they were recorded.

The SDK's recorder listens at an environment. Here there is none to listen at: `TableWorld` hands
over whole episodes, and the SDK's own track makes the same lines of them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.inspection import find_made_env
from mosaic_worker.recording.env_metadata import describe_environment
from mosaic_worker.recording.env_trace import EnvTrace
from mosaic_worker.recording.episode_log import ALL, SAMPLED, StepDetail
from mosaic_worker.recording.recorder import PeriodicFlusher
from mosaic_worker.recording.step_listeners import StepListeners
from spade_bdi_rl_worker.telemetry.pending_note import PendingNote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.emitter import Emitter
    from spade_bdi_rl_worker.learning.transition_table import Outcome

_STEPS_A_WRITE = 1024


class EpisodeTrack:
    """The episodes of one environment, from one thread."""

    def __init__(
        self,
        emitter: Emitter,
        detail: str,
        env: Any,
        env_index: int | None = None,
        agent_id: str | None = None,
    ) -> None:
        """Writes the `environment` line. `detail` is all, sampled, columns or off.

        `agent_id` says whose episodes they are, where there are several agents.
        """
        made = find_made_env(env)
        self._emitter = emitter
        self._note = PendingNote()
        self._has_lines = detail in (ALL, SAMPLED)
        self._track = EnvTrace(
            emitter,
            StepDetail(detail),
            StepListeners(),
            describe_environment(made),
            action_space=made.action_space,
            env_index=env_index,
            agent_id=agent_id,
        )
        writer = emitter.writer
        with writer.lock:
            writer.sources.append(self._track.builder.drain)
        self._flusher = PeriodicFlusher(self.flush)
        self._flusher.start()

    def begin(self, captured: bytes, state: int, info: dict[str, Any]) -> None:
        """`captured` is the state of the random numbers before the reset."""
        self._track.interrupt()  # an episode that was left in the middle
        self._track.start_episode(None, captured, None, state, info)

    def add(
        self, actions: list[int], outcomes: list[Outcome], *, truncated: bool, is_over: bool
    ) -> None:
        """Steps of the running episode; all but the last led on. The lists may be reused."""
        track, log = self._track, self._track.log
        in_full = track.is_step_fast_path
        if in_full:
            steps = [
                (action, reward, over, False, state, info, None)
                for action, (state, reward, over, info) in zip(actions, outcomes, strict=True)
            ]
            if truncated:
                steps[-1] = (*steps[-1][:3], True, *steps[-1][4:])
            bdi = self._note.take()
            if bdi:
                log.steps.append((*steps.pop(0), {"bdi": bdi}))
                self._emitter.writer.flush()  # the track wants a noted step to be written at once
            log.steps += steps
        else:
            log.actions += actions
            log.rewards += [outcome[1] for outcome in outcomes]
        held = len(log.steps) if in_full else len(log.rewards)
        if is_over:
            track.is_open = track.is_column_fast_path = track.is_step_fast_path = False
            log.ends.append((held, outcomes[-1].terminated, truncated, time.time(), None))
        if held >= _STEPS_A_WRITE:
            track.flush_buffer()

    def note(self, bdi: Mapping[str, Any]) -> None:
        """Onto the next step that has a line of its own. From any thread."""
        if self._has_lines:
            self._note.put(bdi)

    def flush(self) -> None:
        """Write what the running episode holds back. From any thread."""
        self._track.request_flush()
        self._emitter.flush()

    def close(self) -> None:
        """The running episode stays without an end."""
        self._flusher.stop()
        self._track.detach()
        writer = self._emitter.writer
        writer.flush()
        with writer.lock:
            writer.sources.remove(self._track.builder.drain)
