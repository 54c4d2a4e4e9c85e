"""Blackjack: hit below a threshold that depends on the dealer's card."""

from __future__ import annotations

from typing import Any

STICK, HIT = 0, 1

WEAK_DEALER = range(2, 7)  # likely to bust
STICK_AT = 17
STICK_AT_WEAK_DEALER = 12
STICK_AT_WITH_ACE = 18  # a usable ace can still count as 1


class BlackjackPlayer:
    """Takes no risk while the dealer is likely to bust."""

    def __init__(self, env: Any) -> None:
        """Needs only the observations."""

    def act(self, observation: Any, info: dict[str, Any]) -> int:  # noqa: ARG002 - interface
        player_sum, dealer_card, has_soft_ace = (int(value) for value in observation)
        if has_soft_ace:
            threshold = STICK_AT_WITH_ACE
        else:
            threshold = STICK_AT_WEAK_DEALER if dealer_card in WEAK_DEALER else STICK_AT
        return STICK if player_sum >= threshold else HIT
