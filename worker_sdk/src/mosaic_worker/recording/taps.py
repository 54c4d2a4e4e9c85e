"""Listens at one environment: its `step`, `reset` and `close` are replaced by ones that record.

They are replaced on the instance that `gymnasium.make` returned. Wrappers that are put around it,
before or after, neither notice nor matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.plain import Plainer
from mosaic_worker.recording.hot_steps import recording_step
from mosaic_worker.recording.short_way import ShortWay
from mosaic_worker.recording.starts import capturer, preparer
from mosaic_worker.scalars import whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from mosaic_worker.line_writer import LineWriter
    from mosaic_worker.recording.track import Track

_REPLACED = ("step", "reset", "close", "__reduce_ex__")

UNKNOWN_START = (
    "An episode began without a seed, and its random numbers are none that can be recorded."
)
ODD_SEED = "An episode began with a seed that is no whole number."
ODD_OPTIONS = "An episode began with options that cannot be written as JSON."


def tap(
    env: Any,
    track: Track,
    writer: LineWriter,
    detail: str,
    on_close: Callable[[], None],
) -> Callable[[], None]:
    """Record what happens at `env` on `track`; returns what ends that.

    What the environment raises passes through unchanged. Steps outside an episode, before the
    first reset or after an end, are not recorded.
    """
    before = {name: getattr(env, name) for name in _REPLACED}
    way = ShortWay(env)
    env.step = recording_step(way, track, writer, detail)
    env.reset = _recording_reset(env, track, way)
    env.close = _announcing_close(before["close"], on_close)
    env.__reduce_ex__ = _reduce_without_taps(env)

    def untap() -> None:
        # Asking for `__dict__` would slow down every attribute of the environment from then on.
        for name, method in before.items():
            delattr(env, name)
            if getattr(env, name) != method:
                setattr(env, name, method)

    return untap


def _recording_reset(env: Any, track: Track, way: ShortWay) -> Callable[..., Any]:
    capture = capturer(env)
    inner_reset = env.reset
    prepare = preparer(env)

    def reset(*args: Any, **keywords: Any) -> Any:
        if track.is_open:
            track.cut()
        if prepare is not None:
            prepare()
        if keywords or args:
            return reset_as_told(args, keywords)
        if not way.is_settled:
            way.look()
        captured = capture()
        if way.is_taken:
            if way.limit is not None:
                way.limit._elapsed_steps = 0  # noqa: SLF001 - see ShortWay
            result = way.env.reset(seed=None, options=None)
        else:
            result = inner_reset()
        observation, info = result
        reason = UNKNOWN_START if captured is None else None
        track.begin(None, captured, None, observation, info, reason)
        return result

    def reset_as_told(args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        given = keywords.get("seed", args[0] if args else None)
        captured = capture() if given is None else None
        result = inner_reset(*args, **keywords)
        observation, info = result
        seed, odd_seed = _plain_seed(given)
        options, odd_options = _plain_options(keywords.get("options"))
        reason = odd_seed or odd_options
        if given is None and captured is None:
            reason = UNKNOWN_START
        track.begin(seed, captured, options, observation, info, reason)
        return result

    return reset


def _announcing_close(
    inner_close: Callable[[], Any], on_close: Callable[[], None]
) -> Callable[[], Any]:
    def close() -> Any:
        on_close()
        return inner_close()

    return close


def _plain_seed(given: Any) -> tuple[int | None, str | None]:
    """The seed as it is written, and why it cannot be."""
    if given is None:
        return None, None
    try:
        return whole("seed", given), None
    except WorkerError:
        return None, ODD_SEED


def _plain_options(given: Any) -> tuple[Any, str | None]:
    """The options as they are written, and why they cannot be."""
    if not given:
        return None, None
    plainer = Plainer()
    plain = plainer.plain("options", given)
    return (None, ODD_OPTIONS) if plainer.odd else (plain, None)


def _reduce_without_taps(env: Any) -> Callable[[Any], Any]:
    """For `copy.deepcopy` and `pickle`: a copy steps itself, and is not recorded."""

    def reduce_ex(protocol: Any) -> Any:
        reduce_class: Any = type(env).__reduce_ex__
        reduced = reduce_class(env, protocol)
        if isinstance(reduced, str) or len(reduced) < 3 or not isinstance(reduced[2], dict):
            return reduced
        state = {name: value for name, value in reduced[2].items() if name not in _REPLACED}
        return (*reduced[:2], state, *reduced[3:])

    return reduce_ex
