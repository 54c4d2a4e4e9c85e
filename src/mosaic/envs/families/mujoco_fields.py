"""The configuration fields that MuJoCo's robots share, grouped by what they change."""

from mosaic.contract.parameters import Parameter
from mosaic.envs.entries import KeywordPair
from mosaic.envs.fields import boolean, integer, number

_REWARD = "Reward"
_HEALTH = "Health"
_START = "Start"
_OBSERVATION = "Observation"
_SIMULATION = "Simulation"
_LARGEST_PICTURE = 1920

HEALTHY_Z = KeywordPair(keyword="healthy_z_range", fields=("healthy_z_min", "healthy_z_max"))
HEALTHY_ANGLE = KeywordPair(
    keyword="healthy_angle_range", fields=("healthy_angle_min", "healthy_angle_max")
)


def weight(name: str, default: float, help_: str) -> Parameter:
    """How much one part of the reward counts."""
    return number(name, default, 0.0, 1000.0, help_, group=_REWARD)


def forward_weight(default: float = 1.0) -> Parameter:
    return weight("forward_reward_weight", default, "How much the speed ahead counts.")


def control_weight(default: float) -> Parameter:
    return weight("ctrl_cost_weight", default, "How much strong actions cost.")


def contact_weight(default: float) -> Parameter:
    return weight("contact_cost_weight", default, "How much hard contacts cost.")


def healthy_reward(default: float) -> Parameter:
    return weight("healthy_reward", default, "For each step in which the robot is healthy.")


def health_ends() -> Parameter:
    return boolean(
        "terminate_when_unhealthy",
        True,
        "Whether the episode ends when the robot is no longer healthy.",
        group=_HEALTH,
    )


def healthy_height(low: float, high: float) -> tuple[Parameter, Parameter]:
    """The fields of `HEALTHY_Z`."""
    return (
        number(
            "healthy_z_min",
            low,
            -10.0,
            10.0,
            "Below this height the robot is not healthy.",
            unit="m",
            group=_HEALTH,
        ),
        number(
            "healthy_z_max",
            high,
            -10.0,
            100.0,
            "Above this height the robot is not healthy.",
            unit="m",
            group=_HEALTH,
        ),
    )


def healthy_angle(limit: float) -> tuple[Parameter, Parameter]:
    """The fields of `HEALTHY_ANGLE`."""
    return (
        number(
            "healthy_angle_min",
            -limit,
            -3.2,
            3.2,
            "Leaning further back the robot is not healthy.",
            unit="rad",
            group=_HEALTH,
        ),
        number(
            "healthy_angle_max",
            limit,
            -3.2,
            3.2,
            "Leaning further ahead the robot is not healthy.",
            unit="rad",
            group=_HEALTH,
        ),
    )


def start_noise(default: float) -> Parameter:
    return number(
        "reset_noise_scale",
        default,
        0.0,
        1.0,
        "How much the start differs from episode to episode.",
        group=_START,
    )


def hides_position() -> Parameter:
    return boolean(
        "exclude_current_positions_from_observation",
        True,
        "Whether the place in the world is left out of the observation.",
        group=_OBSERVATION,
    )


def shows(name: str, what: str) -> Parameter:
    """Whether the observation has a part that makes it much longer."""
    return boolean(name, True, f"Whether the observation has {what}.", group=_OBSERVATION)


def simulation(frame_skip: int) -> tuple[Parameter, ...]:
    return (
        integer(
            "frame_skip",
            frame_skip,
            1,
            50,
            "Steps of the physics for each step of the environment.",
            group=_SIMULATION,
        ),
        integer(
            "width", 480, 64, _LARGEST_PICTURE, "Of the picture.", unit="pixels", group=_SIMULATION
        ),
        integer(
            "height", 480, 64, _LARGEST_PICTURE, "Of the picture.", unit="pixels", group=_SIMULATION
        ),
    )
