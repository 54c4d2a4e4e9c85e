"""make_recorded_step: the replaced `step` of a recorded environment, optimised for few calls.

It runs tens of thousands of times per second, so that single function calls are measurable. The
common cases of `EnvTrace.step` are inlined here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mosaic_worker.recording.episode_log import ALL, SAMPLED
from mosaic_worker.recording.value_copies import (
    NotPlainError,
    copy_info,
    copy_observation,
    is_immutable_number,
)
from mosaic_worker.scalars import MAX_NUMBER, MIN_NUMBER, to_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.line_writer import LineWriter
    from mosaic_worker.recording.env_trace import EnvTrace
    from mosaic_worker.recording.instrumentation import WrapperBypass

    StepCall = Callable[[Any], Any]


def make_recorded_step(
    bypass: WrapperBypass, trace: EnvTrace, writer: LineWriter, detail: str
) -> StepCall:
    """A `step` function that calls `bypass.env.step` and records the result in `trace`."""
    if detail == ALL:
        return _make_full_step(bypass, trace, writer)
    if detail != SAMPLED:
        return _make_column_step(bypass, trace)
    step_full, step_columns = (
        _make_full_step(bypass, trace, writer),
        _make_column_step(bypass, trace),
    )
    return lambda action: step_full(action) if trace.is_step_fast_path else step_columns(action)


def _make_column_step(bypass: WrapperBypass, trace: EnvTrace) -> StepCall:
    copy_action = trace.copy_action
    rewards = trace.log.rewards
    add_action, add_reward = trace.log.actions.append, rewards.append
    add_end = trace.log.ends.append
    max_buffered_steps = trace.max_buffered_steps
    clock = time.time
    last_reward_type: type = float

    def step(action: Any) -> Any:
        nonlocal last_reward_type
        # Before the step, because an environment may modify the array.
        copied = action if action.__class__ is int else copy_action(action)
        result = bypass.env.step(action)
        observation, reward, terminated, truncated, info = result
        limit = bypass.limit
        if limit is not None:
            elapsed = limit._elapsed_steps = limit._elapsed_steps + 1  # noqa: SLF001 - private
            if elapsed >= limit._max_episode_steps:  # noqa: SLF001 - private
                truncated = True
                result = (observation, reward, terminated, truncated, info)
        if trace.is_column_fast_path:
            if reward.__class__ is not last_reward_type:
                if is_immutable_number(reward):
                    last_reward_type = reward.__class__
                else:
                    reward = to_number("reward", reward)
            add_action(copied)
            add_reward(reward)
            if terminated or truncated:
                trace.is_open = trace.is_column_fast_path = False
                add_end((len(rewards), terminated, truncated, clock(), copy_action.dtype))
            if len(rewards) >= max_buffered_steps:
                trace.flush_buffer()
        elif trace.is_open:
            trace.step(copied, observation, reward, terminated, truncated, info)
        return result

    return step


def _make_full_step(bypass: WrapperBypass, trace: EnvTrace, writer: LineWriter) -> StepCall:
    copy_action = trace.copy_action
    steps = trace.log.steps
    add_step, add_end = steps.append, trace.log.ends.append
    max_buffered_steps = trace.max_buffered_steps
    render_hint = trace.render_hint
    listeners = trace.listeners
    clock = time.time

    def step(action: Any) -> Any:
        copied = action if action.__class__ is int else copy_action(action)
        result = bypass.env.step(action)
        observation, reward, terminated, truncated, info = result
        limit = bypass.limit
        if limit is not None:
            elapsed = limit._elapsed_steps = limit._elapsed_steps + 1  # noqa: SLF001 - private
            if elapsed >= limit._max_episode_steps:  # noqa: SLF001 - private
                truncated = True
                result = (observation, reward, terminated, truncated, info)
        if not trace.is_step_fast_path or not listeners.is_idle or terminated.__class__ is not bool:
            if trace.is_open:
                trace.step(copied, observation, reward, terminated, truncated, info)
            return result
        kind = reward.__class__
        if kind is not float and (kind is not int or not MIN_NUMBER <= reward <= MAX_NUMBER):
            reward = to_number("reward", reward)
        try:
            if observation.__class__ is not int:
                observation = copy_observation(observation)
            info = copy_info(info) if info else None
        except NotPlainError:
            trace.step(copied, result[0], reward, terminated, truncated, result[4])
            return result
        hint = None if render_hint is None else render_hint()
        add_step((copied, reward, terminated, truncated, observation, info, hint))
        if terminated or truncated:
            trace.is_open = trace.is_step_fast_path = False
            add_end((len(steps), terminated, truncated, clock(), copy_action.dtype))
        if len(steps) >= max_buffered_steps:
            trace.flush_buffer()
        elif writer.is_idle:
            writer.watch_for_stall()
        return result

    return step
