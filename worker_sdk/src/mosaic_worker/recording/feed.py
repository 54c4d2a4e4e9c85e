"""Makes lines of the episodes of one environment, at the moment when lines are written.

The thread that steps the environment leaves what happened in `EpisodeLog`s (`hot_steps`, `taps`,
`track`). The writer takes records of it from here, under its lock.
"""

from __future__ import annotations

import time
from collections import deque
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.starts import start_fields
from mosaic_worker.scalars import LARGEST_NUMBER, LOWEST_NUMBER, number

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.episode_log import EpisodeLog, Step

_WITHOUT_NOTES = 7  # entries of a step
_NO_COLUMNS = (None, None, None)
_NO_ORIGIN = (None, None, None)
_reward = itemgetter(1)


class EpisodeFeed:
    """The episodes of one environment, one after the other."""

    def __init__(self, emitter: Emitter, env_index: int | None, *, has_columns: bool) -> None:
        """Without `has_columns`, columns are added up and not written."""
        self.logs: deque[EpisodeLog] = deque()
        """Each is appended when its episode begins, and removed here when it is over."""
        self.is_all_wanted = False
        """Set this to have the running episode written as far as it is."""
        self._emitter = emitter
        self._records = emitter.records
        self._env_index = env_index
        self._has_columns = has_columns
        # Of the first log: whether it has a line, how many steps were taken from it, their return.
        self._is_announced = False
        self._taken = 0
        self._return: int | float = 0

    def steps_of(self, log: EpisodeLog) -> int:
        """How many steps the episode has had. Under the writer's lock."""
        taken = self._taken if self.logs and self.logs[0] is log else 0
        return taken + log.count()

    def has_announced(self, log: EpisodeLog) -> bool:
        """Whether the episode has a line. Under the writer's lock."""
        return self._is_announced and self.logs[0] is log

    def take(self) -> list[Any]:
        """All records that can be made now. Under the writer's lock, and may not raise."""
        made: list[Any] = []
        logs = self.logs
        while logs:
            log = logs[0]
            is_over = log.ending is not None or log.is_left  # seen before its steps are
            if log.in_full and log.steps:
                self._take_steps(log, made)
            if not is_over:
                break
            if log.ending is not None:
                self._end(log, log.ending, made)
            elif not log.in_full and log.rewards:
                self._take_columns(log, made)
            logs.popleft()
            self._is_announced = False
            self._taken = 0
            self._return = 0
        if self.is_all_wanted:
            self.is_all_wanted = False
            if logs:
                self._take_rest(logs[0], made)
        return made

    def _take_rest(self, log: EpisodeLog, made: list[Any]) -> None:
        if log.in_full:
            if not self._is_announced:
                self._announce(log, made)
        elif log.rewards:
            self._take_columns(log, made)

    def _take_steps(self, log: EpisodeLog, made: list[Any]) -> None:
        count = len(log.steps)
        steps = log.steps[:count]
        del log.steps[:count]
        first = self._taken
        self._taken = first + count
        self._return += sum(map(_reward, steps))
        if not self._is_announced:
            self._announce(log, made)
        name = f"ep{log.episode}"
        now = time.monotonic()
        if now >= self._emitter.stamp_due or len(steps[0]) > _WITHOUT_NOTES:
            stamp = self._emitter.stamp(now) if now >= self._emitter.stamp_due else None
            made.append(self._noted_step(name, first, steps.pop(0), stamp))
            first += 1
        make = self._records.step
        made += [make(name, index, *step) for index, step in enumerate(steps, first)]

    def _noted_step(self, name: str, index: int, step: Step, stamp: float | None) -> Any:
        *plain, hint = step[:_WITHOUT_NOTES]
        noted = step[_WITHOUT_NOTES] if len(step) > _WITHOUT_NOTES else {}
        return self._records.step(
            name,
            index,
            *plain,
            noted.get("render", hint),
            noted.get("actor"),
            noted.get("seq"),
            noted.get("bdi"),
            noted.get("llm"),
            noted.get("agent_id"),
            stamp,
        )

    def _take_columns(self, log: EpisodeLog, made: list[Any]) -> None:
        count = len(log.rewards)  # an action may be there already whose reward is to come
        actions, rewards = log.actions[:count], log.rewards[:count]
        del log.actions[:count]
        del log.rewards[:count]
        first = self._taken
        self._taken = first + count
        added, rewards = _added_up(rewards)
        self._return += added
        if self._has_columns:
            if not self._is_announced:
                self._announce(log, made)
            made.append(self._records.steps(f"ep{log.episode}", first, actions, rewards))

    def _announce(self, log: EpisodeLog, made: list[Any]) -> None:
        self._is_announced = True
        made.append(
            self._records.episode_start(
                f"ep{log.episode}",
                log.episode,
                self._env_index,
                log.seed,
                start_fields(log.captured),
                log.options,
                log.action_dtype,
                *log.seen,
            )
        )

    def _end(self, log: EpisodeLog, ending: tuple[bool, bool, float], made: list[Any]) -> None:
        terminated, truncated, t_end = ending
        steps, total = self._taken, self._return
        columns: tuple[Any, ...] = _NO_COLUMNS
        if not log.in_full and log.rewards:
            added, rewards = _added_up(log.rewards)
            if self._has_columns:
                columns = (steps or None, log.actions, rewards)
            steps += len(rewards)
            total += added
        origin: tuple[Any, ...] = _NO_ORIGIN
        if not self._is_announced:
            origin = (log.seed, start_fields(log.captured), log.options)
        made.append(
            self._records.episode(
                f"ep{log.episode}",
                steps,
                total,
                terminated,
                truncated,
                int(t_end * 1000) / 1000,
                log.episode,
                self._env_index,
                *origin,
                log.action_dtype,
                *columns,
            )
        )


def _added_up(rewards: list[Any]) -> tuple[int | float, list[Any]]:
    """The sum of the rewards, and the rewards as the protocol has them.

    Those of numpy's types come as they are, and integers may be too large for the store: either
    shows in the sum.
    """
    total = sum(rewards)
    kind = total.__class__
    if (kind is float or kind is int) and LOWEST_NUMBER <= total <= LARGEST_NUMBER:
        return total, rewards
    plain = [_plain_reward(reward) for reward in rewards]
    return sum(plain), plain


def _plain_reward(reward: Any) -> int | float:
    try:
        return number("reward", reward)
    except WorkerError:
        return float("nan")
