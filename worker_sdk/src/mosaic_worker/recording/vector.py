"""Records vector environments whose parts cannot be reached: from outside, one row at a time.

Those of `AsyncVectorEnv` live in other processes, and a custom one has a single state and a single
stream of random numbers for all. `EpisodeRecorder.attach_vector` calls this for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.environments.pace import steps_per_second
from mosaic_worker.environments.spaces import describe_space
from mosaic_worker.recording.initial_state import column_text
from mosaic_worker.recording.starts import STATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.recording.track import Track

    MakeTrack = Callable[[dict[str, Any], Any, int], Track]

_REPLACED = ("step", "reset", "close")
_OF_THE_VECTOR = frozenset({"num_envs", "vectorization_mode", "vector_kwargs", "max_episode_steps"})

IN_OTHER_PROCESSES = (
    "Its environment ran in another process, where its start could not be recorded."
)
NO_STATE = "The vector environment has no column of state from which its episodes could begin."


def record_outside(
    envs: Any, make_track: MakeTrack, on_close: Callable[[], None]
) -> tuple[list[Track], Callable[[], None]]:
    """A track for each part of `envs`, and what ends the recording."""
    has_columns = _state_columns(envs) or not _was_reset(envs)
    reason = None if has_columns else _reason(envs)
    fields = _environment(envs, reason)
    space = getattr(envs, "single_action_space", None)
    tracks = [make_track(fields, space, index) for index in range(envs.num_envs)]
    before = {name: envs.__dict__[name] for name in _REPLACED if name in envs.__dict__}
    rows = _Rows(envs, tracks)
    envs.step, envs.reset, envs.close = rows.step, rows.reset, _announcing(envs.close, on_close)

    def untap() -> None:
        for name in _REPLACED:
            envs.__dict__.pop(name, None)
        envs.__dict__.update(before)

    return tracks, untap


class _Rows:
    """What happens in the parts, as the rows of what the vector environment takes and gives."""

    def __init__(self, envs: Any, tracks: list[Track]) -> None:
        self._envs = envs
        self._tracks = tracks
        self._inner_step = envs.step
        self._inner_reset = envs.reset
        self._resets_in_next_step = _resets_in_next_step(envs)
        self._is_over = [True] * len(tracks)

    def reset(self, *args: Any, **keywords: Any) -> Any:
        for track in self._tracks:
            if track.is_open:
                track.cut()
        result = self._inner_reset(*args, **keywords)
        observations = result[0]
        options = keywords.get("options") or None
        for index in range(len(self._tracks)):
            self._begin(index, observations, options)
        return result

    def step(self, actions: Any) -> Any:
        copies = [
            action if action.__class__ is int else track.copy_action(action)
            for action, track in zip(actions, self._tracks)
        ]
        result = self._inner_step(actions)
        observations, rewards, terminated, truncated, _ = result
        for index, track in enumerate(self._tracks):
            if self._is_over[index]:
                self._begin(index, observations, None)  # the action was not looked at
                continue
            ended = bool(terminated[index] or truncated[index])
            # After an end at which the next episode begins at once, the row shows that one.
            shown = None if ended and not self._resets_in_next_step else observations[index]
            track.step(
                copies[index], shown, rewards[index], terminated[index], truncated[index], {}
            )
            if ended and self._resets_in_next_step:
                self._is_over[index] = True
            elif ended:
                self._begin(index, observations, None)
        return result

    def _begin(self, index: int, observations: Any, options: Any) -> None:
        self._is_over[index] = False
        columns = _state_columns(self._envs)
        start = None
        if columns is not None:
            start = {"kind": STATE, "data": column_text(columns[:, index])}
        reason = None if start else _reason(self._envs)
        self._tracks[index].begin(None, start, options, observations[index], {}, reason)


def _environment(envs: Any, reason: str | None) -> dict[str, Any]:
    spec = getattr(envs, "spec", None)
    given = dict(spec.kwargs) if spec is not None else {}
    limit = getattr(spec, "max_episode_steps", None) or given.get("max_episode_steps")
    fields = {
        "env_id": str(spec.id) if spec is not None else type(envs).__name__,
        "env_kwargs": {name: each for name, each in given.items() if name not in _OF_THE_VECTOR},
        "max_episode_steps": limit,
        "action_space": describe_space(getattr(envs, "single_action_space", None)),
        "observation_space": describe_space(getattr(envs, "single_observation_space", None)),
        "render_fps": steps_per_second(envs),
    }
    return {**fields, "not_replayable": reason} if reason else fields


def _state_columns(envs: Any) -> Any:
    """The state with a column for each part; None when there is none."""
    state = getattr(envs, "state", None)
    shape: tuple[int, ...] = getattr(state, "shape", ())
    return state if len(shape) == 2 and shape[1] == envs.num_envs else None


def _was_reset(envs: Any) -> bool:
    """Before the first reset a custom environment has no state yet, and one may come."""
    return getattr(envs, "state", False) is not None


def _reason(envs: Any) -> str:
    return IN_OTHER_PROCESSES if hasattr(envs, "processes") else NO_STATE


def _resets_in_next_step(envs: Any) -> bool:
    """Before gymnasium 1.0 there was no other way than at once, and no word for it."""
    mode = (getattr(envs, "metadata", None) or {}).get("autoreset_mode")
    return getattr(mode, "name", str(mode)) == "NEXT_STEP"


def _announcing(
    inner_close: Callable[..., Any], on_close: Callable[[], None]
) -> Callable[..., Any]:
    def close(*args: Any, **keywords: Any) -> Any:
        on_close()
        return inner_close(*args, **keywords)

    return close
