"""EnvTrace: records the resets and steps of one environment.

`instrumentation` calls it for a single environment, `vector` for the sub-environments of a vector
environment that can only be observed from outside.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.episode_log import NO_OBSERVATION, EpisodeLog, LoggedEnd
from mosaic_worker.recording.episode_record_builder import EpisodeRecordBuilder
from mosaic_worker.recording.start_states import start_fields
from mosaic_worker.recording.value_copies import (
    ActionCopier,
    NotPlainError,
    copy_info,
    copy_observation,
    steps_per_line,
)
from mosaic_worker.scalars import to_bool, to_number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.episode_log import Captured, StepDetail
    from mosaic_worker.recording.step_listeners import StepListeners

MAX_BUFFERED_STEPS = 256

_STEP_FIELDS = ("episode_id", "step", "action", "reward", "terminated", "truncated")
_OBSERVED_FIELDS = ("obs", "info", "render")
_NOT_PLAIN = (None, None, None)


class EnvTrace:
    """One environment. All methods but `request_flush` belong to the thread that steps it.

    `step` handles every step. While `is_column_fast_path` or `is_step_fast_path` is true, there are
    no listeners, and `recorded_step` appends to `log` directly.
    """

    def __init__(
        self,
        emitter: Emitter,
        detail: StepDetail,
        listeners: StepListeners,
        environment: Mapping[str, Any],
        *,
        action_space: Any,
        env_index: int | None = None,
        agent_id: str | None = None,
        render_hint: Callable[[], Any] | None = None,
    ) -> None:
        """Emit the `environment` line. `render_hint` returns what a view needs to draw a step.

        `agent_id` names the agent if a run has several.
        """
        self.copy_action = ActionCopier(action_space)
        self.max_buffered_steps = steps_per_line(action_space, MAX_BUFFERED_STEPS)
        """`flush_buffer` is called when `log` holds this many steps."""
        self.log = EpisodeLog()
        self.builder = EpisodeRecordBuilder(
            emitter,
            self.log,
            self.copy_action,
            env_index,
            agent_id,
            has_columns=detail.has_columns,
        )
        self.render_hint = render_hint
        self.listeners = listeners
        self.is_open = False
        self.is_column_fast_path = False
        self.is_step_fast_path = False
        self._emitter = emitter
        self._writer = emitter.writer
        self._detail = detail
        self._environment = environment
        self._env_index = env_index
        self._agent = {} if agent_id is None else {"agent_id": agent_id}
        self._episode = 0
        self._is_full = False
        self._first_step = 0  # of the running episode, in the log; negative if already removed
        self._unused_episode: int | None = None
        self._lasting_reason: str | None = environment.get("not_replayable")
        self._reason = self._lasting_reason
        self._emit_environment()

    def start_episode(
        self,
        seed: int | None,
        captured: Captured,
        options: Any,
        observation: Any,
        info: Any,
        reason: str | None = None,
    ) -> None:
        """Record a reset. `reason` says why this episode cannot be replayed."""
        if reason != self._reason and self._lasting_reason is None:
            self._reason = reason
            self._emit_environment()
        episode = self._unused_episode
        if episode is None:
            episode = next(self._emitter.ordinals)
            self._emitter.episodes = episode + 1
        else:
            self._unused_episode = None
        self._episode = episode
        detail = self._detail
        is_full = detail.is_full_sample() if detail.is_sampled else detail.is_full
        self._is_full = is_full
        observed = self._copy_observed(observation, info) if is_full else NO_OBSERVATION
        log = self.log
        self._first_step = len(log.steps if is_full else log.rewards)
        log.starts.append((episode, is_full, seed, captured, options, observed))
        self.copy_action.dtype = None
        self.is_open = True
        listeners = self.listeners
        if listeners.is_active:
            self.update_fast_path()
            listeners.pop_annotations()  # they belonged to a step of the previous episode
            if listeners.on_episode is not None:
                listeners.on_episode(self._start_fields(seed, captured, options, observation, info))
        else:
            self.is_step_fast_path = is_full
            self.is_column_fast_path = not is_full

    def step(
        self,
        action: Any,
        observation: Any,
        reward: Any,
        terminated: Any,
        truncated: Any,
        info: Any,
    ) -> None:
        """Record a step; `action` is a copy as builtin values."""
        reward = to_number("reward", reward)
        terminated, truncated = to_bool("terminated", terminated), to_bool("truncated", truncated)
        annotations = self.listeners.pop_annotations()
        observed = self._copy_observed(observation, info)
        log, index = self.log, self._steps_so_far()
        if self._is_full:
            written = observed
            if observed is _NOT_PLAIN:
                written = (observation, info or None, self._get_render_hint())
            step = (action, reward, terminated, truncated, *written)
            log.steps.append((*step, annotations) if annotations else step)
        else:
            log.actions.append(action)
            log.rewards.append(reward)
        listener = self.listeners.listener
        if self._is_full and (listener is not None or annotations or observed is _NOT_PLAIN):
            self._writer.flush()  # a listener waits for the line, or the values may change
        elif self._is_full and self._writer.is_idle:
            self._writer.watch_for_stall()
        if listener is not None:
            values = (f"ep{self._episode}", index, action, reward, terminated, truncated)
            fields = {**dict(zip(_STEP_FIELDS, values)), **dict(zip(_OBSERVED_FIELDS, observed))}
            listener({**fields, **self._agent, **annotations})
        if terminated or truncated:
            self._end(terminated, truncated, time.time())
        if len(log.entries(self._is_full)) >= self.max_buffered_steps:
            self.flush_buffer()

    def flush_buffer(self) -> None:
        """Write the buffered steps and remove them from the log."""
        self.request_flush()
        self._writer.flush()
        with self._writer.lock:
            self._first_step -= self.builder.compact(self._is_full)

    def interrupt(self) -> None:
        """End the running episode, because the environment is about to be reset.

        An episode without steps is replaced by the next one.
        """
        if not self.is_open:
            return
        if self._steps_so_far():
            self._end(False, False, time.time())
            return
        with self._writer.lock:
            self._unused_episode = None if self.builder.has_start_line else self._episode
            self._end(False, False, None)

    def detach(self) -> None:
        """Leave the running episode without an end."""
        if self.is_open:
            self._end(False, False, None)

    def _end(self, terminated: bool, truncated: bool, t: float | None) -> None:
        self.is_open = self.is_column_fast_path = self.is_step_fast_path = False
        index = len(self.log.entries(self._is_full))
        self.log.ends.append(LoggedEnd(index, terminated, truncated, t, self.copy_action.dtype))
        if self._is_full and self._writer.is_idle:
            self._writer.watch_for_stall()  # the next step may come much later

    def _steps_so_far(self) -> int:
        return len(self.log.entries(self._is_full)) - self._first_step

    def request_flush(self) -> None:
        """Write the steps of the running episode at the next flush. Thread-safe."""
        self.builder.is_flush_requested = True

    def update_fast_path(self) -> None:
        """Update the fast paths after listeners were added or removed."""
        is_fast = self.is_open and self.listeners.listener is None
        self.is_step_fast_path = is_fast and self._is_full
        self.is_column_fast_path = is_fast and not self._is_full

    def _copy_observed(self, observation: Any, info: Any) -> tuple[Any, Any, Any]:
        """Copies of observation and info, and the render hint; `_NOT_PLAIN` if not copyable."""
        try:
            return copy_observation(observation), copy_info(info), self._get_render_hint()
        except NotPlainError:
            return _NOT_PLAIN

    def _get_render_hint(self) -> Any:
        return None if self.render_hint is None else self.render_hint()

    def _start_fields(
        self, seed: int | None, captured: Captured, options: Any, observation: Any, info: Any
    ) -> dict[str, Any]:
        return {
            "episode_id": f"ep{self._episode}",
            "episode": self._episode,
            "env_index": self._env_index,
            "seed": seed,
            "start": start_fields(captured),
            "options": options,
            **dict(zip(_OBSERVED_FIELDS, self._copy_observed(observation, info))),
            **self._agent,
        }

    def _emit_environment(self) -> None:
        fields = {**self._environment, "not_replayable": self._reason}
        self._emitter.emit("environment", env_index=self._env_index, **fields, **self._agent)
