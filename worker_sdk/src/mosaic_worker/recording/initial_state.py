"""The initial state of one sub-environment of a custom vector environment, as text."""

from __future__ import annotations

from typing import Any

from mosaic_worker.errors import WorkerError


def column_text(column: Any) -> str:
    """`dtype:bytes`, in hexadecimal so that every bit is kept."""
    return f"{column.dtype.str}:{column.tobytes().hex()}"


def set_initial_state(unwrapped: Any, text: str) -> Any:
    """Put the recorded state into an environment that has just been reset; returns the state."""
    import numpy as np  # noqa: PLC0415 - optional, and start-up counts

    dtype, _, digits = text.partition(":")
    try:
        state = np.frombuffer(bytes.fromhex(digits), dtype=np.dtype(dtype)).copy()
    except (TypeError, ValueError) as error:
        raise WorkerError(
            "The recorded initial state cannot be read.",
            remedy="The record is damaged; look at its telemetry instead.",
        ) from error
    if getattr(unwrapped, "state", np.empty(0)).shape != state.shape:
        raise WorkerError(
            f"The recorded initial state does not fit {type(unwrapped).__name__}.",
            remedy="Replay it with the packages that it was recorded with.",
        )
    unwrapped.state = state
    return state
