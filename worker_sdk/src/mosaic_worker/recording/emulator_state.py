"""The state of an Atari emulator, its own random numbers included, as text.

The random numbers of the environment alone do not do: the emulator has its own, and keeps more
from one game to the next.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

from mosaic_worker.errors import WorkerError

_QUICK = 1  # as small as the other levels within two per cent, in half the time


def is_emulator(unwrapped: Any) -> bool:
    return hasattr(getattr(unwrapped, "ale", None), "cloneState")


def emulator_state(unwrapped: Any) -> str:
    """The whole machine, compressed."""
    state = unwrapped.ale.cloneState(include_rng=True)
    return base64.b64encode(zlib.compress(state.serialize(), _QUICK)).decode("ascii")


def set_emulator_state(unwrapped: Any, text: str) -> None:
    """Bring the emulator to the state that `emulator_state` gave."""
    import ale_py  # noqa: PLC0415 - optional, and start-up counts

    try:
        serialized = zlib.decompress(base64.b64decode(text, validate=True))
    except (ValueError, zlib.error) as error:
        raise WorkerError(
            "The recorded state of the emulator cannot be read.",
            remedy="The record is damaged; look at its telemetry instead.",
        ) from error
    unwrapped.ale.restoreState(ale_py.ALEState(serialized))
