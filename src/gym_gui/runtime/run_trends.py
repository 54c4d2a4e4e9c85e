"""How returns of a run went lately, in a few points, for the small line in the list of runs."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mosaic.client import TrainerClient

POINTS = 48
_EPISODES_PER_POINT = 10
_MIN_POINTS = 8


def recent_trend(client: "TrainerClient", run_id: str) -> tuple[float, ...]:
    """Means of neighbouring finished episodes, oldest first. Raises `UserError`."""
    page = client.episodes_page(run_id, count=POINTS * _EPISODES_PER_POINT, descending=True)
    returns = [each.total_return for each in reversed(page.episodes) if each.is_over]
    size = max(1, min(_EPISODES_PER_POINT, len(returns) // _MIN_POINTS))
    starts = range(0, len(returns), size)
    parts = (returns[start : start + size] for start in starts)
    return tuple(sum(part) / len(part) for part in parts)
