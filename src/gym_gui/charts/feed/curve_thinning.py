"""Few points for many, with every spike kept. For curves that are in memory already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def thinned(x: NDArray[Any], y: NDArray[Any], pairs: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The smallest and the largest of neighbours, so that spikes stay; all where there is room."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    size = -(-len(x) // max(pairs, 1))
    if size <= 2:
        return x, y
    whole = len(x) // size * size
    blocks = y[:whole].reshape(-1, size)
    low = np.where(np.isnan(blocks), np.inf, blocks).argmin(axis=1)
    high = np.where(np.isnan(blocks), -np.inf, blocks).argmax(axis=1)
    starts = np.arange(0, whole, size)
    kept = np.stack((starts + np.minimum(low, high), starts + np.maximum(low, high)), axis=1)
    chosen = np.append(kept.ravel(), _ends_of(y, whole))
    return x[chosen], y[chosen]


def _ends_of(y: NDArray[Any], first: int) -> NDArray[Any]:
    """The extremes of what is left, and the last point, where the curve has to end."""
    import numpy as np  # noqa: PLC0415 - see `curves.py`

    rest = y[first:]
    last = len(y) - 1
    if not len(rest) or np.isnan(rest).all():
        return np.array([last])
    return np.unique([first + np.nanargmin(rest), first + np.nanargmax(rest), last])
