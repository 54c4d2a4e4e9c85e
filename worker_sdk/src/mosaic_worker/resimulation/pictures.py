"""What an environment draws, as bytes row by row; and in words why there is nothing to see."""

from __future__ import annotations

from typing import Any, NamedTuple

from mosaic_worker.pixel_rows import in_rows

NOTHING_DRAWN = "The environment drew nothing."
_LONGEST_REASON = 300


class Picture(NamedTuple):
    """`height` rows of `width` pixels of `channels` bytes; or a problem instead."""

    width: int = 0
    height: int = 0
    channels: int = 0
    pixels: memoryview | None = None
    problem: str = ""


def draw(env: Any) -> Picture:
    """The environment as it stands. Never raises: a picture less is no reason to stop."""
    try:
        return _picture(env.render())
    except Exception as error:  # noqa: BLE001 - the edge to foreign code: the replay goes on
        reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        return Picture(problem=f"render() raised {reason}")


def _picture(drawn: Any) -> Picture:
    import numpy as np  # noqa: PLC0415 - of the bundle, and start-up counts

    if drawn is None:
        return Picture(problem=NOTHING_DRAWN)
    if isinstance(drawn, list) and drawn:  # a wrapper that collects frames
        drawn = drawn[-1]
    if not isinstance(drawn, np.ndarray) or drawn.ndim not in (2, 3) or 0 in drawn.shape:
        return Picture(problem=f"render() gave no picture but {_in_words(drawn)}.")
    channels = 1 if drawn.ndim == 2 else drawn.shape[2]
    if channels not in (1, 3, 4) or drawn.dtype != np.uint8:
        return Picture(problem=f"render() gave a picture that is {_in_words(drawn)}.")
    height, width = drawn.shape[:2]
    return Picture(width, height, channels, memoryview(in_rows(drawn)).cast("B"))


def _in_words(value: Any) -> str:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return kind if shape is None else f"{kind} of {shape} {value.dtype}"
