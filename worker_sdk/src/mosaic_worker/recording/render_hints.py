"""What a grid or text view needs to draw a step, and its observation lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MINIGRID = "minigrid."
_BLACKJACK = "BlackjackEnv"


def render_hinter(env: Any) -> Callable[[], dict[str, Any]] | None:
    """A function for the hint of the newest step; None when the observation shows everything."""
    unwrapped = getattr(env, "unwrapped", env)
    if _comes_from(unwrapped, _MINIGRID) and hasattr(unwrapped, "grid"):
        return lambda: _whole_grid(unwrapped)
    if type(unwrapped).__name__ == _BLACKJACK:
        return lambda: {"player": _cards(unwrapped.player), "dealer": _cards(unwrapped.dealer)}
    return None


def _whole_grid(unwrapped: Any) -> dict[str, Any]:
    """Every cell as MiniGrid encodes it, and the agent, whom that encoding leaves out."""
    column, row = unwrapped.agent_pos
    hint = {
        "grid": unwrapped.grid.encode().tolist(),
        "agent": [int(column), int(row)],
        "dir": int(unwrapped.agent_dir),
    }
    if unwrapped.carrying is not None:
        hint["carrying"] = [int(code) for code in unwrapped.carrying.encode()]
    return hint


def _cards(hand: Any) -> list[int]:
    return [int(card) for card in hand]


def _comes_from(unwrapped: Any, package: str) -> bool:
    return any(base.__module__.startswith(package) for base in type(unwrapped).__mro__)
