"""Configuration fields that the MuJoCo environments share."""

from mosaic.contract.parameters import Parameter
from mosaic.envs.entries import KeywordPair
from mosaic.envs.fields import boolean, integer, number

_REWARD = "Reward"
_HEALTH = "Health"
_START = "Start"
_OBSERVATION = "Observation"
_SIMULATION = "Simulation"
_MAX_FRAME_SIZE = 1920

HEALTHY_Z = KeywordPair(keyword="healthy_z_range", fields=("healthy_z_min", "healthy_z_max"))
HEALTHY_ANGLE = KeywordPair(
    keyword="healthy_angle_range", fields=("healthy_angle_min", "healthy_angle_max")
)


def weight(name: str, default: float, help_: str) -> Parameter:
    """Create a field for the weight of a reward term."""
    return number(name, default, 0.0, 1000.0, help_, group=_REWARD)


def forward_weight(default: float = 1.0) -> Parameter:
    return weight("forward_reward_weight", default, "Weight of the forward reward.")


def control_weight(default: float) -> Parameter:
    return weight("ctrl_cost_weight", default, "Weight of the control cost.")


def contact_weight(default: float) -> Parameter:
    return weight("contact_cost_weight", default, "Weight of the contact cost.")


def healthy_reward(default: float) -> Parameter:
    return weight("healthy_reward", default, "Reward for each step in which the robot is healthy.")


def terminate_when_unhealthy() -> Parameter:
    return boolean(
        "terminate_when_unhealthy",
        True,
        "Terminate the episode when the robot is unhealthy.",
        group=_HEALTH,
    )


def healthy_height(low: float, high: float) -> tuple[Parameter, Parameter]:
    """Create the fields of `HEALTHY_Z`."""
    return (
        number(
            "healthy_z_min",
            low,
            -10.0,
            10.0,
            "Minimum torso height of a healthy robot.",
            unit="m",
            group=_HEALTH,
        ),
        number(
            "healthy_z_max",
            high,
            -10.0,
            100.0,
            "Maximum torso height of a healthy robot.",
            unit="m",
            group=_HEALTH,
        ),
    )


def healthy_angle(limit: float) -> tuple[Parameter, Parameter]:
    """Create the fields of `HEALTHY_ANGLE`."""
    return (
        number(
            "healthy_angle_min",
            -limit,
            -3.2,
            3.2,
            "Minimum torso angle of a healthy robot.",
            unit="rad",
            group=_HEALTH,
        ),
        number(
            "healthy_angle_max",
            limit,
            -3.2,
            3.2,
            "Maximum torso angle of a healthy robot.",
            unit="rad",
            group=_HEALTH,
        ),
    )


def reset_noise(default: float) -> Parameter:
    return number(
        "reset_noise_scale",
        default,
        0.0,
        1.0,
        "Scale of the random noise of the initial state.",
        group=_START,
    )


def exclude_positions() -> Parameter:
    return boolean(
        "exclude_current_positions_from_observation",
        True,
        "Omit the world position from the observation.",
        group=_OBSERVATION,
    )


def include_in_observation(name: str, what: str) -> Parameter:
    """Create a field that adds a section to the observation."""
    return boolean(name, True, f"Include {what} in the observation.", group=_OBSERVATION)


def simulation(frame_skip: int) -> tuple[Parameter, ...]:
    return (
        integer(
            "frame_skip",
            frame_skip,
            1,
            50,
            "Simulation steps per environment step.",
            group=_SIMULATION,
        ),
        integer(
            "width",
            480,
            64,
            _MAX_FRAME_SIZE,
            "Width of rendered frames.",
            unit="pixels",
            group=_SIMULATION,
        ),
        integer(
            "height",
            480,
            64,
            _MAX_FRAME_SIZE,
            "Height of rendered frames.",
            unit="pixels",
            group=_SIMULATION,
        ),
    )
