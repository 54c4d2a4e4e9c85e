"""The episodes of one environment while it is stepped.

Whoever sees the environment's resets and steps calls this: `taps` for a single environment,
`vector` for the sub-environments of one that can only be seen from outside.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.action_copy import ActionCopier, steps_a_line
from mosaic_worker.recording.episode_log import NOTHING_SEEN, Ending, EpisodeLog
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
        agent_id: str | None = None,
        hint: Callable[[], Any] | None = None,
    ) -> None:
        """Writes the `environment` line. `hint` tells what a view needs to draw a step.

        `agent_id` says who steps it, where a run has several agents.
        """
        self.copy_action = ActionCopier(action_space)
        self.most_steps = steps_a_line(action_space, MOST_STEPS_HELD)
        """After so many steps in `log`, `relieve` is called."""
        self.log = EpisodeLog()
        self.feed = EpisodeFeed(
            emitter,
            self.log,
            self.copy_action,
            env_index,
            agent_id,
            has_columns=detail.has_columns,
        )
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
        self._agent = {} if agent_id is None else {"agent_id": agent_id}
        self._episode = 0
        self._in_full = False
        self._first_step = 0  # of the running episode, in the log; below 0 when it is gone already
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
            episode = next(self._emitter.ordinals)
            self._emitter.episodes = episode + 1
        else:
            self._spare_episode = None
        self._episode = episode
        detail = self._detail
        in_full = detail.is_full_sample() if detail.is_sampled else detail.is_full
        self._in_full = in_full
        seen = self._seen(observation, info) if in_full else NOTHING_SEEN
        log = self.log
        self._first_step = len(log.steps if in_full else log.rewards)
        log.beginnings.append((episode, in_full, seed, captured, options, seen))
        self.copy_action.dtype = None
        self.is_open = True
        watchers = self.watchers
        if watchers.are_there:
            self.watch()
            watchers.take_notes()  # what was meant for a step of the episode before
            if watchers.on_episode is not None:
                watchers.on_episode(self._beginning(seed, captured, options, observation, info))
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
        """One step; `action` is a copy in plain values."""
        reward = number("reward", reward)
        terminated, truncated = flag("terminated", terminated), flag("truncated", truncated)
        notes = self.watchers.take_notes()
        seen = self._seen(observation, info)
        log, index = self.log, self._steps_so_far()
        if self._in_full:
            shown = (observation, info or None, self._hint()) if seen is _ODD else seen
            step = (action, reward, terminated, truncated, *shown)
            log.steps.append((*step, notes) if notes else step)
        else:
            log.actions.append(action)
            log.rewards.append(reward)
        listener = self.watchers.listener
        if self._in_full and (listener is not None or notes or seen is _ODD):
            self._writer.flush()  # somebody waits for the line, or may change what it says
        elif self._in_full and self._writer.is_resting:
            self._writer.watch_for_stall()
        if listener is not None:
            told = (f"ep{self._episode}", index, action, reward, terminated, truncated)
            fields = {**dict(zip(_STEP, told)), **dict(zip(_SEEN, seen))}
            listener({**fields, **self._agent, **notes})
        if terminated or truncated:
            self._end(terminated, truncated, time.time())
        if len(log.entries(self._in_full)) >= self.most_steps:
            self.relieve()

    def relieve(self) -> None:
        """As many steps are held as may be: write them."""
        self.want_all()
        self._writer.flush()
        with self._writer.lock:
            self._first_step -= self.feed.compact(self._in_full)

    def cut(self) -> None:
        """The environment is about to be reset in the middle of an episode.

        One that nothing has happened in yet begins anew.
        """
        if not self.is_open:
            return
        if self._steps_so_far():
            self._end(False, False, time.time())
            return
        with self._writer.lock:
            self._spare_episode = None if self.feed.is_announced else self._episode
            self._end(False, False, None)

    def leave(self) -> None:
        """The episode stays without an end."""
        if self.is_open:
            self._end(False, False, None)

    def _end(self, terminated: bool, truncated: bool, t: float | None) -> None:
        self.is_open = self.by_columns = self.by_lines = False
        index = len(self.log.entries(self._in_full))
        self.log.endings.append(Ending(index, terminated, truncated, t, self.copy_action.dtype))
        if self._in_full and self._writer.is_resting:
            self._writer.watch_for_stall()  # whoever stepped may do something else for long now

    def _steps_so_far(self) -> int:
        return len(self.log.entries(self._in_full)) - self._first_step

    def want_all(self) -> None:
        """Have the running episode written at the next flush, as far as it is. From any thread."""
        self.feed.is_all_wanted = True

    def watch(self) -> None:
        """Somebody began or ceased to watch."""
        alone = self.is_open and self.watchers.listener is None
        self.by_lines = alone and self._in_full
        self.by_columns = alone and not self._in_full

    def _seen(self, observation: Any, info: Any) -> tuple[Any, Any, Any]:
        """Copies of what is seen now, and the hint for drawing it; `_ODD` when they have none."""
        try:
            return copy_observation(observation), copy_info(info), self._hint()
        except NotPlainError:
            return _ODD

    def _hint(self) -> Any:
        return None if self.hint is None else self.hint()

    def _beginning(
        self, seed: int | None, captured: Captured, options: Any, observation: Any, info: Any
    ) -> dict[str, Any]:
        return {
            "episode_id": f"ep{self._episode}",
            "episode": self._episode,
            "env_index": self._env_index,
            "seed": seed,
            "start": start_fields(captured),
            "options": options,
            **dict(zip(_SEEN, self._seen(observation, info))),
            **self._agent,
        }

    def _say_environment(self) -> None:
        fields = {**self._environment, "not_replayable": self._reason}
        self._emitter.emit("environment", env_index=self._env_index, **fields, **self._agent)
