"""Toy-text environments: small grid worlds and a card game, turn-based."""

from mosaic.envs.entries import EnvironmentEntry, Family, ShownWhen
from mosaic.envs.fields import boolean, number
from mosaic.envs.frozen_lake_maps import SHOWN_WHEN, map_fields
from mosaic.envs.key_map_builders import discrete_keys

FAMILY = Family(
    id="toy-text",
    title="Toy text",
    summary="Small grid worlds and a card game, turn-based.",
    module="pygame",
)

_FPS = 4
_FROZEN_LAKE_KEYS = discrete_keys(
    {
        "left": (0, "move left"),
        "down": (1, "move down"),
        "right": (2, "move right"),
        "up": (3, "move up"),
    }
)
_CLIFF_KEYS = discrete_keys(
    {
        "up": (0, "move up"),
        "right": (1, "move right"),
        "down": (2, "move down"),
        "left": (3, "move left"),
    }
)
_TAXI_KEYS = discrete_keys(
    {
        "down": (0, "drive south"),
        "up": (1, "drive north"),
        "right": (2, "drive east"),
        "left": (3, "drive west"),
        "e": (4, "pick up"),
        "q": (5, "drop off"),
    }
)
_BLACKJACK_KEYS = discrete_keys(
    {"s": (0, "stick"), "h": (1, "hit")}, aliases={"enter": "s", "space": "h"}
)


def _frozen_lake(
    env_id: str, title: str, map_name: str, cells: int, steps: int
) -> EnvironmentEntry:
    return EnvironmentEntry(
        env_id=env_id,
        family="toy-text",
        title=title,
        summary="Cross a frozen lake without falling into a hole. The ice is slippery.",
        goal="Walk from the start S to the goal G without falling into a hole H.",
        observation=(
            "One integer: the position of the player, row * columns + column."
            f" The {map_name} map has {cells} cells."
        ),
        actions=(
            "Move left, down, right or up."
            " On slippery ice a move goes in the intended direction with probability 1/3,"
            " otherwise in a perpendicular one."
        ),
        action_meanings=("left", "down", "right", "up"),
        rewards="1 for reaching the goal, otherwise 0.",
        ends=f"At the goal, in a hole, or after {steps} steps.",
        action_kind="discrete",
        fields=(
            *map_fields(map_name),
            boolean(
                "is_slippery", True, "Moves may slide in a perpendicular direction.", group="Ice"
            ),
            number(
                "success_rate",
                1 / 3,
                0.0,
                1.0,
                "Probability of the intended direction on slippery ice.",
                group="Ice",
            ),
        ),
        map_field="desc",
        shown_when=(
            *SHOWN_WHEN,
            ShownWhen(fields=("success_rate",), other="is_slippery", values=(True,)),
        ),
        keys=_FROZEN_LAKE_KEYS,
        views=("grid", "frame"),
        render_fps=_FPS,
        turn_based=True,
        max_episode_steps=steps,
    )


def _cliff_walking(env_id: str, title: str, is_slippery: bool) -> EnvironmentEntry:
    transitions = (
        "The cliff is slippery: a move goes in a perpendicular direction with probability 2/3."
        if is_slippery
        else "Moves are deterministic unless the cliff is slippery."
    )
    return EnvironmentEntry(
        env_id=env_id,
        family="toy-text",
        title=title,
        summary="Walk along the edge of a cliff. The shortest path is the most dangerous.",
        goal=(
            "Move from the bottom left corner to the bottom right one without stepping off the"
            " cliff."
        ),
        observation="One integer from 0 to 47: the position of the player in 4 rows of 12.",
        actions=f"Move up, right, down or left. {transitions}",
        action_meanings=("up", "right", "down", "left"),
        rewards=("-1 for each step, -100 for stepping off the cliff, which resets to the start."),
        ends="At the goal. A fall does not end the episode, and there is no step limit.",
        action_kind="discrete",
        fields=(
            boolean("is_slippery", is_slippery, "Moves may slide in a perpendicular direction."),
        ),
        keys=_CLIFF_KEYS,
        views=("grid", "frame"),
        render_fps=_FPS,
        turn_based=True,
    )


_TAXI = EnvironmentEntry(
    env_id="Taxi-v4",
    family="toy-text",
    title="Taxi",
    summary="Pick up a passenger in a 5x5 grid world and drop them off at a destination.",
    goal="Drive to the passenger, pick them up, and drop them off at the destination.",
    observation=(
        "One integer from 0 to 499,"
        " which encodes the taxi's cell, the passenger's location (four stands or the taxi)"
        " and the destination."
    ),
    actions="Move south, north, east or west, pick up, drop off. Walls block moves.",
    action_meanings=("south", "north", "east", "west", "pick up", "drop off"),
    rewards=(
        "-1 for each step, 20 for delivering the passenger, -10 for an illegal pick-up or drop-off."
    ),
    ends="When the passenger is dropped off at the destination, or after 200 steps.",
    action_kind="discrete",
    fields=(
        boolean(
            "is_rainy", False, "The taxi may slide in a perpendicular direction.", group="Rain"
        ),
        number(
            "rainy_probability",
            0.8,
            0.0,
            1.0,
            "Probability of the intended direction in the rain.",
            group="Rain",
        ),
        boolean(
            "fickle_passenger",
            False,
            "The passenger may change the destination after the first move.",
            group="Passenger",
        ),
        number(
            "fickle_probability",
            0.3,
            0.0,
            1.0,
            "Probability that a fickle passenger changes the destination.",
            group="Passenger",
        ),
    ),
    keys=_TAXI_KEYS,
    views=("grid", "frame"),
    render_fps=_FPS,
    turn_based=True,
    max_episode_steps=200,
)

_BLACKJACK = EnvironmentEntry(
    env_id="Blackjack-v1",
    family="toy-text",
    title="Blackjack",
    summary="A hand of blackjack against the dealer, with an infinite deck.",
    goal="Get closer to 21 than the dealer without exceeding it.",
    observation=(
        "Three values: the player's sum, the dealer's showing card (1 is an ace),"
        " and whether the player has a usable ace."
    ),
    actions="Stick (stop receiving cards) or hit (take another card).",
    action_meanings=("stick", "hit"),
    rewards="1 for a win, -1 for a loss, 0 for a draw and for every other step.",
    ends="When the player sticks or exceeds 21. The dealer draws up to 17.",
    action_kind="discrete",
    fields=(
        boolean(
            "natural",
            False,
            "A natural blackjack pays 1.5. Has no effect with `sab`.",
        ),
        boolean(
            "sab",
            True,
            "Use the rules of Sutton and Barto: a natural blackjack wins"
            " unless the dealer has one too.",
        ),
    ),
    keys=_BLACKJACK_KEYS,
    views=("text", "frame"),
    render_fps=_FPS,
    turn_based=True,
)

ENTRIES = (
    _frozen_lake("FrozenLake-v1", "Frozen Lake", "4x4", 16, 100),
    _frozen_lake("FrozenLake8x8-v1", "Frozen Lake 8x8", "8x8", 64, 200),
    _cliff_walking("CliffWalking-v1", "Cliff Walking", is_slippery=False),
    _cliff_walking("CliffWalkingSlippery-v1", "Cliff Walking, slippery", is_slippery=True),
    _TAXI,
    _BLACKJACK,
)
