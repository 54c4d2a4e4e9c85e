"""Box2D: rigid bodies in two dimensions. Several keys at once; throttles and wheels ramp."""

from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.fields import boolean, number
from mosaic.envs.key_map_builders import WASD, discrete_keys, joint_keys
from mosaic.envs.key_maps import KeyAxis, KeyMap

FAMILY = Family(
    id="box2d",
    title="Box2D",
    summary="A moon lander, a walker and a racing car, with real physics in two dimensions.",
    module="Box2D",
)

_FPS = 50
_LANDER_KEYS = discrete_keys(
    {
        "left": (1, "turn left (left engine)"),
        "up": (2, "main engine"),
        "right": (3, "turn right (right engine)"),
    },
    idle=0,
)
_LANDER_THROTTLES = KeyMap(
    axes=(
        KeyAxis(
            index=0,
            label="main engine",
            low=0.0,
            high=1.0,
            up_keys=("up",),
            ramp_per_s=4.0,
            sources=("gamepad_right_trigger", "gamepad_left_y"),
        ),
        # Below one half the side engines are off, so a slow ramp would only be a delay.
        KeyAxis(
            index=1,
            label="turn left and right",
            low=-1.0,
            high=1.0,
            down_keys=("left",),
            up_keys=("right",),
            sources=("gamepad_left_x",),
        ),
    ),
    aliases=WASD,
    idle=[0.0, 0.0],
)
_CAR_PEDALS = KeyMap(
    axes=(
        KeyAxis(
            index=0,
            label="steer",
            low=-1.0,
            high=1.0,
            down_keys=("left",),
            up_keys=("right",),
            ramp_per_s=3.0,
            sources=("mouse_x", "gamepad_left_x"),
        ),
        KeyAxis(
            index=1,
            label="gas",
            low=0.0,
            high=1.0,
            up_keys=("up",),
            ramp_per_s=4.0,
            sources=("gamepad_right_trigger",),
        ),
        # At full pressure the wheels lock and the car slides on.
        KeyAxis(
            index=2,
            label="brake",
            low=0.0,
            high=0.8,
            up_keys=("down", "space"),
            ramp_per_s=4.0,
            sources=("gamepad_left_trigger",),
        ),
    ),
    aliases=WASD,
    idle=[0.0, 0.0, 0.0],
)
_CAR_KEYS = discrete_keys(
    {
        "right": (1, "steer right"),
        "left": (2, "steer left"),
        "up": (3, "gas"),
        "down": (4, "brake"),
    },
    idle=0,
    aliases={**WASD, "space": "down"},
)
_WALKER_JOINTS = ("first hip", "first knee", "second hip", "second knee")


def _lunar_lander(env_id: str, title: str, continuous: bool) -> EnvironmentEntry:
    actions = (
        "Two numbers from -1 to 1."
        " The main engine is off up to 0 and runs at half to full power above it;"
        " the side engines fire below -0.5 and above 0.5."
        if continuous
        else "One engine at a time at full power, or none: left, main or right."
    )
    meanings = (
        ("main engine", "side engines")
        if continuous
        else ("nothing", "left engine", "main engine", "right engine")
    )
    return EnvironmentEntry(
        env_id=env_id,
        family="box2d",
        title=title,
        summary="A lander falls towards the moon with a random push. Its fuel is without limit.",
        goal="Land softly and upright on the pad between the flags. 200 points are a good landing.",
        observation=(
            "Eight numbers: position, speed, angle and turning speed of the lander,"
            " and whether each leg touches the ground."
        ),
        actions=actions,
        action_meanings=meanings,
        rewards=(
            "More for coming closer, slower and upright, and 10 for each leg on the ground."
            " The main engine costs 0.3 a step and a side engine 0.03."
            " 100 for coming to rest, -100 for a crash."
        ),
        ends=(
            "When the lander crashes, leaves the picture at the side, comes to rest, or after"
            " 1,000 steps."
        ),
        action_kind="continuous" if continuous else "discrete",
        fields=(
            boolean(
                "continuous",
                continuous,
                "Throttles instead of engines that are on or off.",
                group="Lander",
            ),
            number(
                "gravity",
                -10.0,
                -11.99,
                -0.01,
                "How strongly the moon pulls; downwards is negative.",
                group="World",
            ),
            boolean("enable_wind", False, "Whether there is wind.", group="World"),
            number("wind_power", 15.0, 0.0, 20.0, "The strongest push of the wind.", group="World"),
            number(
                "turbulence_power",
                1.5,
                0.0,
                2.0,
                "How strongly the wind can turn the lander.",
                group="World",
            ),
        ),
        keys=_LANDER_THROTTLES if continuous else _LANDER_KEYS,
        other_keys=(_LANDER_KEYS if continuous else _LANDER_THROTTLES,),
        render_fps=_FPS,
        max_episode_steps=1000,
    )


