"""The `step` of a recorded environment: what happens on every single step, in few calls.

It is called tens of thousands of times a second, and each call within it can be measured; so what
`Track.step` does in general is written out here for the usual cases.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.detail import ALL, SAMPLED
from mosaic_worker.recording.plain_copy import NotPlainError, copy_info, copy_observation
from mosaic_worker.recording.rewards import is_constant
from mosaic_worker.scalars import LARGEST_NUMBER, LOWEST_NUMBER, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.line_writer import LineWriter
    from mosaic_worker.recording.short_way import ShortWay
    from mosaic_worker.recording.track import Track

    StepCall = Callable[[Any], Any]


def recording_step(way: ShortWay, track: Track, writer: LineWriter, detail: str) -> StepCall:
    """The `step` of an environment, which goes the `way` and leaves in `track` what it did."""
    if detail == ALL:
        return _line_step(way, track, writer)
    if detail != SAMPLED:
        return _column_step(way, track)
    by_lines, by_columns = _line_step(way, track, writer), _column_step(way, track)
    return lambda action: by_lines(action) if track.by_lines else by_columns(action)


def _column_step(way: ShortWay, track: Track) -> StepCall:
    copy_action = track.copy_action
    rewards = track.log.rewards
    add_action, add_reward = track.log.actions.append, rewards.append
    add_ending = track.log.endings.append
    most_steps = track.most_steps
    clock = time.time
    usual_kind: type = float

    def step(action: Any) -> Any:
        nonlocal usual_kind
        # Before the step: an environment may write into the array that it was given.
        copied = action if action.__class__ is int else copy_action(action)
        result = way.env.step(action)
        observation, reward, terminated, truncated, info = result
        limit = way.limit
        if limit is not None:
            elapsed = limit._elapsed_steps = limit._elapsed_steps + 1  # noqa: SLF001 - see ShortWay
            if elapsed >= limit._max_episode_steps:  # noqa: SLF001 - likewise
                truncated = True
                result = (observation, reward, terminated, truncated, info)
        if track.by_columns:
            if reward.__class__ is not usual_kind:
                if is_constant(reward):
                    usual_kind = reward.__class__
                else:
                    reward = number("reward", reward)
            add_action(copied)
            add_reward(reward)
            if terminated or truncated:
                track.is_open = track.by_columns = False
                add_ending((len(rewards), terminated, truncated, clock(), copy_action.dtype))
            if len(rewards) >= most_steps:
                track.relieve()
        elif track.is_open:
            track.step(copied, observation, reward, terminated, truncated, info)
        return result

    return step


def _line_step(way: ShortWay, track: Track, writer: LineWriter) -> StepCall:
    copy_action = track.copy_action
    steps = track.log.steps
    add_step, add_ending = steps.append, track.log.endings.append
    most_steps = track.most_steps
    hint = track.hint
    watchers = track.watchers
    clock = time.time

    def step(action: Any) -> Any:
        copied = action if action.__class__ is int else copy_action(action)
        result = way.env.step(action)
        observation, reward, terminated, truncated, info = result
        limit = way.limit
        if limit is not None:
            elapsed = limit._elapsed_steps = limit._elapsed_steps + 1  # noqa: SLF001 - see ShortWay
            if elapsed >= limit._max_episode_steps:  # noqa: SLF001 - likewise
                truncated = True
                result = (observation, reward, terminated, truncated, info)
        if not track.by_lines or not watchers.is_idle or terminated.__class__ is not bool:
            if track.is_open:
                track.step(copied, observation, reward, terminated, truncated, info)
            return result
        kind = reward.__class__
        if kind is not float and (kind is not int or not LOWEST_NUMBER <= reward <= LARGEST_NUMBER):
            reward = number("reward", reward)
        try:
            if observation.__class__ is not int:
                observation = copy_observation(observation)
            info = copy_info(info) if info else None
        except NotPlainError:
            track.step(copied, result[0], reward, terminated, truncated, result[4])
            return result
        shown = None if hint is None else hint()
        add_step((copied, reward, terminated, truncated, observation, info, shown))
        if terminated or truncated:
            track.is_open = track.by_lines = False
            add_ending((len(steps), terminated, truncated, clock(), copy_action.dtype))
        if len(steps) >= most_steps:
            track.relieve()
        elif writer.is_resting:
            writer.watch_for_stall()
        return result

    return step
