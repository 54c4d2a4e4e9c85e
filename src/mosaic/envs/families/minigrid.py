"""MiniGrid: rooms of coloured doors, keys, balls and boxes, seen from above."""

from mosaic.envs.entries import EnvironmentEntry, Family, title_from_id
from mosaic.envs.families import babyai
from mosaic.envs.families.minigrid_templates import (
    AGENT_POSITION,
    AGENT_START,
    AGENT_START_IN_SIZE,
    GOAL_POSITION,
    Kind,
    agent_start,
    cell,
    count,
    grid_entry,
    room_size,
    size,
    step_limit,
)
from mosaic.envs.fields import boolean, choice, integer

FAMILY = Family(
    id="minigrid",
    title="MiniGrid",
    summary="Rooms of coloured doors, keys, balls and boxes, and BabyAI's missions in them.",
    module="minigrid",
)

PREFIXES = ("MiniGrid-", "BabyAI-")

_RANDOM_START = {"agent_start_x": None, "agent_start_y": None}
_OBJECTS = "numObjs"
_TIMEOUT = "or after the most steps"

_KINDS = (
    Kind(
        title="Empty room",
        summary="A room with nothing in it but a green goal.",
        goal="Walk to the green goal in the far corner.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(size(8), *agent_start()),
        pairs=(AGENT_START_IN_SIZE,),
        steps="4 times the cells of the room",
        variants={
            "MiniGrid-Empty-5x5-v0": ("5x5", {"size": 5}),
            "MiniGrid-Empty-Random-5x5-v0": ("5x5, random start", {"size": 5, **_RANDOM_START}),
            "MiniGrid-Empty-6x6-v0": ("6x6", {"size": 6}),
            "MiniGrid-Empty-Random-6x6-v0": ("6x6, random start", {"size": 6, **_RANDOM_START}),
            "MiniGrid-Empty-8x8-v0": ("8x8", {}),
            "MiniGrid-Empty-16x16-v0": ("16x16", {"size": 16}),
        },
    ),
    Kind(
        title="Door and key",
        summary="A room in two halves, with a locked door between them.",
        goal="Pick up the key, open the door, and walk to the green goal.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(size(8),),
        steps="10 times the cells of the room",
        variants={
            f"MiniGrid-DoorKey-{cells}x{cells}-v0": (f"{cells}x{cells}", {"size": cells})
            for cells in (5, 6, 8, 16)
        },
    ),
    Kind(
        title="Four rooms",
        summary="Four rooms in a square, with a gap in each wall between them.",
        goal="Find the green goal.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(
            *cell("agent", None, "Where you start", 17, 17),
            *cell("goal", None, "Where the goal is", 17, 17),
            step_limit("100", 100),
        ),
        pairs=(AGENT_POSITION, GOAL_POSITION),
        variants={"MiniGrid-FourRooms-v0": ("", {})},
    ),
    Kind(
        title="Multi room",
        summary="A chain of rooms with closed doors between them.",
        goal="Open door after door, and walk to the green goal in the last room.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(
            count("minNumRooms", 6, 1, 8, "The fewest rooms."),
            count("maxNumRooms", 6, 1, 8, "The most rooms."),
            integer("maxRoomSize", 10, 4, 10, "Of the largest room, walls included.", unit="cells"),
        ),
        ranges=(("minNumRooms", "maxNumRooms"),),
        steps="20 for each room",
        variants={
            "MiniGrid-MultiRoom-N2-S4-v0": (
                "N2 S4",
                {"minNumRooms": 2, "maxNumRooms": 2, "maxRoomSize": 4},
            ),
            # The id says four, and the package makes six; v1 is the one that keeps its word.
            "MiniGrid-MultiRoom-N4-S5-v0": ("N4 S5", {"maxRoomSize": 5}),
            "MiniGrid-MultiRoom-N4-S5-v1": (
                "N4 S5 (v1)",
                {"minNumRooms": 4, "maxNumRooms": 4, "maxRoomSize": 5},
            ),
            "MiniGrid-MultiRoom-N6-v0": ("N6", {}),
        },
    ),
    Kind(
        title="Lava gap",
        summary="A strip of lava with one gap in it.",
        goal="Walk through the gap to the green goal.",
        ends=f"At the goal, in the lava, {_TIMEOUT}.",
        fields=(size(5),),
        steps="4 times the cells of the room",
        variants={
            f"MiniGrid-LavaGapS{cells}-v0": (f"S{cells}", {"size": cells}) for cells in (5, 6, 7)
        },
    ),
    *(
        Kind(
            title=f"{what.title()} crossing",
            summary=f"Rivers of {what} run across the room, each with one gap.",
            goal=f"Find the way through the {what} to the green goal in the far corner.",
            ends=f"At the goal, {'in the lava, ' if what == 'lava' else ''}{_TIMEOUT}.",
            fields=(
                # An even number has no middle for a crossing.
                choice("size", 9, (5, 7, 9, 11, 13, 15, 17), "Rows and columns, walls included."),
                count("num_crossings", 1, 1, 10, "How many rivers there are, if they find room."),
            ),
            steps="4 times the cells of the room",
            variants={
                f"MiniGrid-{name}S{cells}N{rivers}-v0": (
                    f"S{cells} N{rivers}",
                    {"size": cells, "num_crossings": rivers},
                )
                for cells, rivers in ((9, 1), (9, 2), (9, 3), (11, 5))
            },
        )
        for what, name in (("lava", "LavaCrossing"), ("wall", "SimpleCrossing"))
    ),
    Kind(
        title="Shifted lava",
        summary="Two strips of lava, of which one lies elsewhere in the second version.",
        goal="Walk around the lava to the green goal in the top right corner.",
        ends=f"At the goal, in the lava, {_TIMEOUT}.",
        fields=(
            integer("strip2_row", 2, 1, 5, "The row of the second strip."),
            *agent_start(columns=7, rows=5),
        ),
        pairs=(AGENT_START,),
        steps="4 times the cells of the room",
        variants={
            "MiniGrid-DistShift1-v0": ("1", {}),
            "MiniGrid-DistShift2-v0": ("2", {"strip2_row": 5}),
        },
    ),
    Kind(
        title="Dynamic obstacles",
        summary="A room in which blue balls roll about.",
        goal="Walk to the green goal without running into anything.",
        ends=f"At the goal, on running into a ball or a wall, {_TIMEOUT}.",
        rewards=(
            "For the goal 1, less up to 0.9 the longer it took; -1 for running into something;"
            " else 0."
        ),
        fields=(
            size(8),
            count("n_obstacles", 4, 0, 17, "How many balls there are."),
            *agent_start(),
        ),
        pairs=(AGENT_START_IN_SIZE,),
        steps="4 times the cells of the room",
        only_walks=True,
        variants={
            "MiniGrid-Dynamic-Obstacles-5x5-v0": ("5x5", {"size": 5, "n_obstacles": 2}),
            "MiniGrid-Dynamic-Obstacles-Random-5x5-v0": (
                "5x5, random start",
                {"size": 5, "n_obstacles": 2, **_RANDOM_START},
            ),
            "MiniGrid-Dynamic-Obstacles-6x6-v0": ("6x6", {"size": 6, "n_obstacles": 3}),
            "MiniGrid-Dynamic-Obstacles-Random-6x6-v0": (
                "6x6, random start",
                {"size": 6, "n_obstacles": 3, **_RANDOM_START},
            ),
            "MiniGrid-Dynamic-Obstacles-8x8-v0": ("8x8", {}),
            "MiniGrid-Dynamic-Obstacles-16x16-v0": ("16x16", {"size": 16, "n_obstacles": 8}),
        },
    ),
    Kind(
        title="Fetch",
        summary="A room with keys and balls of several colours.",
        goal="Pick up the thing that the mission names.",
        ends=f"With anything in your hand, {_TIMEOUT}.",
        fields=(size(8), count(_OBJECTS, 3, 1, 8, "How many things lie about.")),
        steps="5 times the cells of the room",
        variants={
            "MiniGrid-Fetch-5x5-N2-v0": ("5x5 N2", {"size": 5, _OBJECTS: 2}),
            "MiniGrid-Fetch-6x6-N2-v0": ("6x6 N2", {"size": 6, _OBJECTS: 2}),
            "MiniGrid-Fetch-8x8-N3-v0": ("8x8 N3", {}),
        },
    ),
    Kind(
        title="Go to door",
        summary="A room with a door of another colour in each wall.",
        goal='Stand at the door that the mission names, and say "done".',
        ends=f'After "done" or touching a door, {_TIMEOUT}.',
        fields=(size(5),),
        steps="4 times the cells of the room",
        variants={
            f"MiniGrid-GoToDoor-{cells}x{cells}-v0": (f"{cells}x{cells}", {"size": cells})
            for cells in (5, 6, 8)
        },
    ),
    Kind(
        title="Go to object",
        summary="A room with keys, balls and boxes of several colours.",
        goal='Stand at the thing that the mission names, and say "done".',
        ends=f'After "done" or "toggle", {_TIMEOUT}.',
        fields=(size(6), count(_OBJECTS, 2, 1, 8, "How many things lie about.")),
        steps="5 times the cells of the room",
        variants={
            "MiniGrid-GoToObject-6x6-N2-v0": ("6x6 N2", {}),
            "MiniGrid-GoToObject-8x8-N2-v0": ("8x8 N2", {"size": 8}),
        },
    ),
    Kind(
        title="Put near",
        summary="A room with keys, balls and boxes of several colours.",
        goal="Pick up the first thing that the mission names, and drop it beside the second.",
        ends=f"After a drop or picking up the wrong thing, {_TIMEOUT}.",
        fields=(size(6, low=6), count(_OBJECTS, 2, 2, 4, "How many things lie about.")),
        steps="5 times the size of the room",
        variants={
            "MiniGrid-PutNear-6x6-N2-v0": ("6x6 N2", {}),
            "MiniGrid-PutNear-8x8-N3-v0": ("8x8 N3", {"size": 8, _OBJECTS: 3}),
        },
    ),
    Kind(
        title="Red and blue doors",
        summary="A room with a red door on one side and a blue one on the other.",
        goal="Open the red door first, then the blue one.",
        ends=f"Once the blue door is open, {_TIMEOUT}.",
        fields=(size(8),),
        steps="20 times the cells of the room",
        variants={
            "MiniGrid-RedBlueDoors-6x6-v0": ("6x6", {"size": 6}),
            "MiniGrid-RedBlueDoors-8x8-v0": ("8x8", {}),
        },
    ),
    Kind(
        title="Memory",
        summary="A thing in the first room, and a corridor that ends at two things.",
        goal="Look at the thing, then walk to the one like it at the end of the corridor.",
        ends=f"At either of the two things, {_TIMEOUT}.",
        fields=(
            choice("size", 13, (7, 9, 11, 13, 15, 17), "Rows and columns, walls included."),
            boolean("random_length", False, "Whether the corridor's length differs."),
        ),
        steps="5 times the cells of the room",
        variants={
            **{
                f"MiniGrid-MemoryS{cells}-v0": (f"S{cells}", {"size": cells})
                for cells in (7, 9, 11, 13)
            },
            **{
                f"MiniGrid-MemoryS{cells}Random-v0": (
                    f"S{cells}, random length",
                    {"size": cells, "random_length": True},
                )
                for cells in (13, 17)
            },
        },
    ),
    Kind(
        title="Locked room",
        summary="Six rooms along a corridor, one of them locked.",
        goal=(
            "Get the key from the room that the mission names, unlock the door, and walk to the"
            " goal."
        ),
        ends=f"At the goal, {_TIMEOUT}.",
        steps="190",
        variants={"MiniGrid-LockedRoom-v0": ("", {})},
    ),
    Kind(
        title="Key corridor",
        summary="A corridor with rooms on both sides, one of them locked.",
        goal="Find the key, unlock the room, and pick up the ball in it.",
        ends=f"With the ball in your hand, {_TIMEOUT}.",
        fields=(
            room_size(6),
            count("num_rows", 3, 1, 6, "How many rooms lie on each side."),
            choice("obj_type", "ball", ("ball", "box", "key"), "What lies in the locked room."),
        ),
        steps="30 times the cells of a room",
        variants={
            f"MiniGrid-KeyCorridorS{cells}R{rows}-v0": (
                f"S{cells} R{rows}",
                {"room_size": cells, "num_rows": rows},
            )
            for cells, rows in ((3, 1), (3, 2), (3, 3), (4, 3), (5, 3), (6, 3))
        },
    ),
    Kind(
        title="Unlock",
        summary="Two rooms with a locked door between them.",
        goal="Pick up the key and open the door.",
        ends=f"Once the door is open, {_TIMEOUT}.",
        steps="288",
        variants={"MiniGrid-Unlock-v0": ("", {})},
    ),
    Kind(
        title="Unlock and pick up",
        summary="Two rooms with a locked door between them, and a box behind it.",
        goal="Pick up the key, open the door, and pick up the box.",
        ends=f"With the box in your hand, {_TIMEOUT}.",
        steps="288",
        variants={"MiniGrid-UnlockPickup-v0": ("", {})},
    ),
    Kind(
        title="Blocked unlock and pick up",
        summary="Two rooms with a locked door between them, and a ball in front of it.",
        goal="Move the ball out of the way, unlock the door, and pick up the box.",
        ends=f"With the box in your hand, {_TIMEOUT}.",
        steps="576",
        variants={"MiniGrid-BlockedUnlockPickup-v0": ("", {})},
    ),
    Kind(
        title="Obstructed maze",
        summary="A maze of rooms; keys may hide in boxes, and balls may block the doors.",
        goal="Find the blue ball and pick it up.",
        ends=f"With the blue ball in your hand, {_TIMEOUT}.",
        fields=(
            boolean("key_in_box", True, "Whether keys hide in boxes."),
            boolean("blocked", True, "Whether balls block the doors."),
        ),
        steps="144 for each room on the way",
        variants={
            "MiniGrid-ObstructedMaze-1Dl-v0": ("1Dl", {"key_in_box": False, "blocked": False}),
            "MiniGrid-ObstructedMaze-1Dlh-v0": ("1Dlh", {"blocked": False}),
            "MiniGrid-ObstructedMaze-1Dlhb-v0": ("1Dlhb", {}),
            "MiniGrid-ObstructedMaze-2Dl-v0": ("2Dl", {"key_in_box": False, "blocked": False}),
            "MiniGrid-ObstructedMaze-2Dlh-v0": ("2Dlh", {"blocked": False}),
            "MiniGrid-ObstructedMaze-2Dlhb-v0": ("2Dlhb", {}),
            "MiniGrid-ObstructedMaze-2Dlhb-v1": ("2Dlhb (v1)", {}),
            "MiniGrid-ObstructedMaze-1Q-v0": ("1Q", {}),
            "MiniGrid-ObstructedMaze-1Q-v1": ("1Q (v1)", {}),
            "MiniGrid-ObstructedMaze-2Q-v0": ("2Q", {}),
            "MiniGrid-ObstructedMaze-2Q-v1": ("2Q (v1)", {}),
            "MiniGrid-ObstructedMaze-Full-v0": ("Full", {}),
            "MiniGrid-ObstructedMaze-Full-v1": ("Full (v1)", {}),
        },
    ),
    Kind(
        title="Playground",
        summary="Nine rooms full of doors and things.",
        goal="Nothing in particular: look around.",
        ends="After the most steps.",
        rewards="Always 0.",
        fields=(step_limit("100", 100),),
        variants={"MiniGrid-Playground-v0": ("", {})},
    ),
)

ENTRIES = (*(entry for kind in _KINDS for entry in kind.entries()), *babyai.ENTRIES)


def generated(env_id: str) -> EnvironmentEntry:
    """One that the catalog does not list: all of them are played in the same way."""
    name = env_id.removeprefix("MiniGrid-").removeprefix("BabyAI-")
    return grid_entry(
        env_id=env_id,
        title=title_from_id(name),
        summary=f"`{env_id}` is a grid of MiniGrid's kind that is not in the catalog.",
        goal="What the mission says.",
        ends=f"When the mission is done or can no longer be, {_TIMEOUT}.",
        is_generated=True,
    )
