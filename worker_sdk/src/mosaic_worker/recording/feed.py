"""Makes lines of the episodes of one environment, at the moment when lines are written.

The thread that steps the environment leaves what happened in an `EpisodeLog`. The writer takes
records of it from here, under its lock, in whatever thread lines are written.
"""

from __future__ import annotations

import time
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.rewards import added_up
from mosaic_worker.recording.starts import start_fields
from mosaic_worker.recording.watchers import NOTED
from mosaic_worker.scalars import number

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.action_copy import ActionCopier
    from mosaic_worker.recording.episode_log import EpisodeLog, Step

    Beginning = tuple[Any, ...]
    Ending = tuple[Any, ...]

_WITHOUT_NOTES = 7  # entries of a step
_NO_NOTES = (None,) * 4  # after the hint, before `agent_id`
_NO_COLUMNS = (None, None, None)
_NO_ORIGIN = (None, None, None)
_reward = itemgetter(1)


class EpisodeFeed:
    """The episodes of one environment, one after the other."""

    def __init__(
        self,
        emitter: Emitter,
        log: EpisodeLog,
        copier: ActionCopier,
        env_index: int | None,
        agent_id: str | None,
        *,
        has_columns: bool,
    ) -> None:
        """`copier` knows the type of the running episode's actions.

        With `agent_id`, every line carries it. Without `has_columns`, columns are added up and not
        written.
        """
        self.is_all_wanted = False
        """Set this to have the running episode written as far as it is."""
        self.is_announced = False
        """Whether the running episode has a line."""
        self._written = 0
        self._return: int | float = 0
        self._emitter = emitter
        self._records = emitter.records
        self._log = log
        self._copier = copier
        self._env_index = env_index
        self._agent_id = agent_id
        self._no_notes = (*_NO_NOTES, agent_id)
        self._make_step = self._records.step if agent_id is None else self._step_of_agent
        self._has_columns = has_columns
        # What was taken from the log and is still in it.
        self._episodes_taken = 0
        self._columns_taken = 0
        self._steps_taken = 0

    def take(self) -> list[Any]:
        """All records that can be made now. Under the writer's lock, and may not raise."""
        made: list[Any] = []
        log = self._log
        is_all_wanted, self.is_all_wanted = self.is_all_wanted, False
        # Looked at before the endings: whatever comes later may be of the episode after.
        columns, steps = len(log.rewards), len(log.steps)
        for ending in log.endings[self._episodes_taken :]:
            self._take_ended(log.beginnings[self._episodes_taken], ending, made)
            self._episodes_taken += 1
        if len(log.beginnings) > self._episodes_taken:
            beginning = log.beginnings[self._episodes_taken]
            _, in_full, *_ = beginning
            action_dtype = self._copier.dtype
            if in_full:
                self._take_steps(beginning, steps, action_dtype, made)
                if is_all_wanted and not self.is_announced:
                    self._announce(beginning, action_dtype, made)
            elif is_all_wanted:
                self._take_columns(beginning, columns, action_dtype, made)
        return made

    def compact(self, in_full: bool) -> int:
        """Remove from the log what was taken; returns how many entries of the list in use.

        In the thread that appends to the log, under the writer's lock.
        """
        log = self._log
        del log.beginnings[: self._episodes_taken]
        del log.endings[: self._episodes_taken]
        del log.actions[: self._columns_taken]
        del log.rewards[: self._columns_taken]
        del log.steps[: self._steps_taken]
        removed = self._steps_taken if in_full else self._columns_taken
        self._episodes_taken = self._columns_taken = self._steps_taken = 0
        return removed

    def _take_ended(self, beginning: Beginning, ending: Ending, made: list[Any]) -> None:
        episode, in_full, seed, captured, options, _ = beginning
        after, terminated, truncated, t_end, action_dtype = ending
        columns: tuple[Any, ...] = _NO_COLUMNS
        if in_full:
            self._take_steps(beginning, after, action_dtype, made)
        elif t_end is None:
            self._take_columns(beginning, after, action_dtype, made)
        elif after > self._columns_taken:
            log, first = self._log, self._columns_taken
            self._columns_taken = after
            added, rewards = added_up(log.rewards[first:after])
            if self._has_columns:
                columns = (self._written or None, log.actions[first:after], rewards)
            self._written += len(rewards)
            self._return += added
        if t_end is not None:
            origin: tuple[Any, ...] = _NO_ORIGIN
            if not self.is_announced:
                origin = (seed, start_fields(captured), options)
            made.append(
                self._records.episode(
                    f"ep{episode}",
                    self._written,
                    number("return", self._return),
                    bool(terminated),
                    bool(truncated),
                    int(t_end * 1000) / 1000,
                    episode,
                    self._env_index,
                    *origin,
                    action_dtype,
                    *columns,
                    self._agent_id,
                )
            )
        self.is_announced = False
        self._written = 0
        self._return = 0

    def _take_columns(
        self, beginning: Beginning, end: int, action_dtype: str | None, made: list[Any]
    ) -> None:
        log, first = self._log, self._columns_taken
        if end <= first:
            return
        self._columns_taken = end
        added, rewards = added_up(log.rewards[first:end])
        if self._has_columns:
            if not self.is_announced:
                self._announce(beginning, action_dtype, made)
            name, actions = f"ep{beginning[0]}", log.actions[first:end]
            made.append(self._records.steps(name, self._written, actions, rewards, self._agent_id))
        self._written += len(rewards)
        self._return += added

    def _take_steps(
        self, beginning: Beginning, end: int, action_dtype: str | None, made: list[Any]
    ) -> None:
        steps = self._log.steps[self._steps_taken : end]
        if not steps:
            return
        self._steps_taken = end
        if not self.is_announced:
            self._announce(beginning, action_dtype, made)
        self._return += sum(map(_reward, steps))
        name, first = f"ep{beginning[0]}", self._written
        self._written = first + len(steps)
        # A noted step is written at once, so that none can follow it here.
        noted = steps.pop() if len(steps[-1]) > _WITHOUT_NOTES else None
        now = time.monotonic()
        if steps and now >= self._emitter.stamp_due:
            stamp = self._emitter.stamp(now)
            made.append(self._records.step(name, first, *steps.pop(0), *self._no_notes, stamp))
            first += 1
        make = self._make_step
        made += [
            make(name, index, action, reward, terminated, truncated, observation, info, hint)
            for index, (
                action,
                reward,
                terminated,
                truncated,
                observation,
                info,
                hint,
            ) in enumerate(steps, first)
        ]
        if noted is not None:
            made.append(self._noted_step(name, first + len(steps), noted))

    def _step_of_agent(self, *values: Any) -> Any:
        """A step without notes, of the agent whose environment this is."""
        return self._records.step(*values, *self._no_notes)

    def _noted_step(self, name: str, index: int, step: Step) -> Any:
        *plain, hint, notes = step
        noted = {"render": hint, "agent_id": self._agent_id, **notes}
        values = [noted.get(field) for field in NOTED]
        now = time.monotonic()
        stamp = self._emitter.stamp(now) if now >= self._emitter.stamp_due else None
        return self._records.step(name, index, *plain, *values, stamp)

    def _announce(self, beginning: Beginning, action_dtype: str | None, made: list[Any]) -> None:
        episode, _, seed, captured, options, seen = beginning
        self.is_announced = True
        start = start_fields(captured)
        made.append(
            self._records.episode_start(
                f"ep{episode}",
                episode,
                self._env_index,
                seed,
                start,
                options,
                action_dtype,
                *seen,
                self._agent_id,
            )
        )
