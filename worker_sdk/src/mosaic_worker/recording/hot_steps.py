"""The `step` of a recorded environment: what happens on every single step, in as few calls as can be.

It is called tens of thousands of times a second, and each call within it can be measured; so what
`Track.step` does in general is written out here for the usual cases.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.detail import ALL, SAMPLED
from mosaic_worker.recording.plain_copy import NotPlainError, copy_info, copy_observation
from mosaic_worker.scalars import LARGEST_NUMBER, LOWEST_NUMBER, number

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.line_writer import LineWriter
    from mosaic_worker.recording.track import Track

    StepCall = Callable[[Any], Any]

MOST_LINES_HELD = 64
"""Of an episode that is recorded in full; half a millisecond usually comes first."""


def recording_step(inner: StepCall, track: Track, writer: LineWriter, detail: str) -> StepCall:
    """`inner`, the `step` of an environment, which also leaves in `track` what it did."""
    if detail == ALL:
        return _line_step(inner, track, writer)
    if detail != SAMPLED:
        return _column_step(inner, track)
    by_lines, by_columns = _line_step(inner, track, writer), _column_step(inner, track)
    return lambda action: by_lines(action) if track.by_lines else by_columns(action)


def _column_step(inner: StepCall, track: Track) -> StepCall:
    copy_action = track.copy_action
    usual_kind: type = float

    def step(action: Any) -> Any:
        nonlocal usual_kind
        # Before the step: an environment may write into the array that it was given.
        copied = action if action.__class__ is int else copy_action(action)
        result = inner(action)
        observation, reward, terminated, truncated, info = result
        if track.by_columns:
            if reward.__class__ is not usual_kind:
                if _is_constant(reward):
                    usual_kind = reward.__class__
                else:
                    reward = number("reward", reward)
            log = track.log
            rewards = log.rewards
            log.actions.append(copied)
            rewards.append(reward)
            if terminated or truncated:
                track.end(terminated, truncated)
            elif len(rewards) >= track.room:
                track.relieve()
        elif track.is_open:
            track.step(copied, observation, reward, terminated, truncated, info)
        return result

    return step


def _is_constant(reward: Any) -> bool:
    """Whether it is a number that nobody can change, so that there is time to make it plain."""
    if isinstance(reward, (int, float)):
        return not isinstance(reward, bool)
    return hasattr(reward, "item") and not hasattr(reward, "__setitem__")  # a scalar of numpy


def _line_step(inner: StepCall, track: Track, writer: LineWriter) -> StepCall:
    copy_action = track.copy_action
    hint = track.hint
    watchers = track.watchers
    clock = time.monotonic

    def step(action: Any) -> Any:
        copied = action if action.__class__ is int else copy_action(action)
        result = inner(action)
        observation, reward, terminated, truncated, info = result
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
        steps = track.log.steps
        steps.append((copied, reward, terminated, truncated, observation, info, shown))
        if terminated or truncated:
            track.end(terminated, truncated)
        now = clock()
        if now >= writer.burst_ends or len(steps) >= MOST_LINES_HELD:
            writer.hand_over(now)
        elif writer.is_resting:
            writer.watch_for_stall()
        return result

    return step
