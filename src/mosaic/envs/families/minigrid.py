"""MiniGrid environments: grid rooms with coloured doors, keys, balls and boxes."""

from mosaic.envs.entries import EnvironmentEntry, Family, title_from_id
from mosaic.envs.families import babyai
from mosaic.envs.families.minigrid_templates import (
    AGENT_POSITION,
    AGENT_START,
    AGENT_START_IN_SIZE,
    GOAL_POSITION,
    EnvTemplate,
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
    summary="Grid rooms with coloured doors, keys, balls and boxes, including BabyAI.",
    module="minigrid",
)

PREFIXES = ("MiniGrid-", "BabyAI-")

_RANDOM_START = {"agent_start_x": None, "agent_start_y": None}
_OBJECTS = "numObjs"
_TIMEOUT = "or after the maximum number of steps"

_TEMPLATES = (
    EnvTemplate(
        title="Empty room",
        summary="An empty room with a green goal square.",
        goal="Reach the green goal in the far corner.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(size(8), *agent_start()),
        pairs=(AGENT_START_IN_SIZE,),
        steps="4 * size²",
        variants={
            "MiniGrid-Empty-5x5-v0": ("5x5", {"size": 5}),
            "MiniGrid-Empty-Random-5x5-v0": ("5x5, random start", {"size": 5, **_RANDOM_START}),
            "MiniGrid-Empty-6x6-v0": ("6x6", {"size": 6}),
            "MiniGrid-Empty-Random-6x6-v0": ("6x6, random start", {"size": 6, **_RANDOM_START}),
            "MiniGrid-Empty-8x8-v0": ("8x8", {}),
            "MiniGrid-Empty-16x16-v0": ("16x16", {"size": 16}),
        },
    ),
    EnvTemplate(
        title="Door and key",
        summary="Two halves of a room, with a locked door between them.",
        goal="Pick up the key, open the door, and reach the green goal.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(size(8),),
        steps="10 * size²",
        variants={
            f"MiniGrid-DoorKey-{cells}x{cells}-v0": (f"{cells}x{cells}", {"size": cells})
            for cells in (5, 6, 8, 16)
        },
    ),
    EnvTemplate(
        title="Four rooms",
        summary="Four rooms in a square, with a gap in each wall between them.",
        goal="Reach the green goal.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(
            *cell("agent", None, "Agent", 17, 17),
            *cell("goal", None, "Goal", 17, 17),
            step_limit("100", 100),
        ),
        pairs=(AGENT_POSITION, GOAL_POSITION),
        variants={"MiniGrid-FourRooms-v0": ("", {})},
    ),
    EnvTemplate(
        title="Multi room",
        summary="A chain of rooms with closed doors between them.",
        goal="Open the doors and reach the green goal in the last room.",
        ends=f"At the goal, {_TIMEOUT}.",
        fields=(
            count("minNumRooms", 6, 1, 8, "Minimum number of rooms."),
            count("maxNumRooms", 6, 1, 8, "Maximum number of rooms."),
            integer(
                "maxRoomSize", 10, 4, 10, "Maximum size of a room, including walls.", unit="cells"
            ),
        ),
        ranges=(("minNumRooms", "maxNumRooms"),),
        steps="20 per room",
        variants={
            "MiniGrid-MultiRoom-N2-S4-v0": (
                "N2 S4",
                {"minNumRooms": 2, "maxNumRooms": 2, "maxRoomSize": 4},
            ),
            # The id says four rooms, but minigrid creates six; v1 fixes that.
            "MiniGrid-MultiRoom-N4-S5-v0": ("N4 S5", {"maxRoomSize": 5}),
            "MiniGrid-MultiRoom-N4-S5-v1": (
                "N4 S5 (v1)",
                {"minNumRooms": 4, "maxNumRooms": 4, "maxRoomSize": 5},
            ),
            "MiniGrid-MultiRoom-N6-v0": ("N6", {}),
        },
    ),
    EnvTemplate(
        title="Lava gap",
        summary="A strip of lava with one gap in it.",
        goal="Pass through the gap and reach the green goal.",
        ends=f"At the goal, in the lava, {_TIMEOUT}.",
        fields=(size(5),),
        steps="4 * size²",
        variants={
            f"MiniGrid-LavaGapS{cells}-v0": (f"S{cells}", {"size": cells}) for cells in (5, 6, 7)
        },
    ),
    *(
        EnvTemplate(
            title=f"{what.title()} crossing",
            summary=f"Rivers of {what} run across the room, each with one gap.",
            goal=f"Cross the {what} and reach the green goal in the far corner.",
            ends=f"At the goal, {'in the lava, ' if what == 'lava' else ''}{_TIMEOUT}.",
            fields=(
                # Only odd sizes have a middle for a crossing.
                choice("size", 9, (5, 7, 9, 11, 13, 15, 17), "Rows and columns, including walls."),
                count("num_crossings", 1, 1, 10, "Number of rivers, if there is space."),
            ),
            steps="4 * size²",
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
    EnvTemplate(
        title="Shifted lava",
        summary="Two strips of lava, one of which is shifted in the second variant.",
        goal="Avoid the lava and reach the green goal in the top right corner.",
        ends=f"At the goal, in the lava, {_TIMEOUT}.",
        fields=(
            integer("strip2_row", 2, 1, 5, "Row of the second strip."),
            *agent_start(columns=7, rows=5),
        ),
        pairs=(AGENT_START,),
        steps="4 * size²",
        variants={
            "MiniGrid-DistShift1-v0": ("1", {}),
            "MiniGrid-DistShift2-v0": ("2", {"strip2_row": 5}),
        },
    ),
    EnvTemplate(
        title="Dynamic obstacles",
        summary="A room with moving blue balls.",
        goal="Reach the green goal without a collision.",
        ends=f"At the goal, at a collision with a ball or a wall, {_TIMEOUT}.",
        rewards=("1 - 0.9 * steps / max_steps for the goal, -1 for a collision, otherwise 0."),
        fields=(
            size(8),
            count("n_obstacles", 4, 0, 17, "Number of balls."),
            *agent_start(),
        ),
        pairs=(AGENT_START_IN_SIZE,),
        steps="4 * size²",
        movement_only=True,
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
    EnvTemplate(
        title="Fetch",
        summary="A room with keys and balls of several colours.",
        goal="Pick up the object that the mission names.",
        ends=f"After picking up any object, {_TIMEOUT}.",
        fields=(size(8), count(_OBJECTS, 3, 1, 8, "Number of objects.")),
        steps="5 * size²",
        variants={
            "MiniGrid-Fetch-5x5-N2-v0": ("5x5 N2", {"size": 5, _OBJECTS: 2}),
            "MiniGrid-Fetch-6x6-N2-v0": ("6x6 N2", {"size": 6, _OBJECTS: 2}),
            "MiniGrid-Fetch-8x8-N3-v0": ("8x8 N3", {}),
        },
    ),
    EnvTemplate(
        title="Go to door",
        summary="A room with a door of a different colour in each wall.",
        goal='Go to the door that the mission names and use the action "done".',
        ends=f'After "done" or touching a door, {_TIMEOUT}.',
        fields=(size(5),),
        steps="4 * size²",
        variants={
            f"MiniGrid-GoToDoor-{cells}x{cells}-v0": (f"{cells}x{cells}", {"size": cells})
            for cells in (5, 6, 8)
        },
    ),
    EnvTemplate(
        title="Go to object",
        summary="A room with keys, balls and boxes of several colours.",
        goal='Go to the object that the mission names and use the action "done".',
        ends=f'After "done" or "toggle", {_TIMEOUT}.',
        fields=(size(6), count(_OBJECTS, 2, 1, 8, "Number of objects.")),
        steps="5 * size²",
        variants={
            "MiniGrid-GoToObject-6x6-N2-v0": ("6x6 N2", {}),
            "MiniGrid-GoToObject-8x8-N2-v0": ("8x8 N2", {"size": 8}),
        },
    ),
    EnvTemplate(
        title="Put near",
        summary="A room with keys, balls and boxes of several colours.",
        goal="Pick up the first named object and drop it next to the second.",
        ends=f"After a drop or after picking up the wrong object, {_TIMEOUT}.",
        fields=(size(6, low=6), count(_OBJECTS, 2, 2, 4, "Number of objects.")),
        steps="5 * size",
        variants={
            "MiniGrid-PutNear-6x6-N2-v0": ("6x6 N2", {}),
            "MiniGrid-PutNear-8x8-N3-v0": ("8x8 N3", {"size": 8, _OBJECTS: 3}),
        },
    ),
    EnvTemplate(
        title="Red and blue doors",
        summary="A room with a red door on one side and a blue one on the other.",
        goal="Open the red door first, then the blue one.",
        ends=f"Once the blue door is open, {_TIMEOUT}.",
        fields=(size(8),),
        steps="20 * size²",
        variants={
            "MiniGrid-RedBlueDoors-6x6-v0": ("6x6", {"size": 6}),
            "MiniGrid-RedBlueDoors-8x8-v0": ("8x8", {}),
        },
    ),
    EnvTemplate(
        title="Memory",
        summary="An object in the start room, and a corridor that ends with two objects.",
        goal="Remember the object, then go to the matching one at the end of the corridor.",
        ends=f"At either of the two objects, {_TIMEOUT}.",
        fields=(
            choice("size", 13, (7, 9, 11, 13, 15, 17), "Rows and columns, including walls."),
            boolean("random_length", False, "Randomise the length of the corridor."),
        ),
        steps="5 * size²",
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
    EnvTemplate(
        title="Locked room",
        summary="Six rooms along a corridor, one of them locked.",
        goal=("Get the key from the named room, unlock the door, and reach the goal."),
        ends=f"At the goal, {_TIMEOUT}.",
        steps="190",
        variants={"MiniGrid-LockedRoom-v0": ("", {})},
    ),
    EnvTemplate(
        title="Key corridor",
        summary="A corridor with rooms on both sides, one of them locked.",
        goal="Find the key, unlock the room, and pick up the object in it.",
        ends=f"After picking up the object, {_TIMEOUT}.",
        fields=(
            room_size(6),
            count("num_rows", 3, 1, 6, "Number of rooms on each side."),
            choice("obj_type", "ball", ("ball", "box", "key"), "Object in the locked room."),
        ),
        steps="30 * room_size²",
        variants={
            f"MiniGrid-KeyCorridorS{cells}R{rows}-v0": (
                f"S{cells} R{rows}",
                {"room_size": cells, "num_rows": rows},
            )
            for cells, rows in ((3, 1), (3, 2), (3, 3), (4, 3), (5, 3), (6, 3))
        },
    ),
    EnvTemplate(
        title="Unlock",
        summary="Two rooms with a locked door between them.",
        goal="Pick up the key and open the door.",
        ends=f"Once the door is open, {_TIMEOUT}.",
        steps="288",
        variants={"MiniGrid-Unlock-v0": ("", {})},
    ),
    EnvTemplate(
        title="Unlock and pick up",
        summary="Two rooms with a locked door between them, and a box behind it.",
        goal="Pick up the key, open the door, and pick up the box.",
        ends=f"After picking up the box, {_TIMEOUT}.",
        steps="288",
        variants={"MiniGrid-UnlockPickup-v0": ("", {})},
    ),
    EnvTemplate(
        title="Blocked unlock and pick up",
        summary="Two rooms with a locked door between them, and a ball in front of it.",
        goal="Move the ball out of the way, unlock the door, and pick up the box.",
        ends=f"After picking up the box, {_TIMEOUT}.",
        steps="576",
        variants={"MiniGrid-BlockedUnlockPickup-v0": ("", {})},
    ),
    EnvTemplate(
        title="Obstructed maze",
        summary="A maze of rooms; keys may be hidden in boxes, and balls may block the doors.",
        goal="Find the blue ball and pick it up.",
        ends=f"After picking up the blue ball, {_TIMEOUT}.",
        fields=(
            boolean("key_in_box", True, "Hide keys in boxes."),
            boolean("blocked", True, "Block doors with balls."),
        ),
        steps="144 per room on the path",
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
    EnvTemplate(
        title="Playground",
        summary="Nine rooms with doors and objects.",
        goal="No goal: explore freely.",
        ends="After the maximum number of steps.",
        rewards="Always 0.",
        fields=(step_limit("100", 100),),
        variants={"MiniGrid-Playground-v0": ("", {})},
    ),
)

ENTRIES = (*(entry for template in _TEMPLATES for entry in template.entries()), *babyai.ENTRIES)


def generated_entry(env_id: str) -> EnvironmentEntry:
    """Return an entry for an unlisted id; all MiniGrid environments have the same actions."""
    name = env_id.removeprefix("MiniGrid-").removeprefix("BabyAI-")
    return grid_entry(
        env_id=env_id,
        title=title_from_id(name),
        summary=f"`{env_id}` is a MiniGrid environment that is not in the catalog.",
        goal="Complete the mission.",
        ends=f"When the mission succeeds or fails, {_TIMEOUT}.",
        is_generated=True,
    )
