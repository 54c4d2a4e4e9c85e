"""Toy text: small worlds of cells and cards, played move by move."""

from mosaic.envs.entries import EnvironmentEntry, Family, ShownWhen
from mosaic.envs.fields import boolean, number
from mosaic.envs.frozen_lake_maps import SHOWN_WHEN, map_fields
from mosaic.envs.key_map_builders import discrete_keys

FAMILY = Family(
    id="toy-text",
    title="Toy text",
    summary="Small worlds of cells and cards, played move by move.",
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


def _frozen_lake(env_id: str, title: str, named: str, cells: int, steps: int) -> EnvironmentEntry:
    return EnvironmentEntry(
        env_id=env_id,
        family="toy-text",
        title=title,
        summary="Cross a frozen lake on foot. The ice is slippery, and it has holes.",
        goal="Walk from the start S to the goal G without falling into a hole H.",
        observation=(
            "One number: the cell you stand on, counted row by row from the top left."
            f" The {named} map has {cells} cells."
        ),
        actions=(
            "Four moves."
            " On slippery ice a move goes where it was meant to in one third of the cases,"
            " and else to one of the two sides."
        ),
        action_meanings=("left", "down", "right", "up"),
        rewards="1 for reaching the goal, 0 for every other step.",
        ends=f"At the goal, in a hole, or after {steps} steps.",
        action_kind="discrete",
        fields=(
            *map_fields(named),
            boolean("is_slippery", True, "Whether moves may slide to the side.", group="Ice"),
            number(
                "success_rate",
                1 / 3,
                0.0,
                1.0,
                "On slippery ice, how likely a move goes where it was meant to.",
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
    footing = (
        "The ground is slippery: a move goes to either side as often as straight on."
        if is_slippery
        else "Every move goes where it was meant to, unless the ground is set to be slippery."
    )
    return EnvironmentEntry(
        env_id=env_id,
        family="toy-text",
        title=title,
        summary="Walk along the edge of a cliff. The short way is the dangerous one.",
        goal=(
            "Get from the bottom left corner to the bottom right one without stepping off the"
            " cliff."
        ),
        observation="One number from 0 to 47: the cell you stand on, in 4 rows of 12.",
        actions=f"Four moves. {footing}",
        action_meanings=("up", "right", "down", "left"),
        rewards=(
            "-1 for each step, -100 for stepping off the cliff, which puts you back to the start."
        ),
        ends="At the goal. A fall does not end it, and there is no limit of steps.",
        action_kind="discrete",
        fields=(boolean("is_slippery", is_slippery, "Whether moves may slide to the side."),),
        keys=_CLIFF_KEYS,
        views=("grid", "frame"),
        render_fps=_FPS,
        turn_based=True,
    )


_TAXI = EnvironmentEntry(
    env_id="Taxi-v4",
    family="toy-text",
    title="Taxi",
    summary="Drive a taxi through a small walled town and take one passenger home.",
    goal="Drive to the passenger, pick them up, and drop them off at the stand they want to go to.",
    observation=(
        "One number from 0 to 499."
        " It stands for the taxi's cell in 5 by 5, where the passenger is (four stands, or in the"
        " taxi) and which stand is the destination."
    ),
    actions="Four moves, picking up and dropping off. A move into a wall goes nowhere.",
    action_meanings=("south", "north", "east", "west", "pick up", "drop off"),
    rewards=(
        "-1 for each step, 20 for the right drop-off,"
        " -10 for picking up or dropping off where that is not possible."
    ),
    ends="When the passenger is dropped off at the destination, or after 200 steps.",
    action_kind="discrete",
    fields=(
        boolean("is_rainy", False, "In the rain the taxi may slide to the side.", group="Rain"),
        number(
            "rainy_probability",
            0.8,
            0.0,
            1.0,
            "In the rain, how likely a move goes where it was meant to.",
            group="Rain",
        ),
        boolean(
            "fickle_passenger",
            False,
            "The passenger may choose another destination once the taxi drives off.",
            group="Passenger",
        ),
        number(
            "fickle_probability",
            0.3,
            0.0,
            1.0,
            "How likely a fickle passenger does so.",
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
    summary="A hand of blackjack against the dealer, from a deck that never runs out.",
    goal="Come closer to 21 than the dealer without going over it.",
    observation=(
        "Three numbers: the sum of your cards, the dealer's open card (1 is an ace),"
        " and whether an ace of yours counts as 11."
    ),
    actions="Stick with what you have, or hit for another card.",
    action_meanings=("stick", "hit"),
    rewards="1 for a win, -1 for a loss, 0 for a draw, and 0 while the hand goes on.",
    ends="When you stick, or when your sum goes over 21. The dealer draws up to 17.",
    action_kind="discrete",
    fields=(
        boolean(
            "natural",
            False,
            "Whether a win with an ace and a ten at once pays 1.5. Has no effect under the rules"
            " of the book.",
        ),
        boolean(
            "sab",
            True,
            "The rules of Sutton and Barto's book: an ace and a ten at once win,"
            " unless the dealer has them too.",
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
