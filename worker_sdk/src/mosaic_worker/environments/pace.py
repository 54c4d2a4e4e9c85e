"""How fast an environment is meant to be watched: for sessions, for the record and for replays."""

from __future__ import annotations

import math
from typing import Any

_CONSOLE_FRAMES_PER_SECOND = 60.0


def steps_per_second(env: Any) -> float | None:
    """How many steps make a second of play; None when the environment does not say.

    An Atari game says 30 whatever it skips, which is up to twice as fast as the console.
    """
    unwrapped = getattr(env, "unwrapped", env)
    if hasattr(unwrapped, "ale"):
        skipped = _mean_skip(getattr(unwrapped, "_frameskip", None))
        if skipped:
            return _CONSOLE_FRAMES_PER_SECOND / skipped
    told = (getattr(unwrapped, "metadata", None) or {}).get("render_fps")
    if isinstance(told, bool) or not isinstance(told, (int, float)):
        return None
    return float(told) if told > 0 and math.isfinite(told) else None


def _mean_skip(skip: Any) -> float:
    """A number, or the bounds between which it is drawn for each step, the upper one excluded."""
    if isinstance(skip, int):
        return float(skip)
    if isinstance(skip, (tuple, list)) and len(skip) == 2:
        return float(skip[0] + skip[1] - 1) / 2
    return 0.0
