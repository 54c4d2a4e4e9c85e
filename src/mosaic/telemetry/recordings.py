"""What is stored of an episode that a replay needs: how it began, where, and what was done.

An episode is played again in the environment of the last `environment` line before it, or, for a
worker that writes none, in that of the run's `config` line.
"""

import sqlite3
from collections.abc import Iterable
from typing import Any, NamedTuple

from mosaic.contract.decode import RejectedLineError, decode
from mosaic.contract.events import (
    ConfigEvent,
    EnvironmentEvent,
    EpisodeEnd,
    EpisodeStart,
    StepRecord,
)
from mosaic.contract.replays import EpisodeDetails, EpisodeRecording
from mosaic.contract.rollups import EpisodeRollup
from mosaic.telemetry.episodes import EpisodeState

_LOOKED_AT = 10_000
"""Environments are made a few times in a run, once per sub-environment; more are not looked at."""


class _Origin(NamedTuple):
    """The lines that say how an episode began."""

    start: EpisodeStart | EpisodeEnd | None
    environment: EnvironmentEvent | None
    config: ConfigEvent | None


class RecordingReader:
    """Reads one run's `event` table for the sake of replays."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def details(self, state: EpisodeState, rollup: EpisodeRollup) -> EpisodeDetails:
        """The episode with its lines, and whether it can be replayed."""
        environment = self._environment_line(state)
        return EpisodeDetails(
            episode=rollup,
            start_json=self._line(state.start_event),
            end_json=self._line(state.end_event),
            environment_json=environment,
            not_replayable=_obstacle(state, self._origin(state, environment)),
        )

    def recording(
        self, state: EpisodeState, rollup: EpisodeRollup, steps: Iterable[StepRecord]
    ) -> EpisodeRecording | str:
        """All that a replay needs, or why there is none.

        `steps` are in order of arrival, which is that of their numbers where there is a replay. Of
        each only what is needed is kept: observations may be many times as large.
        """
        origin = self._origin(state, self._environment_line(state))
        obstacle = _obstacle(state, origin)
        if obstacle:
            return obstacle
        env_id, env_kwargs, max_episode_steps, packages = _surroundings(origin)
        taken = [(step.action, step.reward) for step in steps]
        start = origin.start
        return EpisodeRecording(
            env_id=env_id,
            env_kwargs=env_kwargs,
            max_episode_steps=max_episode_steps,
            seed=start.seed if start else None,
            start=start.start if start else None,
            options=start.options if start else None,
            action_dtype=(start and start.action_dtype) or self._dtype_at_end(state),
            actions=[action for action, _ in taken],
            rewards=[reward for _, reward in taken],
            terminated=rollup.terminated,
            truncated=rollup.truncated,
            is_over=rollup.is_over and self._says_how_it_ended(state),
            packages=packages,
        )

    def _origin(self, state: EpisodeState, environment: bytes | None) -> _Origin:
        start = _decoded(self._line(state.start_event))
        if start is None:
            start = _decoded(self._line(state.end_event))
        made = _decoded(environment)
        config = _decoded(self._newest_line("config"))
        return _Origin(
            start if isinstance(start, (EpisodeStart, EpisodeEnd)) else None,
            made if isinstance(made, EnvironmentEvent) else None,
            config if isinstance(config, ConfigEvent) else None,
        )

    def _says_how_it_ended(self, state: EpisodeState) -> bool:
        """Both flags may be left out of an `episode` line; then they are not known to be false."""
        if state.terminated or state.truncated:
            return True
        end = _decoded(self._line(state.end_event))
        return isinstance(end, EpisodeEnd) and (end.terminated, end.truncated) != (None, None)

    def _dtype_at_end(self, state: EpisodeState) -> str | None:
        """An episode that was announced before its first action tells it only there."""
        end = _decoded(self._line(state.end_event))
        return end.action_dtype if isinstance(end, EpisodeEnd) else None

    def _environment_line(self, state: EpisodeState) -> bytes | None:
        """The newest one from before the episode, of the same sub-environment."""
        began = state.end_event if state.start_event is None else state.start_event
        start = _decoded(self._line(began))
        index = start.env_index if isinstance(start, (EpisodeStart, EpisodeEnd)) else None
        rows = self._connection.execute(
            "SELECT line FROM event WHERE type = 'environment' AND seq < ?"
            " ORDER BY seq DESC LIMIT ?",
            (began if began is not None else 1 << 62, _LOOKED_AT),
        )
        for (line,) in rows:
            event = _decoded(line)
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


def _surroundings(origin: _Origin) -> tuple[str, dict[str, Any], int | None, dict[str, Any]]:
    """Id, keywords, step limit and packages; what the episode itself says comes first."""
    made, config = origin.environment, origin.config
    own = origin.start.env_kwargs if origin.start else None
    said = (made and made.env_kwargs) or (config and config.env_kwargs) or {}
    return (
        made.env_id if made else config.env_id if config else "",
        said if own is None else own,
        made.max_episode_steps if made else None,
        (made and made.packages) or (config and config.packages) or {},
    )


def _obstacle(state: EpisodeState, origin: _Origin) -> str:
    """Why the episode cannot be replayed; empty when it can."""
    if origin.environment is not None and origin.environment.not_replayable:
        return origin.environment.not_replayable
    if not _surroundings(origin)[0]:
        return "How its environment was made was not recorded."
    if origin.start is None or (origin.start.seed is None and origin.start.start is None):
        return "What it started from was not recorded."
    if len(state.seen) > 1:
        return "Several agents acted in it."
    if not state.steps:
        return "Its steps were not recorded."
    (seen,) = state.seen.values()
    expected = state.steps if state.reported_steps is None else state.reported_steps
    is_whole = not seen.first and not seen.has_gaps and seen.last + 1 == state.steps
    if not is_whole or state.duplicate_steps or state.steps != expected:
        return "Not every one of its steps was recorded."
    return ""


def _decoded(line: bytes | None) -> object:
    try:
        return None if line is None else decode(line)
    except RejectedLineError:
        return None
