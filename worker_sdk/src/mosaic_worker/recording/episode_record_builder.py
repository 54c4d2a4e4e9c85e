"""EpisodeRecordBuilder: builds records from the episode log of one environment.

The thread that steps the environment appends to an `EpisodeLog`. The line writer calls `drain`
under its lock, in the thread that writes lines.
"""

from __future__ import annotations

import time
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.start_states import start_fields
from mosaic_worker.recording.step_listeners import ANNOTATION_FIELDS
from mosaic_worker.recording.value_copies import sum_rewards
from mosaic_worker.scalars import to_number

if TYPE_CHECKING:
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.recording.episode_log import EpisodeLog, LoggedStep
    from mosaic_worker.recording.value_copies import ActionCopier

    LoggedStart = tuple[Any, ...]
    LoggedEnd = tuple[Any, ...]

_PLAIN_STEP_LENGTH = 7  # entries of a step without annotations
_NO_ANNOTATIONS = (None,) * 4  # between the render hint and `agent_id`
_NO_COLUMNS = (None, None, None)
_NO_ORIGIN = (None, None, None)
_reward = itemgetter(1)


class EpisodeRecordBuilder:
    """Builds the records of one environment, episode by episode."""

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
        """`copier` has the dtype of the running episode's actions.

        With `agent_id`, every line carries it. Without `has_columns`, columns are summed but not
        written.
        """
        self.is_flush_requested = False
        """Set it to write the running episode's steps with the next `drain`."""
        self.has_start_line = False
        """Whether the `episode_start` line of the running episode was written."""
        self._written = 0
        self._return: int | float = 0
        self._emitter = emitter
        self._records = emitter.records
        self._log = log
        self._copier = copier
        self._env_index = env_index
        self._agent_id = agent_id
        self._no_annotations = (*_NO_ANNOTATIONS, agent_id)
        self._make_step = self._records.step if agent_id is None else self._make_agent_step
        self._has_columns = has_columns
        # Positions in the log up to which records were built.
        self._episodes_read = 0
        self._columns_read = 0
        self._steps_read = 0

    def drain(self) -> list[Any]:
        """Build all available records. Requires the writer's lock; never raises."""
        records: list[Any] = []
        log = self._log
        is_flush_requested, self.is_flush_requested = self.is_flush_requested, False
        # Read before the ends: later entries may belong to the next episode.
        columns, steps = len(log.rewards), len(log.steps)
        for end_entry in log.ends[self._episodes_read :]:
            self._add_ended_episode(log.starts[self._episodes_read], end_entry, records)
            self._episodes_read += 1
        if len(log.starts) > self._episodes_read:
            start_entry = log.starts[self._episodes_read]
            _, is_full, *_ = start_entry
            action_dtype = self._copier.dtype
            if is_full:
                self._add_steps(start_entry, steps, action_dtype, records)
                if is_flush_requested and not self.has_start_line:
                    self._add_start(start_entry, action_dtype, records)
            elif is_flush_requested:
                self._add_columns(start_entry, columns, action_dtype, records)
        return records

    def compact(self, is_full: bool) -> int:
        """Remove built entries from the log; returns their number in the active list.

        Call it in the thread that appends to the log, with the writer's lock.
        """
        log = self._log
        del log.starts[: self._episodes_read]
        del log.ends[: self._episodes_read]
        del log.actions[: self._columns_read]
        del log.rewards[: self._columns_read]
        del log.steps[: self._steps_read]
        removed = self._steps_read if is_full else self._columns_read
        self._episodes_read = self._columns_read = self._steps_read = 0
        return removed

    def _add_ended_episode(
        self, start_entry: LoggedStart, end_entry: LoggedEnd, records: list[Any]
    ) -> None:
        episode, is_full, seed, captured, options, _ = start_entry
        end, terminated, truncated, t_end, action_dtype = end_entry
        columns: tuple[Any, ...] = _NO_COLUMNS
        if is_full:
            self._add_steps(start_entry, end, action_dtype, records)
        elif t_end is None:
            self._add_columns(start_entry, end, action_dtype, records)
        elif end > self._columns_read:
            log, first = self._log, self._columns_read
            self._columns_read = end
            added, rewards = sum_rewards(log.rewards[first:end])
            if self._has_columns:
                columns = (self._written or None, log.actions[first:end], rewards)
            self._written += len(rewards)
            self._return += added
        if t_end is not None:
            origin: tuple[Any, ...] = _NO_ORIGIN
            if not self.has_start_line:
                origin = (seed, start_fields(captured), options)
            records.append(
                self._records.episode(
                    f"ep{episode}",
                    self._written,
                    to_number("return", self._return),
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
        self.has_start_line = False
        self._written = 0
        self._return = 0

    def _add_columns(
        self, start_entry: LoggedStart, end: int, action_dtype: str | None, records: list[Any]
    ) -> None:
        log, first = self._log, self._columns_read
        if end <= first:
            return
        self._columns_read = end
        added, rewards = sum_rewards(log.rewards[first:end])
        if self._has_columns:
            if not self.has_start_line:
                self._add_start(start_entry, action_dtype, records)
            name, actions = f"ep{start_entry[0]}", log.actions[first:end]
            records.append(
                self._records.steps(name, self._written, actions, rewards, self._agent_id)
            )
        self._written += len(rewards)
        self._return += added

    def _add_steps(
        self, start_entry: LoggedStart, end: int, action_dtype: str | None, records: list[Any]
    ) -> None:
        steps = self._log.steps[self._steps_read : end]
        if not steps:
            return
        self._steps_read = end
        if not self.has_start_line:
            self._add_start(start_entry, action_dtype, records)
        self._return += sum(map(_reward, steps))
        name, first = f"ep{start_entry[0]}", self._written
        self._written = first + len(steps)
        # An annotated step is written immediately, so it is always the last one here.
        annotated = steps.pop() if len(steps[-1]) > _PLAIN_STEP_LENGTH else None
        now = time.monotonic()
        if steps and now >= self._emitter.stamp_due:
            stamp = self._emitter.stamp(now)
            records.append(
                self._records.step(name, first, *steps.pop(0), *self._no_annotations, stamp)
            )
            first += 1
        make = self._make_step
        records += [
            make(name, index, action, reward, terminated, truncated, observation, info, render_hint)
            for index, (
                action,
                reward,
                terminated,
                truncated,
                observation,
                info,
                render_hint,
            ) in enumerate(steps, first)
        ]
        if annotated is not None:
            records.append(self._make_annotated_step(name, first + len(steps), annotated))

    def _make_agent_step(self, *values: Any) -> Any:
        """A step without annotations, with `agent_id`."""
        return self._records.step(*values, *self._no_annotations)

    def _make_annotated_step(self, name: str, index: int, step: LoggedStep) -> Any:
        *plain, render_hint, annotations = step
        annotated = {"render": render_hint, "agent_id": self._agent_id, **annotations}
        values = [annotated.get(field) for field in ANNOTATION_FIELDS]
        now = time.monotonic()
        stamp = self._emitter.stamp(now) if now >= self._emitter.stamp_due else None
        return self._records.step(name, index, *plain, *values, stamp)

    def _add_start(
        self, start_entry: LoggedStart, action_dtype: str | None, records: list[Any]
    ) -> None:
        episode, _, seed, captured, options, observed = start_entry
        self.has_start_line = True
        start = start_fields(captured)
        records.append(
            self._records.episode_start(
                f"ep{episode}",
                episode,
                self._env_index,
                seed,
                start,
                options,
                action_dtype,
                *observed,
                self._agent_id,
            )
        )
