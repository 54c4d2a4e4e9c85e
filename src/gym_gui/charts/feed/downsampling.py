"""Downsampling of curves in memory. Minima and maxima are extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def downsample(x: NDArray[Any], y: NDArray[Any], pairs: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Minimum and maximum of each block, so that spikes stay; all points if they fit."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    size = -(-len(x) // max(pairs, 1))
    if size <= 2:
        return x, y
    block_end = len(x) // size * size
    blocks = y[:block_end].reshape(-1, size)
    low = np.where(np.isnan(blocks), np.inf, blocks).argmin(axis=1)
    high = np.where(np.isnan(blocks), -np.inf, blocks).argmax(axis=1)
    starts = np.arange(0, block_end, size)
    extremes = np.stack((starts + np.minimum(low, high), starts + np.maximum(low, high)), axis=1)
    chosen = np.append(extremes.ravel(), _tail_indices(y, block_end))
    return x[chosen], y[chosen]


def _tail_indices(y: NDArray[Any], first: int) -> NDArray[Any]:
    """Indices of the extremes after the last full block, and of the last point."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    tail = y[first:]
    last = len(y) - 1
    if not len(tail) or np.isnan(tail).all():
        return np.array([last])
    return np.unique([first + np.nanargmin(tail), first + np.nanargmax(tail), last])
