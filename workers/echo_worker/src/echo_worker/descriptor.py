"""What the echo worker says about itself."""

from __future__ import annotations

from pathlib import Path

from echo_worker import __version__
from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports

_MANY = 1_000_000_000

_PACE = (
    Parameter(
        "steps", "int", 1000, min=1, max=_MANY, group="Pace",
        help="Steps to emit, when the run names no total_timesteps.",
    ),
    Parameter(
        "rate", "float", 0.0, min=0.0, max=1e7, unit="lines/s", group="Pace",
        help="Step lines per second, in bursts of 10 ms. 0 is as fast as it can.",
    ),
    Parameter(
        "episode_length", "int", 100, min=1, max=_MANY, unit="steps", group="Pace",
        help="Steps in an episode.",
    ),
    Parameter(
        "line_bytes", "int", 0, min=0, max=1 << 20, unit="bytes", group="Pace",
        help="Pad every step line to this size, newline included. 0 leaves it as it is.",
    ),
)  # fmt: skip

_MISBEHAVIOUR = (
    Parameter(
        "garbage_every", "int", 0, min=0, max=_MANY, unit="steps", group="Misbehaviour",
        help="After every so many steps write one more line that no reader can decode. 0 is never.",
    ),
    Parameter(
        "huge_line_at", "int", 0, min=0, max=_MANY, unit="step", group="Misbehaviour",
        help="After this many steps write one more line of over 1 MiB. 0 is never.",
    ),
    Parameter(
        "crash_at", "int", 0, min=0, max=_MANY, unit="step", group="Misbehaviour",
        help="After this many steps die of SIGSEGV, as of a fault in native code. 0 is never.",
    ),
    Parameter(
        "hang_at", "int", 0, min=0, max=_MANY, unit="step", group="Misbehaviour",
        help="After this many steps fall silent, heartbeat too, until told to stop. 0 is never.",
    ),
    Parameter(
        "ignore_term", "bool", False, group="Misbehaviour",
        help="Ignore SIGTERM and the stop command.",
    ),
    Parameter(
        "fork", "int", 0, min=0, max=64, unit="processes", group="Misbehaviour",
        help="Leave so many sleeping processes behind, every second one in a session of its own.",
    ),
    Parameter(
        "exit_code", "int", 0, min=0, max=255, group="Misbehaviour",
        help="The exit code at the end of the run.",
    ),
)  # fmt: skip

DESCRIPTOR = Descriptor(
    worker="echo_worker",
    label="Echo Worker",
    version=__version__,
    summary="Emits every kind of telemetry line, trains nothing, and misbehaves when told to.",
    algorithms=(
        Algorithm(
            id="echo",
            label="Echo",
            doc="Rewards are random numbers; the same seed gives the same ones.",
            parameters=_PACE + _MISBEHAVIOUR,
            page=Path(__file__).with_name("echo.md").read_text(encoding="utf-8"),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True, checkpoints=True),
    needs=Needs(bundle="echo_worker"),
    licence=("MIT",),
)
