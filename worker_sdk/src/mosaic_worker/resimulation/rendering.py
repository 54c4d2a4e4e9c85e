"""Renders environments to bytes, with adapters for Box2D environments that draw hidden state.

LunarLander fades its particles with every render, and BipedalWalker moves a lidar beam. To make a
frame independent of how it was reached, the lifetime of the particles is rendered before it, and
the beam is set to its position. CarRacing renders its observation in every step, which replay does
not use: without that it is ten times as fast. Other environments need no adapter.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mosaic_worker.frames import make_contiguous

_BOX2D = "gymnasium.envs.box2d."
_PARTICLE_FRAMES = 8
"""A particle of LunarLander disappears after seven frames."""
NOTHING_RENDERED = "render() returned None."
_MAX_REASON_CHARS = 300


class RenderedFrame(NamedTuple):
    """`height` rows of `width` pixels of `channels` bytes; or a problem instead."""

    width: int = 0
    height: int = 0
    channels: int = 0
    pixels: memoryview | None = None
    problem: str = ""


def render_frame(env: Any) -> RenderedFrame:
    """Render the environment. Never raises: the problem is in the result."""
    try:
        return _to_frame(env.render())
    except Exception as error:  # noqa: BLE001 - third-party code may raise anything
        reason = f"{type(error).__name__}: {error}"[:_MAX_REASON_CHARS]
        return RenderedFrame(problem=f"render() raised {reason}")


def _to_frame(image: Any) -> RenderedFrame:
    import numpy as np  # noqa: PLC0415 - optional, and slow to import

    if image is None:
        return RenderedFrame(problem=NOTHING_RENDERED)
    if isinstance(image, list) and image:  # a wrapper that collects frames
        image = image[-1]
    if not isinstance(image, np.ndarray) or image.ndim not in (2, 3) or 0 in image.shape:
        return RenderedFrame(problem=f"render() returned {_describe(image)}, not an image.")
    channels = 1 if image.ndim == 2 else image.shape[2]
    if channels not in (1, 3, 4) or image.dtype != np.uint8:
        return RenderedFrame(problem=f"render() returned an unsupported image: {_describe(image)}.")
    height, width = image.shape[:2]
    return RenderedFrame(width, height, channels, memoryview(make_contiguous(image)).cast("B"))


def _describe(value: Any) -> str:
    shape = getattr(value, "shape", None)
    kind = type(value).__name__
    return kind if shape is None else f"{kind} of {shape} {value.dtype}"


class RenderAdapter:
    """For environments whose frame depends only on their state."""

    frames_before = 0
    """Number of preceding frames that must be rendered first."""

    def before_step(self, *, is_visible: bool) -> None:
        """`is_visible`: one of the next frames will show the effects of this step."""

    def before_frame(self, steps: int) -> None:
        """The environment is about to be rendered after `steps` steps."""


class _FadingParticles(RenderAdapter):
    frames_before = _PARTICLE_FRAMES

    def __init__(self, lander: Any) -> None:
        self._lander = lander
        self._mode = lander.render_mode

    def before_step(self, *, is_visible: bool) -> None:
        # Without rendering, particles would pile up and slow down the physics.
        self._lander.render_mode = self._mode if is_visible else None

    def before_frame(self, steps: int) -> None:  # noqa: ARG002 - the interface
        self._lander.render_mode = self._mode


class _MovingBeam(RenderAdapter):
    def __init__(self, walker: Any) -> None:
        self._walker = walker

    def before_frame(self, steps: int) -> None:
        self._walker.lidar_render = steps % 100


class _RenderedObservation(RenderAdapter):
    def __init__(self, car: Any) -> None:
        self._car = car

    def before_step(self, *, is_visible: bool) -> None:  # noqa: ARG002 - the interface
        # A copy, because gymnasium warns if an environment returns the same array twice.
        self._car._render = lambda _mode: self._car.state.copy()  # noqa: SLF001 - private

    def before_frame(self, steps: int) -> None:  # noqa: ARG002 - the interface
        vars(self._car).pop("_render", None)


_ADAPTERS = {
    "lunar_lander": ("particles", _FadingParticles),
    "bipedal_walker": ("lidar_render", _MovingBeam),
    "car_racing": ("state", _RenderedObservation),
}


def make_render_adapter(env: Any) -> RenderAdapter:
    """The adapter of the environment. Subclasses of the known classes get none."""
    unwrapped = env.unwrapped
    package, _, name = type(unwrapped).__module__.rpartition(".")
    attribute, adapter = _ADAPTERS.get(name, ("", None))
    if adapter is None or package + "." != _BOX2D or not hasattr(unwrapped, attribute):
        return RenderAdapter()
    return adapter(unwrapped)
