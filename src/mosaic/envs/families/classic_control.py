"""Classic control: carts, poles and pendulums, a few numbers each."""

from mosaic.envs.entries import EnvironmentEntry, Family
from mosaic.envs.fields import boolean, number
from mosaic.envs.key_map_builders import discrete_keys, slider_keys

FAMILY = Family(
    id="classic-control",
    title="Classic control",
    summary="Carts, poles and pendulums: the problems that control theory began with.",
    module="pygame",
)

_GOAL_VELOCITY = number(
    "goal_velocity",
    0.0,
    0.0,
    0.07,
    "How fast the car must at least be at the flag.",
    unit="a step",
)

ENTRIES = (
    EnvironmentEntry(
        env_id="CartPole-v1",
        family="classic-control",
        title="Cart Pole",
        summary="A pole stands on a cart that runs on a rail, and wants to fall over.",
        goal="Keep the pole upright by pushing the cart to the left and to the right.",
        observation=(
            "Four numbers: position and speed of the cart, angle and turning speed of the pole."
        ),
        actions="Each step pushes the cart with the same force, to the left or to the right.",
        action_meanings=("push left", "push right"),
        rewards="1 for each step, the last one included.",
        ends=(
            "When the pole leans more than 12 degrees, the cart is more than 2.4 away from the"
            " middle, or after 500 steps."
        ),
        action_kind="discrete",
        fields=(
            boolean(
                "sutton_barto_reward",
                False,
                "0 for each step and -1 for the one that fails, as in Sutton and Barto's book.",
            ),
        ),
        # There is no action that does nothing: held keys alone move it, and it waits otherwise.
        keys=discrete_keys({"left": (0, "push left"), "right": (1, "push right")}),
        render_fps=50,
        turn_based=True,
        max_episode_steps=500,
    ),
    EnvironmentEntry(
        env_id="MountainCar-v0",
        family="classic-control",
        title="Mountain Car",
        summary="A car in a valley whose engine is too weak for the hill.",
        goal="Swing back and forth until the car makes it to the flag on the right hill.",
        observation="Two numbers: the car's position and its speed.",
        actions="Accelerate to the left, coast, or accelerate to the right.",
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
        summary=(
            "The car in the valley again, with a pedal that can be pressed as far as one likes."
        ),
        goal="Swing up to the flag on the right hill, and spend little on the way.",
        observation="Two numbers: the car's position and its speed.",
        actions="One number from -1 (full power to the left) to 1 (to the right).",
        action_meanings=("power",),
        rewards="100 for reaching the flag, and minus a tenth of the power squared for each step.",
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
        summary="Two links hang from a bar like a gymnast, with a motor at the hip only.",
        goal="Swing the free end up above the line.",
        observation="Six numbers: cosine and sine of the two angles, and the two turning speeds.",
        actions="Turn the joint between the links one way, let it be, or turn it the other way.",
        action_meanings=("torque -1", "no torque", "torque 1"),
        rewards="-1 for each step, 0 for the one that reaches the line.",
        ends="When the free end is above the line, or after 500 steps.",
        action_kind="discrete",
        keys=discrete_keys({"left": (0, "torque -1"), "right": (2, "torque 1")}, idle=1),
        render_fps=15,
        max_episode_steps=500,
    ),
    EnvironmentEntry(
        env_id="Pendulum-v1",
        family="classic-control",
        title="Pendulum",
        summary="A pendulum with a motor at its pivot that is too weak to lift it straight up.",
        goal="Swing the pendulum up and keep it there with as little torque as possible.",
        observation="Three numbers: cosine and sine of the angle, and the turning speed.",
        actions="One number: the torque from -2 (clockwise) to 2 (counter-clockwise).",
        action_meanings=("torque",),
        rewards=(
            "At most 0, for standing still upright."
            " Each step costs the angle squared, a tenth of the speed squared and a thousandth of"
            " the torque squared."
        ),
        ends="After 200 steps.",
        action_kind="continuous",
        fields=(number("g", 10.0, 0.0, 30.0, "How strongly gravity pulls.", unit="m/s²"),),
        keys=slider_keys("torque", 2.0, is_inverted=True),
        render_fps=30,
        max_episode_steps=200,
    ),
)
