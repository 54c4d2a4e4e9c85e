"""Pictures as bytes row by row, in as little time as can be: they are drawn on every step.

Many environments turn a picture without moving its pixels; moving them one by one takes three
times as long as moving each pixel as a whole.
"""

from __future__ import annotations

from typing import Any


def in_rows(picture: Any) -> Any:
    """The array itself, or a copy of it that lies row by row in memory."""
    if picture.flags.c_contiguous:
        return picture
    import numpy as np  # noqa: PLC0415 - whoever has an array has it

    if picture.ndim == 3 and picture.strides[2] == 1:
        try:
            whole_pixels = picture.view(f"V{picture.shape[2]}")
        except ValueError:  # numpy before 1.23 wants more than that to lie in a row
            return np.ascontiguousarray(picture)
        return np.ascontiguousarray(whole_pixels).view(picture.dtype)
    return np.ascontiguousarray(picture)
