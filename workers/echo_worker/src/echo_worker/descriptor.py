"""The descriptor of the echo worker."""

from __future__ import annotations

from pathlib import Path

from echo_worker import __version__
from mosaic_worker import Algorithm, Descriptor, Environments, Needs, Parameter, Supports

_MAX_COUNT = 1_000_000_000

_PACE = (
    Parameter(
        "steps", "int", 1000, min=1, max=_MAX_COUNT, group="Pace",
        help="Steps to emit if total_timesteps is not set. Default: 1000.",
    ),
    Parameter(
        "rate", "float", 0.0, min=0.0, max=1e7, unit="lines/s", group="Pace",
        help="Step lines per second; 0 is unlimited. Default: 0.",
    ),
    Parameter(
        "episode_length", "int", 100, min=1, max=_MAX_COUNT, unit="steps", group="Pace",
        help="Steps per episode. Default: 100.",
    ),
    Parameter(
        "line_bytes", "int", 0, min=0, max=1 << 20, unit="bytes", group="Pace",
        help="Pad step lines to this size; 0 disables. Default: 0.",
    ),
)  # fmt: skip

_MISBEHAVIOUR = (
    Parameter(
        "garbage_every", "int", 0, min=0, max=_MAX_COUNT, unit="steps", group="Misbehaviour",
        help="Write an invalid line every N steps; 0 disables. Default: 0.",
    ),
    Parameter(
        "huge_line_at", "int", 0, min=0, max=_MAX_COUNT, unit="step", group="Misbehaviour",
        help="Write a line over 1 MiB after N steps; 0 disables. Default: 0.",
    ),
    Parameter(
        "crash_at", "int", 0, min=0, max=_MAX_COUNT, unit="step", group="Misbehaviour",
        help="Crash with SIGSEGV after N steps; 0 disables. Default: 0.",
    ),
    Parameter(
        "hang_at", "int", 0, min=0, max=_MAX_COUNT, unit="step", group="Misbehaviour",
        help="Hang without heartbeats after N steps; 0 disables. Default: 0.",
    ),
    Parameter(
        "ignore_term", "bool", False, group="Misbehaviour",
        help="Ignore SIGTERM and the stop command. Default: false.",
    ),
    Parameter(
        "fork", "int", 0, min=0, max=64, unit="processes", group="Misbehaviour",
        help="Leave N sleeping processes behind, half of them detached. Default: 0.",
    ),
    Parameter(
        "exit_code", "int", 0, min=0, max=255, group="Misbehaviour",
        help="Exit code of the run. Default: 0.",
    ),
)  # fmt: skip

DESCRIPTOR = Descriptor(
    worker="echo_worker",
    label="Echo Worker",
    version=__version__,
    summary="Emits every type of telemetry line without training; can misbehave for tests.",
    algorithms=(
        Algorithm(
            id="echo",
            label="Echo",
            doc="Random rewards, reproducible by the seed.",
            parameters=_PACE + _MISBEHAVIOUR,
            page=Path(__file__).with_name("echo.md").read_text(encoding="utf-8"),
        ),
    ),
    environments=Environments(any=True),
    supports=Supports(pause=True, checkpoints=True),
    needs=Needs(bundle="echo_worker"),
    licence=("MIT",),
)
