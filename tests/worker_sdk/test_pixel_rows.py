"""Frames are written row by row, whatever their memory layout."""

import numpy as np
import pytest

from mosaic_worker.frames import make_contiguous

PIXELS = np.arange(4 * 6 * 4, dtype=np.uint8).reshape(4, 6, 4)


@pytest.mark.parametrize(
    "picture",
    [
        PIXELS,
        PIXELS.transpose(1, 0, 2),
        PIXELS[:, :, :3],
        PIXELS[:, :, :3].transpose(1, 0, 2),
        PIXELS[::-1],
        PIXELS[:, :, ::-1],
        PIXELS[:, :, 0],
        PIXELS[:, :, 0].T,
        PIXELS[:, :, :1].transpose(1, 0, 2),
    ],
    ids=[
        "as-is",
        "turned",
        "cut",
        "cut-turned",
        "upside-down",
        "bgr",
        "grey",
        "grey-turned",
        "one",
    ],
)
def test_rows_have_the_same_pixels(picture: np.ndarray) -> None:
    """Only the memory layout changes."""
    rows = make_contiguous(picture)
    assert rows.flags.c_contiguous
    assert (rows.dtype, rows.shape) == (picture.dtype, picture.shape)
    assert (rows == picture).all()
