"""Classic control environments: carts, poles and pendulums."""

from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.fields import boolean, number
from mosaic.envs.key_map_builders import discrete_keys, slider_keys

FAMILY = Family(
    id="classic-control",
    title="Classic control",
    summary="Classic control problems: carts, poles and pendulums.",
    module="pygame",
)

_GOAL_VELOCITY = number(
    "goal_velocity",
    0.0,
    0.0,
    0.07,
    "Minimum velocity at the flag.",
    unit="per step",
)

ENTRIES = (
    EnvironmentEntry(
        env_id="CartPole-v1",
        family="classic-control",
        title="Cart Pole",
        summary="A pole is attached to a cart that moves on a frictionless track.",
        goal="Balance the pole by pushing the cart to the left and to the right.",
        observation=(
            "Four values: cart position, cart velocity, pole angle, pole angular velocity."
        ),
        actions="Push the cart with a fixed force to the left or to the right.",
        action_meanings=("push left", "push right"),
        rewards="1 for each step, including the last one.",
        ends=(
            "When the pole angle exceeds 12 degrees, the cart position exceeds 2.4,"
            " or after 500 steps."
        ),
        action_kind="discrete",
        fields=(
            boolean(
                "sutton_barto_reward",
                False,
                "Reward 0 for each step and -1 on failure, as in Sutton and Barto.",
            ),
        ),
        # There is no no-op: the environment waits while no key is pressed.
        keys=discrete_keys({"left": (0, "push left"), "right": (1, "push right")}),
        render_fps=50,
        turn_based=True,
        max_episode_steps=500,
    ),
    EnvironmentEntry(
        env_id="MountainCar-v0",
        family="classic-control",
        title="Mountain Car",
        summary="A car in a valley whose engine is too weak to climb the hill directly.",
        goal="Build up momentum to reach the flag on the right hill.",
        observation="Two values: position and velocity of the car.",
        actions="Accelerate to the left, do not accelerate, or accelerate to the right.",
        action_meanings=("accelerate left", "coast", "accelerate right"),
        rewards="-1 for each step.",
        ends="At the flag (position 0.5), or after 200 steps.",
        action_kind="discrete",
        fields=(_GOAL_VELOCITY,),
        keys=discrete_keys(
            {"left": (0, "accelerate left"), "right": (2, "accelerate right")}, idle=1
        ),
        render_fps=30,
        max_episode_steps=200,
    ),
    EnvironmentEntry(
        env_id="MountainCarContinuous-v0",
        family="classic-control",
        title="Mountain Car, continuous",
        summary=("Mountain Car with a continuous force."),
        goal="Reach the flag on the right hill with little energy.",
        observation="Two values: position and velocity of the car.",
        actions="One value: the force from -1 (left) to 1 (right).",
        action_meanings=("power",),
        rewards="100 for reaching the flag, minus 0.1 times the squared action for each step.",
        ends="At the flag (position 0.45), or after 999 steps.",
        action_kind="continuous",
        fields=(_GOAL_VELOCITY,),
        keys=slider_keys("power", 1.0),
        render_fps=30,
        max_episode_steps=999,
    ),
    EnvironmentEntry(
        env_id="Acrobot-v1",
        family="classic-control",
        title="Acrobot",
        summary="Two links hang in a chain, with an actuated joint between them.",
        goal="Swing the free end above the target height.",
        observation="Six values: cosine and sine of both angles, and both angular velocities.",
        actions="Apply a torque of -1, 0 or 1 to the joint between the links.",
        action_meanings=("torque -1", "no torque", "torque 1"),
        rewards="-1 for each step, 0 for the one that reaches the target height.",
        ends="When the free end is above the target height, or after 500 steps.",
        action_kind="discrete",
        keys=discrete_keys({"left": (0, "torque -1"), "right": (2, "torque 1")}, idle=1),
        render_fps=15,
        max_episode_steps=500,
    ),
    EnvironmentEntry(
        env_id="Pendulum-v1",
        family="classic-control",
        title="Pendulum",
        summary="A pendulum whose motor at the pivot is too weak to lift it directly.",
        goal="Swing the pendulum up and keep it upright with little torque.",
        observation="Three values: cosine and sine of the angle, and the angular velocity.",
        actions="One value: the torque from -2 (clockwise) to 2 (counter-clockwise).",
        action_meanings=("torque",),
        rewards=(
            "-(angle² + 0.1 · angular velocity² + 0.001 · torque²)."
            " The maximum is 0, upright without motion."
        ),
        ends="After 200 steps.",
        action_kind="continuous",
        fields=(number("g", 10.0, 0.0, 30.0, "Gravitational acceleration.", unit="m/s²"),),
        keys=slider_keys("torque", 2.0, is_inverted=True),
        render_fps=30,
        max_episode_steps=200,
    ),
)
