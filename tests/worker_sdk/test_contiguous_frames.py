"""`make_contiguous` returns the same pixels for any memory layout."""

import numpy as np
import pytest

from mosaic_worker.frames import make_contiguous

PIXELS = np.arange(4 * 6 * 4, dtype=np.uint8).reshape(4, 6, 4)


@pytest.mark.parametrize(
    "image",
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
        "transposed",
        "cropped",
        "cropped-transposed",
        "flipped",
        "bgr",
        "grey",
        "grey-transposed",
        "one-channel",
    ],
)
def test_rows_have_the_same_pixels(image: np.ndarray) -> None:
    """Only the memory layout changes."""
    rows = make_contiguous(image)
    assert rows.flags.c_contiguous
    assert (rows.dtype, rows.shape) == (image.dtype, image.shape)
    assert (rows == image).all()
