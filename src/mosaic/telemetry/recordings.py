"""Builds recordings for replay: the start, the environment and the actions of an episode.

An episode is re-simulated in the environment of the last `environment` line before it or, for a
worker that writes none, in that of the run's `config` line.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from mosaic.contract.decode import RejectedLineError, decode
from mosaic.contract.episodes import EpisodeDetails, EpisodeRecording, EpisodeRollup
from mosaic.contract.events import (
    ConfigEvent,
    EnvironmentEvent,
    EpisodeEnd,
    EpisodeStart,
    StepRecord,
)
from mosaic.telemetry.episodes import EpisodeState

_MAX_ENVIRONMENT_LINES = 10_000
"""Only the newest lines are searched; a run writes a few per sub-environment."""


class _Origin(NamedTuple):
    """The events that define how an episode started."""

    start: EpisodeStart | EpisodeEnd | None
    environment: EnvironmentEvent | None
    config: ConfigEvent | None


class RecordingReader:
    """Reads the `event` table of one run for replays."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def details(self, state: EpisodeState, rollup: EpisodeRollup) -> EpisodeDetails:
        """Return the episode with its lines, and whether it can be replayed."""
        environment = self._environment_line(state)
        return EpisodeDetails(
            episode=rollup,
            start_json=self._line(state.start_event),
            end_json=self._line(state.end_event),
            environment_json=environment,
            not_replayable=_not_replayable_reason(state, self._origin(state, environment)),
        )

    def recording(
        self, state: EpisodeState, rollup: EpisodeRollup, steps: Iterable[StepRecord]
    ) -> EpisodeRecording | str:
        """Return the data for a replay, or the reason why the episode cannot be replayed.

        `steps` are in order of arrival, which in a replayable episode is that of their numbers.
        Only actions and rewards are kept in memory: observations may be much larger.
        """
        origin = self._origin(state, self._environment_line(state))
        reason = _not_replayable_reason(state, origin)
        if reason:
            return reason
        env_id, env_kwargs, max_episode_steps, packages = _environment_args(origin)
        transitions = [(step.action, step.reward) for step in steps]
        start = origin.start
        return EpisodeRecording(
            env_id=env_id,
            env_kwargs=env_kwargs,
            max_episode_steps=max_episode_steps,
            seed=start.seed if start else None,
            start=start.start if start else None,
            options=start.options if start else None,
            action_dtype=(start and start.action_dtype) or self._dtype_at_end(state),
            actions=[action for action, _ in transitions],
            rewards=[reward for _, reward in transitions],
            terminated=rollup.terminated,
            truncated=rollup.truncated,
            is_over=rollup.is_over and self._has_end_flags(state),
            packages=packages,
        )

    def _origin(self, state: EpisodeState, environment: bytes | None) -> _Origin:
        start = _decode_or_none(self._line(state.start_event))
        if start is None:
            start = _decode_or_none(self._line(state.end_event))
        env_event = _decode_or_none(environment)
        config = _decode_or_none(self._newest_line("config"))
        return _Origin(
            start if isinstance(start, (EpisodeStart, EpisodeEnd)) else None,
            env_event if isinstance(env_event, EnvironmentEvent) else None,
            config if isinstance(config, ConfigEvent) else None,
        )

    def _has_end_flags(self, state: EpisodeState) -> bool:
        """Return whether the flags are known; an `episode` line may omit both."""
        if state.terminated or state.truncated:
            return True
        end = _decode_or_none(self._line(state.end_event))
        return isinstance(end, EpisodeEnd) and (end.terminated, end.truncated) != (None, None)

    def _dtype_at_end(self, state: EpisodeState) -> str | None:
        """Return the dtype from the end line; the start line may precede the first action."""
        end = _decode_or_none(self._line(state.end_event))
        return end.action_dtype if isinstance(end, EpisodeEnd) else None

    def _environment_line(self, state: EpisodeState) -> bytes | None:
        """Return the last environment line before the episode, of the same sub-environment."""
        start_seq = state.end_event if state.start_event is None else state.start_event
        start = _decode_or_none(self._line(start_seq))
        index = start.env_index if isinstance(start, (EpisodeStart, EpisodeEnd)) else None
        rows = self._connection.execute(
            "SELECT line FROM event WHERE type = 'environment' AND seq < ?"
            " ORDER BY seq DESC LIMIT ?",
            (start_seq if start_seq is not None else 1 << 62, _MAX_ENVIRONMENT_LINES),
        )
        for (line,) in rows:
            event = _decode_or_none(line)
            if isinstance(event, EnvironmentEvent) and event.env_index in (index, None):
                return bytes(line)
        return None

    def _line(self, seq: int | None) -> bytes | None:
        if seq is None:
            return None
        row = self._connection.execute("SELECT line FROM event WHERE seq = ?", (seq,)).fetchone()
        return bytes(row[0]) if row else None

    def _newest_line(self, kind: str) -> bytes | None:
        row = self._connection.execute(
            "SELECT line FROM event WHERE type = ? ORDER BY seq DESC LIMIT 1", (kind,)
        ).fetchone()
        return bytes(row[0]) if row else None


def _environment_args(origin: _Origin) -> tuple[str, dict[str, Any], int | None, dict[str, Any]]:
    """Return id, kwargs, step limit and packages; the episode's own kwargs take precedence."""
    env, config = origin.environment, origin.config
    episode_kwargs = origin.start.env_kwargs if origin.start else None
    env_kwargs = (env and env.env_kwargs) or (config and config.env_kwargs) or {}
    return (
        env.env_id if env else config.env_id if config else "",
        env_kwargs if episode_kwargs is None else episode_kwargs,
        env.max_episode_steps if env else None,
        (env and env.packages) or (config and config.packages) or {},
    )


def _not_replayable_reason(state: EpisodeState, origin: _Origin) -> str:
    """Return why the episode cannot be replayed; empty when it can."""
    if origin.environment is not None and origin.environment.not_replayable:
        return origin.environment.not_replayable
    if not _environment_args(origin)[0]:
        return "Its environment was not recorded."
    if origin.start is None or (origin.start.seed is None and origin.start.start is None):
        return "Neither its seed nor its start state was recorded."
    if len(state.seen) > 1:
        return "It has several agents."
    if not state.steps:
        return "Its steps were not recorded."
    (seen,) = state.seen.values()
    expected = state.steps if state.reported_steps is None else state.reported_steps
    is_complete = not seen.first and not seen.has_gaps and seen.last + 1 == state.steps
    if not is_complete or state.duplicate_steps or state.steps != expected:
        return "Some of its steps were not recorded."
    return ""


def _decode_or_none(line: bytes | None) -> object:
    try:
        return None if line is None else decode(line)
    except RejectedLineError:
        return None
