"""Box2D environments. Key maps combine keys; throttle and steering ramp."""

from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.fields import boolean, number
from mosaic.envs.key_map_builders import WASD, discrete_keys, joint_keys
from mosaic.envs.key_maps import KeyAxis, KeyMap

FAMILY = Family(
    id="box2d",
    title="Box2D",
    summary="Lunar lander, bipedal walker and car racing, with 2D rigid-body physics.",
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
        # Below 0.5 the side engines are off, so a ramp would only add a delay.
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
        # At full brake the wheels lock and the car slides.
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
        "Two values from -1 to 1."
        " The main engine is off up to 0 and runs at 50 to 100 % power above it;"
        " the side engines fire below -0.5 and above 0.5."
        if continuous
        else "Do nothing, or fire the left, main or right engine at full power."
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
        summary="A lander with unlimited fuel starts with a random force above the moon.",
        goal="Land softly and upright on the pad between the flags. 200 counts as solved.",
        observation=(
            "Eight values: position, velocity, angle and angular velocity of the lander,"
            " and ground contact of each leg."
        ),
        actions=actions,
        action_meanings=meanings,
        rewards=(
            "Increases when closer to the pad, slower and more upright; 10 for each leg contact."
            " -0.3 per step of the main engine, -0.03 per step of a side engine."
            " 100 for landing, -100 for a crash."
        ),
        ends=(
            "When the lander crashes, leaves the viewport or comes to rest, or after 1,000 steps."
        ),
        action_kind="continuous" if continuous else "discrete",
        fields=(
            boolean(
                "continuous",
                continuous,
                "Use continuous throttles instead of discrete engines.",
                group="Lander",
            ),
            number(
                "gravity",
                -10.0,
                -11.99,
                -0.01,
                "Gravity; negative is downwards.",
                group="World",
            ),
            boolean("enable_wind", False, "Enable wind.", group="World"),
            number("wind_power", 15.0, 0.0, 20.0, "Maximum linear wind force.", group="World"),
            number(
                "turbulence_power",
                1.5,
                0.0,
                2.0,
                "Maximum rotational wind force.",
                group="World",
            ),
        ),
        keys=_LANDER_THROTTLES if continuous else _LANDER_KEYS,
        other_keys=(_LANDER_KEYS if continuous else _LANDER_THROTTLES,),
        render_fps=_FPS,
        max_episode_steps=1000,
    )


def _bipedal_walker(env_id: str, title: str, hardcore: bool, steps: int) -> EnvironmentEntry:
    terrain = "over ladders, stumps and pitfalls" if hardcore else "over slightly uneven terrain"
    return EnvironmentEntry(
        env_id=env_id,
        family="box2d",
        title=title,
        summary=f"A robot with two legs walks {terrain}.",
        goal="Walk to the far end on the right without falling. 300 counts as solved.",
        observation=(
            "24 values: hull angle and velocities, joint angles and speeds, leg contacts,"
            " and 10 lidar measurements."
        ),
        actions="Four motor speeds from -1 to 1, at the hips and knees.",
        action_meanings=_WALKER_JOINTS,
        rewards=(
            "Positive for moving forward, with a small cost for motor torque."
            " -100 for falling or for moving behind the start."
        ),
        ends=(
            "When the hull touches the ground, behind the start, at the end of the terrain,"
            f" or after {steps:,} steps."
        ),
        action_kind="continuous",
        fields=(boolean("hardcore", hardcore, "Add ladders, stumps and pitfalls."),),
        keys=joint_keys(_WALKER_JOINTS, -1.0, 1.0),
        render_fps=_FPS,
        max_episode_steps=steps,
    )


_CAR_RACING = EnvironmentEntry(
    env_id="CarRacing-v3",
    family="box2d",
    title="Car Racing",
    summary="A rear-wheel drive car seen from above, on a random track in every episode.",
    goal="Complete one lap as fast as possible. Do not accelerate and turn at the same time.",
    observation=("A top-down RGB frame of 96 by 96 pixels, with indicators at the bottom."),
    actions="Three values: steering from -1 (left) to 1 (right), gas and brake from 0 to 1.",
    action_meanings=("steering", "gas", "brake"),
    rewards=(
        "1,000/N for every track tile visited, where N is the number of tiles."
        " -0.1 per step, and -100 for leaving the playfield."
    ),
    ends="When the lap is complete, far off the track, or after 1,000 steps.",
    action_kind="continuous",
    fields=(
        boolean(
            "continuous",
            True,
            "Use continuous steering and pedals instead of five discrete actions.",
            group="Car",
        ),
        number(
            "lap_complete_percent",
            0.95,
            0.05,
            1.0,
            "Fraction of tiles that must be visited to complete a lap.",
            group="Track",
        ),
        boolean(
            "domain_randomize",
            False,
            "Randomise the colours of grass and track in every episode.",
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
