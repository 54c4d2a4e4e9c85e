"""The episodes of one environment while it is stepped.

Whoever sees the environment's resets and steps calls this: `taps` for a single environment,
`vector` for the sub-environments of one that can only be seen from outside.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.action_copy import ActionCopier, steps_a_line
from mosaic_worker.recording.episode_log import EpisodeLog
from mosaic_worker.recording.feed import EpisodeFeed
from mosaic_worker.recording.plain_copy import NotPlainError, copy_info, copy_observation
from mosaic_worker.recording.starts import start_fields
from mosaic_worker.scalars import flag, number

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.detail import Detail
    from mosaic_worker.recording.episode_log import Captured
    from mosaic_worker.recording.watchers import Watchers

MOST_STEPS_HELD = 256
"""By columns, in the running episode and in those before it together."""

_STEP = ("episode_id", "step", "action", "reward", "terminated", "truncated")
_SEEN = ("obs", "info", "render")
_ODD = (None, None, None)


class Track:
    """One environment. All methods but `want_all` are for the thread that steps it.

    `step` is for every step. While `by_columns` or `by_lines` is true, nobody but the record is
    concerned, and `hot_steps` append to `log` themselves.
    """

    def __init__(
        self,
        emitter: Emitter,
        detail: Detail,
        watchers: Watchers,
        environment: Mapping[str, Any],
        *,
        action_space: Any,
        env_index: int | None = None,
        hint: Callable[[], Any] | None = None,
    ) -> None:
        """Writes the `environment` line. `hint` tells what a view needs to draw a step."""
        self.copy_action = ActionCopier(action_space)
        self._steps_a_flush = steps_a_line(action_space, MOST_STEPS_HELD)
        self.room = self._steps_a_flush
        """How many steps by columns the running episode may have before `relieve` is called."""
        self.feed = EpisodeFeed(emitter, env_index, has_columns=detail.has_columns)
        self.log = EpisodeLog(0, None, None, None, in_full=False)
        """Of the running episode, or of the last one."""
        self.hint = hint
        self.watchers = watchers
        self.is_open = False
        self.by_columns = False
        self.by_lines = False
        self._emitter = emitter
        self._writer = emitter.writer
        self._detail = detail
        self._environment = environment
        self._env_index = env_index
        self._spare_episode: int | None = None
        self._lasting_reason: str | None = environment.get("not_replayable")
        self._reason = self._lasting_reason
        self._say_environment()

    def begin(
        self,
        seed: int | None,
        captured: Captured,
        options: Any,
        observation: Any,
        info: Any,
        reason: str | None = None,
    ) -> None:
        """The environment was reset. `reason` says why this episode cannot be replayed."""
        if reason != self._reason and self._lasting_reason is None:
            self._reason = reason
            self._say_environment()
        episode = self._spare_episode
        if episode is None:
            episode = self._emitter.claim_episode()
        self._spare_episode = None
        in_full = self._detail.next_is_full()
        log = self.log = EpisodeLog(episode, seed, captured, options, in_full)
        if in_full:
            log.seen = self._seen(observation, info)
        self.copy_action.dtype = None
        self.is_open = True
        self.feed.logs.append(log)
        watchers = self.watchers
        if watchers.are_there:
            self.watch()
            watchers.take_notes()  # what was meant for a step of the episode before
            if watchers.on_episode is not None:
                watchers.on_episode(self._beginning(observation, info))
        else:
            self.by_lines = in_full
            self.by_columns = not in_full

    def step(
        self,
        action: Any,
        observation: Any,
        reward: Any,
        terminated: Any,
        truncated: Any,
        info: Any,
    ) -> None:
        """One step; `action` is a copy in plain values. In full, its line is written at once."""
        reward = number("reward", reward)
        terminated, truncated = flag("terminated", terminated), flag("truncated", truncated)
        notes = self.watchers.take_notes()
        seen = self._seen(observation, info)
        log = self.log
        with self._writer.lock:
            index = self.feed.steps_of(log)
        if log.in_full:
            shown = (observation, info or None, self._hint()) if seen is _ODD else seen
            log.steps.append((action, reward, terminated, truncated, *shown, notes))
            self._writer.flush()
        else:
            log.actions.append(action)
            log.rewards.append(reward)
        listener = self.watchers.listener
        if listener is not None:
            step = (f"ep{log.episode}", index, action, reward, terminated, truncated)
            listener({**dict(zip(_STEP, step)), **dict(zip(_SEEN, seen)), **notes})
        if terminated or truncated:
            self.end(terminated, truncated)
        elif not log.in_full and len(log.rewards) >= self.room:
            self.relieve()

    def end(self, terminated: Any, truncated: Any) -> None:
        """The episode is over."""
        self.is_open = self.by_columns = self.by_lines = False
        log = self.log
        log.action_dtype = self.copy_action.dtype
        room = self.room if log.in_full else self.room - len(log.rewards)
        log.ending = (bool(terminated), bool(truncated), time.time())
        if room > 0:
            self.room = room
        else:
            self.relieve()

    def relieve(self) -> None:
        """As many steps are held as may be."""
        self.room = self._steps_a_flush
        self.want_all()
        self._writer.flush()

    def cut(self) -> None:
        """The environment is about to be reset in the middle of an episode.

        One that nothing has happened in yet begins anew.
        """
        log = self.log
        with self._writer.lock:
            has_steps = self.feed.steps_of(log) > 0
            if not has_steps:
                self._spare_episode = None if self.feed.has_announced(log) else log.episode
                log.is_left = True
        if has_steps:
            self.end(False, False)

    def leave(self) -> None:
        """The episode stays without an end."""
        self.is_open = self.by_columns = self.by_lines = False
        self.log.action_dtype = self.copy_action.dtype
        self.log.is_left = True

    def want_all(self) -> None:
        """Have the running episode written at the next flush, as far as it is. From any thread."""
        self.feed.is_all_wanted = True

    def watch(self) -> None:
        """Somebody began or ceased to watch."""
        alone = self.is_open and self.watchers.listener is None
        self.by_lines = alone and self.log.in_full
        self.by_columns = alone and not self.log.in_full

    def _seen(self, observation: Any, info: Any) -> tuple[Any, Any, Any]:
        """Copies of what is seen now, and the hint for drawing it; `_ODD` when they have none."""
        try:
            return copy_observation(observation), copy_info(info), self._hint()
        except NotPlainError:
            return _ODD

    def _hint(self) -> Any:
        return None if self.hint is None else self.hint()

    def _beginning(self, observation: Any, info: Any) -> dict[str, Any]:
        log = self.log
        return {
            "episode_id": f"ep{log.episode}",
            "episode": log.episode,
            "env_index": self._env_index,
            "seed": log.seed,
            "start": start_fields(log.captured),
            "options": log.options,
            **dict(zip(_SEEN, self._seen(observation, info))),
        }

    def _say_environment(self) -> None:
        fields = {**self._environment, "not_replayable": self._reason}
        self._emitter.emit("environment", env_index=self._env_index, **fields)
