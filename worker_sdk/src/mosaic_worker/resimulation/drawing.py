"""What drawing means to gymnasium's own Box2D environments, which draw more than their state.

LunarLander lets sparks fade each time it is drawn, and BipedalWalker sweeps a beam: so that a frame
looks the same whichever way it was reached, the sparks' life is drawn before it, unseen, and the
beam is set to where it would be. CarRacing draws its observation, which nobody looks at here, in
every step: without that it is ten times as fast. All others need none of this.
"""

from __future__ import annotations

from typing import Any

_BOX2D = "gymnasium.envs.box2d."
_SPARK_LIFE = 8
"""A spark is gone after seven pictures."""


class Drawing:
    """Of an environment without such ways."""

    pictures_before = 0
    """How many of the pictures before one must have been drawn."""

    def before_step(self, *, is_seen: bool) -> None:
        """`is_seen`: one of the next pictures will show what this step adds to it."""

    def before_picture(self, steps: int) -> None:
        """The environment is about to be drawn, after so many steps."""


class _FadingSparks(Drawing):
    pictures_before = _SPARK_LIFE

    def __init__(self, lander: Any) -> None:
        self._lander = lander
        self._mode = lander.render_mode

    def before_step(self, *, is_seen: bool) -> None:
        # Sparks that nobody will see are not made: they would pile up, and slow the world down.
        self._lander.render_mode = self._mode if is_seen else None

    def before_picture(self, steps: int) -> None:  # noqa: ARG002 - the interface
        self._lander.render_mode = self._mode


class _SweepingBeam(Drawing):
    def __init__(self, walker: Any) -> None:
        self._walker = walker

    def before_picture(self, steps: int) -> None:
        self._walker.lidar_render = steps % 100


class _DrawnObservation(Drawing):
    def __init__(self, car: Any) -> None:
        self._car = car

    def before_step(self, *, is_seen: bool) -> None:  # noqa: ARG002 - the interface
        # A copy: gymnasium warns of an environment that gives the same array again and again.
        self._car._render = lambda _mode: self._car.state.copy()  # noqa: SLF001 - no other way

    def before_picture(self, steps: int) -> None:  # noqa: ARG002 - the interface
        vars(self._car).pop("_render", None)


_WAYS = {
    "lunar_lander": ("particles", _FadingSparks),
    "bipedal_walker": ("lidar_render", _SweepingBeam),
    "car_racing": ("state", _DrawnObservation),
}


def drawing_of(env: Any) -> Drawing:
    """How the environment is to be drawn. What is merely derived from one of these is not one."""
    game = env.unwrapped
    home, _, name = type(game).__module__.rpartition(".")
    attribute, way = _WAYS.get(name, ("", None))
    if way is None or home + "." != _BOX2D or not hasattr(game, attribute):
        return Drawing()
    return way(game)
