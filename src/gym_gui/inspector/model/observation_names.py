"""What the numbers of an observation are called, where that is known."""

import re
from collections.abc import Sequence

_VERSION = re.compile(r"-v\d+$")

_LANDER = (
    "x position",
    "y position",
    "x velocity",
    "y velocity",
    "angle",
    "angular velocity",
    "left leg on ground",
    "right leg on ground",
)
_LEG = ("hip angle", "hip speed", "knee angle", "knee speed", "on ground")
_NAMES: dict[str, tuple[str, ...]] = {
    "CartPole": ("cart position", "cart velocity", "pole angle", "pole angular velocity"),
    "MountainCar": ("position", "velocity"),
    "MountainCarContinuous": ("position", "velocity"),
    "Pendulum": ("cosine of angle", "sine of angle", "angular velocity"),
    "Acrobot": (
        "cosine of first angle",
        "sine of first angle",
        "cosine of second angle",
        "sine of second angle",
        "first angular velocity",
        "second angular velocity",
    ),
    "LunarLander": _LANDER,
    "LunarLanderContinuous": _LANDER,
    "BipedalWalker": (
        "hull angle",
        "hull angular velocity",
        "x velocity",
        "y velocity",
        *(f"first {name}" for name in _LEG),
        *(f"second {name}" for name in _LEG),
        *(f"lidar {ray}" for ray in range(1, 11)),
    ),
    "InvertedPendulum": (
        "cart position",
        "pole angle",
        "cart velocity",
        "pole angular velocity",
    ),
    "Blackjack": ("your sum", "dealer's card", "usable ace"),
}
_ALIASES = {"BipedalWalkerHardcore": "BipedalWalker"}


def observation_names(env_id: str, count: int) -> Sequence[str]:
    """One for each number; their indices where nobody has named them."""
    name = _VERSION.sub("", env_id.rpartition(":")[2])
    known = _NAMES.get(_ALIASES.get(name, name), ())
    return known if len(known) == count else tuple(str(index) for index in range(count))
