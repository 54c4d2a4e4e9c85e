"""Scenes of the toy-text environments: FrozenLake, CliffWalking, Taxi and Blackjack.

Observations and `render` values come from workers and are not trusted.
"""

from collections.abc import Mapping
from typing import Any

from mosaic.envs.scenes.scene import (
    MAX_SIDE,
    Agent,
    ColourRole,
    Direction,
    GridCell,
    GridScene,
    LegendEntry,
    Marker,
    TextLine,
    TextScene,
    Wall,
    parse_int,
    parse_ints,
)

MAPS = {
    "4x4": ("SFFF", "FHFH", "FFFH", "HFFG"),
    "8x8": (
        "SFFFFFFF",
        "FFFFFFFF",
        "FFFHFFFF",
        "FFFFFHFF",
        "FFFHFFFF",
        "FHHFFFHF",
        "FHFFHFHF",
        "FFFHFFFG",
    ),
}
_LAKE_CELLS = {
    "S": GridCell("start", "start"),
    "F": GridCell("floor", "ice", "faint"),
    "H": GridCell("hole", "hole", "danger"),
    "G": GridCell("goal", "goal", "goal"),
}
_LAKE_DIRECTIONS: tuple[Direction, ...] = ("left", "down", "right", "up")
_LAKE_LEGEND = (
    LegendEntry("agent", "you"),
    LegendEntry(_LAKE_CELLS["S"], "start"),
    LegendEntry(_LAKE_CELLS["F"], "ice"),
    LegendEntry(_LAKE_CELLS["H"], "hole: episode ends"),
    LegendEntry(_LAKE_CELLS["G"], "goal"),
)


def frozen_lake_scene(
    env_kwargs: Mapping[str, Any],
    observation: Any,
    action: Any = None,
    *,
    default_map: str = "4x4",
) -> GridScene | None:
    """Return the map and the agent; None for an invalid map or observation."""
    lines = _map_rows(env_kwargs, default_map)
    if lines is None:
        return None
    columns = len(lines[0])
    position = parse_int(observation, len(lines) * columns)
    if position is None:
        return None
    direction = parse_int(action, len(_LAKE_DIRECTIONS))
    return GridScene(
        rows=len(lines),
        columns=columns,
        cells=tuple(tuple(_LAKE_CELLS[letter] for letter in line) for line in lines),
        agent=Agent(
            position // columns,
            position % columns,
            None if direction is None else _LAKE_DIRECTIONS[direction],
        ),
        legend=_LAKE_LEGEND,
    )


def _map_rows(env_kwargs: Mapping[str, Any], default_map: str) -> tuple[str, ...] | None:
    given = env_kwargs.get("desc")
    if given is None:
        name = env_kwargs.get("map_name", default_map)
        return MAPS.get(name) if isinstance(name, str) else None
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= MAX_SIDE:
        return None
    lines = [_parse_row(item) for item in given]
    width = len(lines[0] or "")
    valid = [
        line for line in lines if line and len(line) == width and set(line) <= _LAKE_CELLS.keys()
    ]
    return tuple(valid) if len(valid) == len(lines) and width <= MAX_SIDE else None


def _parse_row(item: Any) -> str | None:
    if isinstance(item, list | tuple) and all(isinstance(letter, str) for letter in item):
        return "".join(item)
    return item if isinstance(item, str) else None


_CLIFF_ROWS, _CLIFF_COLUMNS = 4, 12
_CLIFF_FLOOR = GridCell("floor", "ground", "faint")
_CLIFF_EDGE = GridCell("cliff", "cliff", "danger")
_CLIFF_START = GridCell("start", "start")
_CLIFF_GOAL = GridCell("goal", "goal", "goal")
_CLIFF_CELLS = (
    *(((_CLIFF_FLOOR,) * _CLIFF_COLUMNS),) * (_CLIFF_ROWS - 1),
    (_CLIFF_START, *(_CLIFF_EDGE,) * (_CLIFF_COLUMNS - 2), _CLIFF_GOAL),
)
_CLIFF_DIRECTIONS: tuple[Direction, ...] = ("up", "right", "down", "left")
_CLIFF_LEGEND = (
    LegendEntry("agent", "you"),
    LegendEntry(_CLIFF_EDGE, "cliff: back to start"),
    LegendEntry(_CLIFF_START, "start"),
    LegendEntry(_CLIFF_GOAL, "goal"),
)


def cliff_walking_scene(observation: Any, action: Any = None) -> GridScene | None:
    """Return the cliff and the agent; None for an invalid observation."""
    position = parse_int(observation, _CLIFF_ROWS * _CLIFF_COLUMNS)
    if position is None:
        return None
    direction = parse_int(action, len(_CLIFF_DIRECTIONS))
    return GridScene(
        rows=_CLIFF_ROWS,
        columns=_CLIFF_COLUMNS,
        cells=_CLIFF_CELLS,
        agent=Agent(
            position // _CLIFF_COLUMNS,
            position % _CLIFF_COLUMNS,
            None if direction is None else _CLIFF_DIRECTIONS[direction],
        ),
        legend=_CLIFF_LEGEND,
    )


