"""The worker SDK of MOSAIC. Standard library only, Python 3.8 and newer.

Names are imported on first use, because a worker's `--describe` needs few of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mosaic_worker.compat import install

if TYPE_CHECKING:
    from mosaic_worker.checkpoint import save_checkpoint
    from mosaic_worker.cli import main
    from mosaic_worker.control import Command, Control, ControlCommand
    from mosaic_worker.descriptor import (
        Algorithm,
        Descriptor,
        Environments,
        Needs,
        Supports,
    )
    from mosaic_worker.emitter import Emitter
    from mosaic_worker.environments.factory import make_environment
    from mosaic_worker.errors import ConfigError, WorkerError
    from mosaic_worker.frames import FrameMailbox
    from mosaic_worker.heartbeat import Heartbeat
    from mosaic_worker.parameter import Parameter
    from mosaic_worker.recording.recorder import EpisodeRecorder
    from mosaic_worker.run import Run
    from mosaic_worker.run_config import RunConfig

__version__ = "0.1.0"

install()

_MODULES = {
    "Algorithm": "descriptor",
    "Command": "control",
    "ConfigError": "errors",
    "Control": "control",
    "ControlCommand": "control",
    "Descriptor": "descriptor",
    "Emitter": "emitter",
    "Environments": "descriptor",
    "EpisodeRecorder": "recording.recorder",
    "FrameMailbox": "frames",
    "Heartbeat": "heartbeat",
    "Needs": "descriptor",
    "Parameter": "parameter",
    "Run": "run",
    "RunConfig": "run_config",
    "Supports": "descriptor",
    "WorkerError": "errors",
    "main": "cli",
    "make_environment": "environments.factory",
    "save_checkpoint": "checkpoint",
}

__all__ = [
    "Algorithm",
    "Command",
    "ConfigError",
    "Control",
    "ControlCommand",
    "Descriptor",
    "Emitter",
    "Environments",
    "EpisodeRecorder",
    "FrameMailbox",
    "Heartbeat",
    "Needs",
    "Parameter",
    "Run",
    "RunConfig",
    "Supports",
    "WorkerError",
    "main",
    "make_environment",
    "save_checkpoint",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - costs start-up time otherwise

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
