"""Records vector environments whose sub-environments are not accessible, row by row.

Those of `AsyncVectorEnv` run in other processes, and a custom vector environment has one state and
one random generator for all. Called by `EpisodeRecorder.attach_vector`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.inspection import steps_per_second
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.recording.start_states import STATE, format_initial_state

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.recording.env_trace import EnvTrace

    MakeTrace = Callable[[dict[str, Any], Any, int], EnvTrace]

_REPLACED = ("step", "reset", "close")
_VECTOR_ARGUMENTS = frozenset(
    {"num_envs", "vectorization_mode", "vector_kwargs", "max_episode_steps"}
)

IN_OTHER_PROCESSES = (
    "The environment ran in another process, where its start could not be recorded."
)
NO_STATE = "The vector environment has no state column per sub-environment to restore."


def record_from_outside(
    envs: Any, make_trace: MakeTrace, on_close: Callable[[], None]
) -> tuple[list[EnvTrace], Callable[[], None]]:
    """A trace per sub-environment, and a function that ends the recording."""
    has_columns = _state_columns(envs) or not _was_reset(envs)
    reason = None if has_columns else _reason(envs)
    fields = _environment(envs, reason)
    space = getattr(envs, "single_action_space", None)
    traces = [make_trace(fields, space, index) for index in range(envs.num_envs)]
    before = {name: envs.__dict__[name] for name in _REPLACED if name in envs.__dict__}
    recorder = _BatchRecorder(envs, traces)
    envs.step, envs.reset, envs.close = (
        recorder.step,
        recorder.reset,
        _make_close(envs.close, on_close),
    )

    def remove() -> None:
        for name in _REPLACED:
            envs.__dict__.pop(name, None)
        envs.__dict__.update(before)

    return traces, remove


class _BatchRecorder:
    """Splits the batched actions and results of a vector environment into traces."""

    def __init__(self, envs: Any, traces: list[EnvTrace]) -> None:
        self._envs = envs
        self._traces = traces
        self._inner_step = envs.step
        self._inner_reset = envs.reset
        self._has_next_step_autoreset = _has_next_step_autoreset(envs)
        self._is_finished = [True] * len(traces)

    def reset(self, *args: Any, **keywords: Any) -> Any:
        for trace in self._traces:
            if trace.is_open:
                trace.interrupt()
        result = self._inner_reset(*args, **keywords)
        observations = result[0]
        options = keywords.get("options") or None
        for index in range(len(self._traces)):
            self._start_episode(index, observations, options)
        return result

    def step(self, actions: Any) -> Any:
        copies = [
            action if action.__class__ is int else trace.copy_action(action)
            for action, trace in zip(actions, self._traces)
        ]
        result = self._inner_step(actions)
        observations, rewards, terminated, truncated, _ = result
        for index, trace in enumerate(self._traces):
            if self._is_finished[index]:
                self._start_episode(index, observations, None)  # the action was ignored
                continue
            ended = bool(terminated[index] or truncated[index])
            # With same-step autoreset the row already shows the next episode.
            observed = None if ended and not self._has_next_step_autoreset else observations[index]
            trace.step(
                copies[index], observed, rewards[index], terminated[index], truncated[index], {}
            )
            if ended and self._has_next_step_autoreset:
                self._is_finished[index] = True
            elif ended:
                self._start_episode(index, observations, None)
        return result

    def _start_episode(self, index: int, observations: Any, options: Any) -> None:
        self._is_finished[index] = False
        columns = _state_columns(self._envs)
        start = None
        if columns is not None:
            start = {"kind": STATE, "data": format_initial_state(columns[:, index])}
        reason = None if start else _reason(self._envs)
        self._traces[index].start_episode(None, start, options, observations[index], {}, reason)


def _environment(envs: Any, reason: str | None) -> dict[str, Any]:
    spec = getattr(envs, "spec", None)
    given = dict(spec.kwargs) if spec is not None else {}
    limit = getattr(spec, "max_episode_steps", None) or given.get("max_episode_steps")
    fields = {
        "env_id": str(spec.id) if spec is not None else type(envs).__name__,
        "env_kwargs": {
            name: value for name, value in given.items() if name not in _VECTOR_ARGUMENTS
        },
        "max_episode_steps": limit,
        "action_space": describe_space(getattr(envs, "single_action_space", None)),
        "observation_space": describe_space(getattr(envs, "single_observation_space", None)),
        "render_fps": steps_per_second(envs),
    }
    return {**fields, "not_replayable": reason} if reason else fields


def _state_columns(envs: Any) -> Any:
    """The state with one column per sub-environment; None if there is none."""
    state = getattr(envs, "state", None)
    shape: tuple[int, ...] = getattr(state, "shape", ())
    return state if len(shape) == 2 and shape[1] == envs.num_envs else None


def _was_reset(envs: Any) -> bool:
    """Whether it was reset; before that, a custom environment has no state yet."""
    return getattr(envs, "state", False) is not None


def _reason(envs: Any) -> str:
    return IN_OTHER_PROCESSES if hasattr(envs, "processes") else NO_STATE


def _has_next_step_autoreset(envs: Any) -> bool:
    """Whether autoreset is next-step; before gymnasium 1.0 it was always same-step."""
    mode = (getattr(envs, "metadata", None) or {}).get("autoreset_mode")
    return getattr(mode, "name", str(mode)) == "NEXT_STEP"


def _make_close(
    inner_close: Callable[..., Any], on_close: Callable[[], None]
) -> Callable[..., Any]:
    def close(*args: Any, **keywords: Any) -> Any:
        on_close()
        return inner_close(*args, **keywords)

    return close
