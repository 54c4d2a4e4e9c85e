"""What the start of an episode depends on: captured before a reset, restored for a replay.

Used by the recorder and by the resimulation. What is exact for which family was measured: a seed
for all of them; without one the state of `np_random`, or of the emulator for Atari; and Box2D
needs a new world besides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.errors import WorkerError
from mosaic_worker.recording.box2d_world import keeps_world, renew_world
from mosaic_worker.recording.emulator_state import (
    emulator_state,
    is_emulator,
    set_emulator_state,
)
from mosaic_worker.recording.initial_state import set_initial_state
from mosaic_worker.recording.random_state import set_state, state_reader, state_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PCG64 = "pcg64"
ALE = "ale"
STATE = "state"

_BETWEEN = ";"  # neither base64 nor hexadecimal has it


def capture(env: Any) -> dict[str, str] | None:
    """What an unseeded reset of `env` will depend on; None when that cannot be told."""
    return start_fields(capturer(env)())


def capturer(env: Any) -> Callable[[], bytes | dict[str, str] | None]:
    """`capture` for one environment, with what depends on its family decided once.

    What it returns is for `start_fields`: the less is done before a reset, the better.
    """
    unwrapped = env.unwrapped if hasattr(env, "unwrapped") else env
    read_numbers = state_reader(unwrapped)

    def capture_emulator() -> dict[str, str]:
        read = read_numbers()  # some games skip a random number of frames
        numbers = "" if read is None else state_text(read)
        return {"kind": ALE, "data": f"{emulator_state(unwrapped)}{_BETWEEN}{numbers}"}

    return capture_emulator if is_emulator(unwrapped) else read_numbers


def start_fields(captured: bytes | dict[str, str] | None) -> dict[str, str] | None:
    """What a capturer returned, as it is written."""
    if isinstance(captured, bytes):
        return {"kind": PCG64, "data": state_text(captured)}
    return captured


def restore(
    env: Any,
    seed: int | None,
    start: Any = None,
    options: Mapping[str, Any] | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Reset `env`, newly made, to a recorded start; returns what `reset` returned.

    `start` has `kind` and `data`, as keys or as attributes. WorkerError when neither it nor a seed
    is given, or when it cannot be read.
    """
    prepare_reset(env)
    given = {} if options is None else {"options": dict(options)}
    if seed is not None:
        observation, info = env.reset(seed=seed, **given)
        return observation, info
    kind, data = _parts(start)
    unwrapped = env.unwrapped
    if kind == PCG64:
        set_state(unwrapped, data)
    elif kind == ALE:
        machine, _, numbers = data.partition(_BETWEEN)
        set_emulator_state(unwrapped, machine)
        if numbers:
            set_state(unwrapped, numbers)
    observation, info = env.reset(**given)
    if kind == STATE:
        state = set_initial_state(unwrapped, data)
        if getattr(observation, "shape", None) == state.shape:
            observation = state.astype(observation.dtype)
    return observation, info


def prepare_reset(env: Any) -> None:
    """What a reset needs to be replayable; before every recorded one and every replayed one."""
    unwrapped = env.unwrapped if hasattr(env, "unwrapped") else env
    if keeps_world(unwrapped):
        renew_world(unwrapped)


def preparer(env: Any) -> Callable[[], None] | None:
    """`prepare_reset` for one environment; None when it needs nothing."""
    unwrapped = env.unwrapped if hasattr(env, "unwrapped") else env
    return (lambda: renew_world(unwrapped)) if keeps_world(unwrapped) else None


def _parts(start: Any) -> tuple[str, str]:
    if start is None:
        raise WorkerError(
            "The episode's start was not recorded.", remedy="Look at its telemetry instead."
        )
    if isinstance(start, dict):
        kind, data = start.get("kind"), start.get("data")
    else:
        kind, data = getattr(start, "kind", None), getattr(start, "data", None)
    if kind not in (PCG64, ALE, STATE) or not isinstance(data, str):
        raise WorkerError(
            f"The episode's start is of a kind that is not known here: {kind!r}.",
            remedy="Replay it with the version of MOSAIC that recorded it.",
        )
    return kind, data
