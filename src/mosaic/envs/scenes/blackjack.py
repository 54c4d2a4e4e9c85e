"""Blackjack: the hands as titled lines; without cards in the step, what the observation tells."""

from typing import Any

from mosaic.envs.scenes.plain_values import whole_number, whole_numbers
from mosaic.envs.scenes.scene import TextLine, TextScene

_TITLE = "Blackjack"
_MOST_SUM = 64
_MOST_CARDS = 64
_CARDS = 11
"""Aces are 1, pictures are 10."""
_ACE, _TARGET = 1, 21
_HIDDEN = "?"


def blackjack_scene(
    observation: Any, render: Any = None, *, is_over: bool = False
) -> TextScene | None:
    """The table. The dealer's other cards stay hidden until the episode is over."""
    told = _told(observation)
    if told is None:
        return None
    total, shown, usable_ace = told
    hands = _hands(render)
    if hands is None:
        player = TextLine("You", (), _worth(total, usable_ace))
        dealer = TextLine("Dealer", (_name(shown), _HIDDEN))
        return TextScene(title=_TITLE, lines=(dealer, player))
    players, dealers = hands
    cards = tuple(_name(card) for card in dealers)
    open_cards = cards if is_over else (cards[0], *(_HIDDEN,) * (len(cards) - 1))
    return TextScene(
        title=_TITLE,
        lines=(
            TextLine("Dealer", open_cards, _worth(*value_of(dealers)) if is_over else ""),
            TextLine("You", tuple(_name(card) for card in players), _worth(total, usable_ace)),
        ),
    )


def value_of(cards: tuple[int, ...]) -> tuple[int, bool]:
    """What a hand is worth, and whether an ace in it counts eleven."""
    total = sum(cards)
    if _ACE in cards and total + 10 <= _TARGET:
        return total + 10, True
    return total, False


def _told(observation: Any) -> tuple[int, int, bool] | None:
    if not isinstance(observation, list | tuple) or len(observation) != 3:
        return None
    total = whole_number(observation[0], _MOST_SUM, least=2)
    shown = whole_number(observation[1], _CARDS, least=_ACE)
    ace = observation[2]
    if total is None or shown is None or not isinstance(ace, int) or ace not in (0, 1):
        return None
    return total, shown, bool(ace)


def _hands(render: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if not isinstance(render, dict):
        return None
    player = whole_numbers(render.get("player"), _CARDS, least=_ACE)
    dealer = whole_numbers(render.get("dealer"), _CARDS, least=_ACE)
    if not player or not dealer or max(len(player), len(dealer)) > _MOST_CARDS:
        return None
    return player, dealer


def _name(card: int) -> str:
    return "A" if card == _ACE else str(card)


def _worth(total: int, usable_ace: bool) -> str:
    if total > _TARGET:
        return f"= {total}, bust"
    return f"= {total}, ace counts 11" if usable_ace else f"= {total}"