_TAXI_ROWS = _TAXI_COLUMNS = 5
_TAXI_STANDS = ((0, 0), (0, 4), (4, 0), (4, 3))
_PASSENGER_IN_TAXI = len(_TAXI_STANDS)
_STAND_NAMES = ("red", "green", "yellow", "blue")
_STAND_LETTERS: tuple[tuple[str, ColourRole], ...] = (
    ("R", "red"),
    ("G", "green"),
    ("Y", "yellow"),
    ("B", "blue"),
)
_TAXI_STATES = _TAXI_ROWS * _TAXI_COLUMNS * (len(_TAXI_STANDS) + 1) * len(_TAXI_STANDS)
_STREET = GridCell("floor", "street", "faint")
_TAXI_WALLS = frozenset(
    Wall(row, column, "right") for row, column in ((0, 1), (1, 1), (3, 0), (4, 0), (3, 2), (4, 2))
)
_TAXI_DIRECTIONS: tuple[Direction, ...] = ("down", "up", "right", "left")
_TAXI_LEGEND = (
    LegendEntry("agent", "your taxi"),
    LegendEntry("passenger", "waiting passenger"),
    LegendEntry("destination", "destination"),
)


def _build_taxi_cells() -> tuple[tuple[GridCell, ...], ...]:
    stands = {
        position: GridCell("stand", letter, colour)
        for position, (letter, colour) in zip(_TAXI_STANDS, _STAND_LETTERS, strict=True)
    }
    return tuple(
        tuple(stands.get((row, column), _STREET) for column in range(_TAXI_COLUMNS))
        for row in range(_TAXI_ROWS)
    )


_TAXI_CELLS = _build_taxi_cells()


def taxi_scene(observation: Any, action: Any = None) -> GridScene | None:
    """Return the grid and the taxi; None for an invalid observation."""
    state = parse_int(observation, _TAXI_STATES)
    if state is None:
        return None
    state, destination = divmod(state, len(_TAXI_STANDS))
    state, passenger = divmod(state, len(_TAXI_STANDS) + 1)
    row, column = divmod(state, _TAXI_COLUMNS)
    direction = parse_int(action, len(_TAXI_DIRECTIONS))
    is_riding = passenger == _PASSENGER_IN_TAXI
    markers = [Marker("destination", *_TAXI_STANDS[destination], _STAND_NAMES[destination])]
    if not is_riding:
        markers.append(Marker("passenger", *_TAXI_STANDS[passenger], _STAND_NAMES[passenger]))
    location = "in the taxi" if is_riding else f"at {_STAND_NAMES[passenger]}"
    return GridScene(
        rows=_TAXI_ROWS,
        columns=_TAXI_COLUMNS,
        cells=_TAXI_CELLS,
        walls=_TAXI_WALLS,
        agent=Agent(
            row,
            column,
            None if direction is None else _TAXI_DIRECTIONS[direction],
            passenger=is_riding,
        ),
        markers=tuple(markers),
        legend=_TAXI_LEGEND,
        caption=f"Passenger {location}, destination {_STAND_NAMES[destination]}.",
    )


_BLACKJACK_TITLE = "Blackjack"
_MAX_SUM = 64
_MAX_CARDS = 64
_CARD_LIMIT = 11
"""Exclusive; an ace is 1, face cards are 10."""
_ACE, _TARGET = 1, 21
_HIDDEN = "?"


def blackjack_scene(
    observation: Any, render: Any = None, *, is_finished: bool = False
) -> TextScene | None:
    """Return both hands; the dealer's other cards are hidden until the episode ends."""
    parsed = _parse_observation(observation)
    if parsed is None:
        return None
    total, dealer_card, usable_ace = parsed
    hands = _hands(render)
    if hands is None:
        player = TextLine("You", (), _sum_text(total, usable_ace))
        dealer = TextLine("Dealer", (_card_name(dealer_card), _HIDDEN))
        return TextScene(title=_BLACKJACK_TITLE, lines=(dealer, player))
    player_cards, dealer_cards = hands
    cards = tuple(_card_name(card) for card in dealer_cards)
    visible_cards = cards if is_finished else (cards[0], *(_HIDDEN,) * (len(cards) - 1))
    return TextScene(
        title=_BLACKJACK_TITLE,
        lines=(
            TextLine(
                "Dealer",
                visible_cards,
                _sum_text(*_hand_value(dealer_cards)) if is_finished else "",
            ),
            TextLine(
                "You",
                tuple(_card_name(card) for card in player_cards),
                _sum_text(total, usable_ace),
            ),
        ),
    )


def _hand_value(cards: tuple[int, ...]) -> tuple[int, bool]:
    """Return the sum of a hand, and whether it has an ace that counts as 11."""
    total = sum(cards)
    if _ACE in cards and total + 10 <= _TARGET:
        return total + 10, True
    return total, False


def _parse_observation(observation: Any) -> tuple[int, int, bool] | None:
    if not isinstance(observation, list | tuple) or len(observation) != 3:
        return None
    total = parse_int(observation[0], _MAX_SUM, minimum=2)
    dealer_card = parse_int(observation[1], _CARD_LIMIT, minimum=_ACE)
    ace = observation[2]
    if total is None or dealer_card is None or not isinstance(ace, int) or ace not in (0, 1):
        return None
    return total, dealer_card, bool(ace)


def _hands(render: Any) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    if not isinstance(render, dict):
        return None
    player = parse_ints(render.get("player"), _CARD_LIMIT, minimum=_ACE)
    dealer = parse_ints(render.get("dealer"), _CARD_LIMIT, minimum=_ACE)
    if not player or not dealer or max(len(player), len(dealer)) > _MAX_CARDS:
        return None
    return player, dealer


def _card_name(card: int) -> str:
    return "A" if card == _ACE else str(card)


def _sum_text(total: int, usable_ace: bool) -> str:
    if total > _TARGET:
        return f"= {total}, bust"
    return f"= {total}, ace counts as 11" if usable_ace else f"= {total}"