def _bipedal_walker(env_id: str, title: str, hardcore: bool, steps: int) -> EnvironmentEntry:
    terrain = "over ladders, stumps and pits" if hardcore else "over slightly uneven ground"
    return EnvironmentEntry(
        env_id=env_id,
        family="box2d",
        title=title,
        summary=f"A robot with two legs walks {terrain}.",
        goal="Walk to the far end on the right without falling. 300 points are the whole way.",
        observation=(
            "24 numbers: angle and speeds of the hull, angles and speeds of the joints,"
            " which leg touches the ground, and ten distances to the terrain ahead."
        ),
        actions="Four numbers from -1 to 1: the motors at the hips and knees.",
        action_meanings=_WALKER_JOINTS,
        rewards=(
            "More for moving ahead with a level hull, and a little less for each motor that works."
            " -100 for a fall, or for walking back behind the start."
        ),
        ends=(
            "When the hull touches the ground, behind the start, at the end of the terrain,"
            f" or after {steps:,} steps."
        ),
        action_kind="continuous",
        fields=(
            boolean("hardcore", hardcore, "Ladders, stumps and pits instead of gentle ground."),
        ),
        keys=joint_keys(_WALKER_JOINTS, -1.0, 1.0),
        render_fps=_FPS,
        max_episode_steps=steps,
    )


_CAR_RACING = EnvironmentEntry(
    env_id="CarRacing-v3",
    family="box2d",
    title="Car Racing",
    summary="A rear-wheel drive car seen from above, on a track that is new in every episode.",
    goal="Drive one lap as fast as you can. Do not accelerate and turn at the same time.",
    observation=(
        "A picture from above, 96 by 96 pixels in colour, with the instruments below the track."
    ),
    actions="Three numbers: steering from -1 (left) to 1 (right), gas and brake from 0 to 1.",
    action_meanings=("steering", "gas", "brake"),
    rewards=(
        "1,000 shared among all tiles of the track, for each one when it is first driven on."
        " -0.1 for each step, and -100 for leaving the field."
    ),
    ends="After the lap, far off the track, or after 1,000 steps.",
    action_kind="continuous",
    fields=(
        boolean("continuous", True, "Wheel and pedals instead of five fixed actions.", group="Car"),
        number(
            "lap_complete_percent",
            0.95,
            0.05,
            1.0,
            "The share of tiles that must be driven on before a lap counts.",
            group="Track",
        ),
        boolean(
            "domain_randomize",
            False,
            "New colours of grass and track in every episode.",
            group="Track",
        ),
    ),
    keys=_CAR_PEDALS,
    other_keys=(_CAR_KEYS,),
    render_fps=_FPS,
    max_episode_steps=1000,
)

ENTRIES = (
    _lunar_lander("LunarLander-v3", "Lunar Lander", continuous=False),
    _lunar_lander("LunarLanderContinuous-v3", "Lunar Lander, continuous", continuous=True),
    _bipedal_walker("BipedalWalker-v3", "Bipedal Walker", hardcore=False, steps=1600),
    _bipedal_walker("BipedalWalkerHardcore-v3", "Bipedal Walker, hardcore", True, 2000),
    _CAR_RACING,
)
