"""Blackjack: draw by a threshold that depends on what the dealer shows."""

from __future__ import annotations

from typing import Any

STICK, HIT = 0, 1

WEAK_DEALER = range(2, 7)  # likely to go over 21
ENOUGH = 17
ENOUGH_AGAINST_WEAK = 12
ENOUGH_WITH_ACE = 18  # an ace that counts 11 can still become 1


class BlackjackPlayer:
    """Risks nothing while the dealer is likely to lose alone."""

    def __init__(self, env: Any) -> None:
        """Plays by the observation alone."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - of all actors
        own, shown, has_soft_ace = (int(value) for value in observation)
        if has_soft_ace:
            enough = ENOUGH_WITH_ACE
        else:
            enough = ENOUGH_AGAINST_WEAK if shown in WEAK_DEALER else ENOUGH
        return STICK if own >= enough else HIT
