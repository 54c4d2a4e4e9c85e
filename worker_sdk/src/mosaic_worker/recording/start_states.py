"""The state that the start of an episode depends on: captured before a reset, restored for replay.

Used by the recorder and resimulation. A seed is exact for every family. Without one, the state of
`np_random` is captured, or for Atari the state of the emulator, which has its own random generator
and keeps data between games. Box2D environments also need a new world: BipedalWalker, and
LunarLander before gymnasium 1.0, reuse theirs, so that the same actions would have other results.
"""

from __future__ import annotations

import base64
import zlib
from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.rng_state import format_state, make_state_reader, set_state

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PCG64 = "pcg64"
ALE = "ale"
STATE = "state"

_SEPARATOR = ";"  # occurs neither in base64 nor in hexadecimal
_BOX2D_PACKAGE = "gymnasium.envs.box2d."
_COMPRESSION_LEVEL = 1  # within two per cent of higher levels, in half the time


def capture(env: Any) -> dict[str, str] | None:
    """The state that an unseeded reset of `env` depends on; None if it cannot be captured."""
    return start_fields(make_capturer(env)())


def make_capturer(env: Any) -> Callable[[], bytes | dict[str, str] | None]:
    """A fast `capture` for one environment; pass its result to `start_fields` later."""
    unwrapped = env.unwrapped if hasattr(env, "unwrapped") else env
    read_rng = make_state_reader(unwrapped)

    def capture_emulator() -> dict[str, str]:
        read = read_rng()  # some games skip a random number of frames
        rng = "" if read is None else format_state(read)
        return {"kind": ALE, "data": f"{read_emulator_state(unwrapped)}{_SEPARATOR}{rng}"}

    return capture_emulator if is_emulator(unwrapped) else read_rng


def start_fields(captured: bytes | dict[str, str] | None) -> dict[str, str] | None:
    """The result of a capturer, as it is written in the `episode_start` line."""
    if isinstance(captured, bytes):
        return {"kind": PCG64, "data": format_state(captured)}
    return captured


def restore(
    env: Any,
    seed: int | None,
    start: Any = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Reset the new environment `env` to a recorded start; returns the result of `reset`.

    `start` has `kind` and `data`, as keys or as attributes. Raises WorkerError if there is neither
    a start nor a seed, or if the start cannot be read.
    """
    prepare_reset(env)
    given = {} if options is None else {"options": dict(options)}
    if seed is not None:
        observation, info = env.reset(seed=seed, **given)
        return observation, info
    kind, data = _kind_and_data(start)
    unwrapped = env.unwrapped
    if kind == PCG64:
        set_state(unwrapped, data)
    elif kind == ALE:
        emulator, _, rng = data.partition(_SEPARATOR)
        set_emulator_state(unwrapped, emulator)
        if rng:
            set_state(unwrapped, rng)
    observation, info = env.reset(**given)
    if kind == STATE:
        state = set_initial_state(unwrapped, data)
        if getattr(observation, "shape", None) == state.shape:
            observation = state.astype(observation.dtype)
    return observation, info


def prepare_reset(env: Any) -> None:
    """Prepare a replayable reset; call it before every recorded and every replayed one."""
    unwrapped = env.unwrapped if hasattr(env, "unwrapped") else env
    if reuses_box2d_world(unwrapped):
        replace_box2d_world(unwrapped)


def make_reset_preparer(env: Any) -> Callable[[], None] | None:
    """A fast `prepare_reset` for one environment; None if there is nothing to do."""
    unwrapped = env.unwrapped if hasattr(env, "unwrapped") else env
    return (lambda: replace_box2d_world(unwrapped)) if reuses_box2d_world(unwrapped) else None


def _kind_and_data(start: Any) -> tuple[str, str]:
    if start is None:
        raise WorkerError(
            "The episode's start was not recorded.", remedy="Its telemetry can still be viewed."
        )
    if isinstance(start, dict):
        kind, data = start.get("kind"), start.get("data")
    else:
        kind, data = getattr(start, "kind", None), getattr(start, "data", None)
    if kind not in (PCG64, ALE, STATE) or not isinstance(data, str):
        raise WorkerError(
            f"The recorded start of the episode has the unknown kind {kind!r}.",
            remedy="Replay it with the version of MOSAIC that recorded it.",
        )
    return kind, data


def reuses_box2d_world(unwrapped: Any) -> bool:
    """Whether it is a Box2D environment of gymnasium, some of which reuse their world."""
    is_box2d = any(base.__module__.startswith(_BOX2D_PACKAGE) for base in type(unwrapped).__mro__)
    return is_box2d and hasattr(unwrapped, "world") and hasattr(unwrapped, "_destroy")


def replace_box2d_world(unwrapped: Any) -> None:
    """Create an empty world with the same gravity, to be filled by the next reset."""
    old = unwrapped.world
    unwrapped._destroy()  # noqa: SLF001 - destroys the bodies before their world
    unwrapped.world = type(old)(gravity=old.gravity)


def is_emulator(unwrapped: Any) -> bool:
    return hasattr(getattr(unwrapped, "ale", None), "cloneState")


def read_emulator_state(unwrapped: Any) -> str:
    """The state of the Atari emulator including its random generator, as compressed text."""
    state = unwrapped.ale.cloneState(include_rng=True)
    return base64.b64encode(zlib.compress(state.serialize(), _COMPRESSION_LEVEL)).decode("ascii")


def set_emulator_state(unwrapped: Any, text: str) -> None:
    """Restore a state returned by `read_emulator_state`."""
    import ale_py  # noqa: PLC0415 - optional, and slow to import

    try:
        serialized = zlib.decompress(base64.b64decode(text, validate=True))
    except (ValueError, zlib.error) as error:
        raise WorkerError(
            "The recorded state of the emulator cannot be read.",
            remedy="The record is damaged; its telemetry can still be viewed.",
        ) from error
    unwrapped.ale.restoreState(ale_py.ALEState(serialized))


def format_initial_state(column: Any) -> str:
    """The state of one sub-environment as `dtype:bytes`, in hexadecimal to keep every bit."""
    return f"{column.dtype.str}:{column.tobytes().hex()}"


def set_initial_state(unwrapped: Any, text: str) -> Any:
    """Set the recorded state of an environment that was just reset; returns the state."""
    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    dtype, _, digits = text.partition(":")
    try:
        state = np.frombuffer(bytes.fromhex(digits), dtype=np.dtype(dtype)).copy()
    except (TypeError, ValueError) as error:
        raise WorkerError(
            "The recorded initial state cannot be read.",
            remedy="The record is damaged; its telemetry can still be viewed.",
        ) from error
    if getattr(unwrapped, "state", np.empty(0)).shape != state.shape:
        raise WorkerError(
            f"The recorded initial state does not match {type(unwrapped).__name__}.",
            remedy="Replay it with the package versions of the recording.",
        )
    unwrapped.state = state
    return state
