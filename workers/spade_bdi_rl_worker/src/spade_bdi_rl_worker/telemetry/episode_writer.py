"""EpisodeWriter: records episodes that are simulated from a transition table.

The SDK's recorder instruments an environment, but here the environment is never stepped:
`TransitionTableEnv` passes its steps to this writer, and the SDK's `EnvTrace` writes the same
events.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.inspection import find_made_env
from mosaic_worker.recording.env_metadata import describe_environment
from mosaic_worker.recording.env_trace import EnvTrace
from mosaic_worker.recording.episode_log import ALL, SAMPLED, StepDetail
from mosaic_worker.recording.recorder import PeriodicFlusher
from mosaic_worker.recording.step_listeners import StepListeners

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mosaic_worker.emitter import Emitter
    from spade_bdi_rl_worker.learning.transition_table import Transition

_STEPS_PER_WRITE = 1024


class EpisodeWriter:
    """The episodes of one environment, from one thread."""

    def __init__(
        self,
        emitter: Emitter,
        detail: str,
        env: Any,
        env_index: int | None = None,
        agent_id: str | None = None,
    ) -> None:
        """Write the `environment` event. `detail` is all, sampled, columns or off.

        `agent_id` is the episodes' agent, if there are several.
        """
        base_env = find_made_env(env)
        self._emitter = emitter
        self._annotation = PendingAnnotation()
        self._has_step_events = detail in (ALL, SAMPLED)
        self._trace = EnvTrace(
            emitter,
            StepDetail(detail),
            StepListeners(),
            describe_environment(base_env),
            action_space=base_env.action_space,
            env_index=env_index,
            agent_id=agent_id,
        )
        writer = emitter.writer
        with writer.lock:
            writer.sources.append(self._trace.builder.drain)
        self._flusher = PeriodicFlusher(self.flush)
        self._flusher.start()

    def start_episode(self, random_state: bytes, state: int, info: dict[str, Any]) -> None:
        """Start an episode; `random_state` is that of the generator before the reset."""
        self._trace.interrupt()  # ends an unfinished episode
        self._trace.start_episode(None, random_state, None, state, info)

    def add_steps(
        self,
        actions: list[int],
        transitions: list[Transition],
        *,
        truncated: bool,
        is_finished: bool,
    ) -> None:
        """Add steps of the open episode; only the last one may end it. Copies the lists."""
        trace, log = self._trace, self._trace.log
        has_lines = trace.is_step_fast_path
        if has_lines:
            steps = [
                (action, reward, terminated, False, state, info, None)
                for action, (state, reward, terminated, info) in zip(
                    actions, transitions, strict=True
                )
            ]
            if truncated:
                steps[-1] = (*steps[-1][:3], True, *steps[-1][4:])
            bdi = self._annotation.pop()
            if bdi:
                log.steps.append((*steps.pop(0), {"bdi": bdi}))
                self._emitter.writer.flush()  # annotated steps are written immediately
            log.steps += steps
        else:
            log.actions += actions
            log.rewards += [transition.reward for transition in transitions]
        pending = len(log.steps) if has_lines else len(log.rewards)
        if is_finished:
            trace.is_open = trace.is_column_fast_path = trace.is_step_fast_path = False
            log.ends.append((pending, transitions[-1].terminated, truncated, time.time(), None))
        if pending >= _STEPS_PER_WRITE:
            trace.flush_buffer()

    def annotate_next_step(self, bdi: Mapping[str, Any]) -> None:
        """Attach BDI fields to the next step that is recorded as an event. Thread-safe."""
        if self._has_step_events:
            self._annotation.merge(bdi)

    def flush(self) -> None:
        """Write the pending steps of the open episode. Thread-safe."""
        self._trace.request_flush()
        self._emitter.flush()

    def close(self) -> None:
        """Write pending steps; an open episode stays without an end."""
        self._flusher.stop()
        self._trace.detach()
        writer = self._emitter.writer
        writer.flush()
        with writer.lock:
            writer.sources.remove(self._trace.builder.drain)


class PendingAnnotation:
    """BDI fields for the next step event: set by the agent's thread, read by the learner's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: dict[str, Any] = {}

    def merge(self, bdi: Mapping[str, Any]) -> None:
        """Merge an update: beliefs accumulate, and newer values replace all other fields."""
        with self._lock:
            pending = self._pending
            beliefs = {
                name: [*pending.get(name, ()), *bdi.get(name, ())] for name in ("added", "removed")
            }
            changed = {name: texts for name, texts in beliefs.items() if texts}
            self._pending = {**pending, **bdi, **changed}

    def pop(self) -> dict[str, Any]:
        """Return and clear the pending fields. Cheap if there are none."""
        if not self._pending:
            return {}
        with self._lock:
            pending, self._pending = self._pending, {}
        return pending
