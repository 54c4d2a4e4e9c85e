"""Instruments one environment: replaces its `step`, `reset` and `close` by ones that record.

They are replaced on the instance that `gymnasium.make` returned, so wrappers around it do not
matter. `WrapperBypass` skips the wrappers of `make` once they only forward calls: `OrderEnforcing`
and `PassiveEnvChecker` check the first reset and steps, and `TimeLimit` counts. Forwarding takes as
long as recording a step by columns.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.json_values import JsonConverter
from mosaic_worker.recording.recorded_step import make_recorded_step
from mosaic_worker.recording.start_states import make_capturer, make_reset_preparer
from mosaic_worker.scalars import to_int

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.line_writer import LineWriter
    from mosaic_worker.recording.env_trace import EnvTrace

_REPLACED = ("step", "reset", "close", "__reduce_ex__")
_WRAPPERS_PACKAGE = "gymnasium.wrappers"
_TIME_LIMIT = "TimeLimit"

_DONE_FLAGS = {
    _TIME_LIMIT: (),
    "OrderEnforcing": ("_has_reset",),
    "PassiveEnvChecker": ("checked_reset", "checked_step", "checked_data_reuse"),
}
_KNOWN_NAMES = frozenset(
    {
        *("env", "step", "reset", "super", "_elapsed_steps", "_max_episode_steps", "_has_reset"),
        *("ResetNeeded", "checked_reset", "checked_step", "checked_data_reuse", "_previous_data"),
        *("env_reset_passive_checker", "env_step_passive_checker"),
        "env_data_reuse_passive_checker",
    }
)
"""All names that their methods use; a method that uses others does more, and is not bypassed."""

UNRECORDED_START = "An episode started without a seed, and its random generator cannot be recorded."
INVALID_SEED = "An episode started with a seed that is not an integer."
INVALID_OPTIONS = "An episode started with options that cannot be written as JSON."


def instrument(
    env: Any,
    trace: EnvTrace,
    writer: LineWriter,
    detail: str,
    on_close: Callable[[], None],
) -> Callable[[], None]:
    """Record `env` in `trace`; returns a function that removes the instrumentation.

    Exceptions of the environment pass through unchanged. Steps outside an episode, before the
    first reset or after its end, are not recorded.
    """
    before = {name: getattr(env, name) for name in _REPLACED}
    bypass = WrapperBypass(env)
    env.step = make_recorded_step(bypass, trace, writer, detail)
    env.reset = _make_recorded_reset(env, trace, bypass)
    env.close = _make_close(before["close"], on_close)
    env.__reduce_ex__ = _make_reduce_ex(env)

    def remove() -> None:
        # Accessing `__dict__` would slow down all later attribute lookups of the environment.
        for name, method in before.items():
            delattr(env, name)
            if getattr(env, name) != method:
                setattr(env, name, method)

    return remove


def _make_recorded_reset(env: Any, trace: EnvTrace, bypass: WrapperBypass) -> Callable[..., Any]:
    capture = make_capturer(env)
    inner_reset = env.reset
    prepare = make_reset_preparer(env)

    def reset(*args: Any, **keywords: Any) -> Any:
        if trace.is_open:
            trace.interrupt()
        if prepare is not None:
            prepare()
        if keywords or args:
            return reset_with_arguments(args, keywords)
        if not bypass.is_decided:
            bypass.update()
        captured = capture()
        if bypass.is_active:
            if bypass.limit is not None:
                bypass.limit._elapsed_steps = 0  # noqa: SLF001 - private
            result = bypass.env.reset(seed=None, options=None)
        else:
            result = inner_reset()
        observation, info = result
        reason = UNRECORDED_START if captured is None else None
        trace.start_episode(None, captured, None, observation, info, reason)
        return result

    def reset_with_arguments(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        given = keywords.get("seed", args[0] if args else None)
        captured = capture() if given is None else None
        result = inner_reset(*args, **keywords)
        observation, info = result
        seed, seed_problem = _plain_seed(given)
        options, options_problem = _plain_options(keywords.get("options"))
        reason = seed_problem or options_problem
        if given is None and captured is None:
            reason = UNRECORDED_START
        trace.start_episode(seed, captured, options, observation, info, reason)
        return result

    return reset


def _make_close(inner_close: Callable[[], Any], on_close: Callable[[], None]) -> Callable[[], Any]:
    def close() -> Any:
        on_close()
        return inner_close()

    return close


def _plain_seed(given: Any) -> tuple[int | None, str | None]:
    """The seed as it is recorded, or why it cannot be."""
    if given is None:
        return None, None
    try:
        return to_int("seed", given), None
    except WorkerError:
        return None, INVALID_SEED


def _plain_options(given: Any) -> tuple[Any, str | None]:
    """The options as they are recorded, or why they cannot be."""
    if not given:
        return None, None
    converter = JsonConverter()
    plain = converter.convert("options", given)
    return (None, INVALID_OPTIONS) if converter.unserializable else (plain, None)


def _make_reduce_ex(env: Any) -> Callable[[Any], Any]:
    """For `copy.deepcopy` and `pickle`: copies are not recorded."""

    def reduce_ex(protocol: Any) -> Any:
        reduce_class: Any = type(env).__reduce_ex__
        reduced = reduce_class(env, protocol)
        if isinstance(reduced, str) or len(reduced) < 3 or not isinstance(reduced[2], dict):
            return reduced
        state = {name: value for name, value in reduced[2].items() if name not in _REPLACED}
        return (*reduced[:2], state, *reduced[3:])

    return reduce_ex


class WrapperBypass:
    """Call `step` of `env`: the outermost layer at first, the innermost once `is_active`.

    Then the caller must maintain the step count of `limit`, if there is one: increment it with each
    step, and set it to 0 with each reset.
    """

    __slots__ = ("_base_env", "env", "is_active", "is_decided", "limit")

    def __init__(self, base_env: Any) -> None:
        self.env: Any = SimpleNamespace(step=base_env.step, reset=base_env.reset)
        self.limit: Any = None
        self.is_active = False
        self.is_decided = not _only_forwards(base_env)
        """Whether `update` would change nothing."""
        self._base_env = base_env

    def update(self) -> None:
        """Bypass the wrappers if they are done. Call it between episodes until `is_decided`."""
        below, limit = self._base_env, None
        while below is self._base_env or _only_forwards(below):  # the base is already instrumented
            kind = type(below).__name__
            if not all(vars(below).get(name, True) for name in _DONE_FLAGS[kind]):
                return
            if kind == _TIME_LIMIT:
                limit = below
            below = below.env
        self.env, self.limit = below, limit
        self.is_decided = self.is_active = True


def _only_forwards(layer: Any) -> bool:
    kind: Any = type(layer)
    if kind.__name__ not in _DONE_FLAGS or not kind.__module__.startswith(_WRAPPERS_PACKAGE):
        return False
    return all(
        _is_known_method(getattr(layer, name), getattr(kind, name)) for name in ("step", "reset")
    )


def _is_known_method(method: Any, function: Any) -> bool:
    """Whether the method is the original one, and uses only known names."""
    is_own = getattr(method, "__func__", None) is function
    return is_own and _KNOWN_NAMES.issuperset(function.__code__.co_names)
