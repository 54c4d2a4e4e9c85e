"""Plans the start of a script: its location, flags, command line and environment."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from cleanrl_worker.upstream.child_environment import (
    child_environment,
    tracking_environment,
    upload_environment,
)
from cleanrl_worker.upstream.command_line import CommandLine, build_command_line
from cleanrl_worker.upstream.flag_reading import read_flags
from cleanrl_worker.upstream.flags import ScriptFlags
from cleanrl_worker.upstream.script_location import ScriptLocation, locate_script
from cleanrl_worker.upstream.telemetry_channel import TelemetryOptions, telemetry_options
from mosaic_worker import WorkerError
from mosaic_worker.run import CHECKPOINT_VARIABLE

if TYPE_CHECKING:
    from mosaic_worker import RunConfig

INSTRUMENTED = "cleanrl_worker.upstream.instrumented"


class Launch(NamedTuple):
    """How a script is started."""

    location: ScriptLocation
    flags: ScriptFlags
    command: CommandLine
    environment: dict[str, str]
    telemetry: TelemetryOptions
    offline_reason: str
    """Why Weights & Biases runs offline; empty if it is online or not used."""

    @property
    def argv(self) -> list[str]:
        entry = ["-m", INSTRUMENTED] if self.telemetry.is_enabled else []
        return [sys.executable, *entry, str(self.location.path), *self.command.arguments]


def plan_launch(config: RunConfig) -> Launch:
    """Raises `WorkerError` if there is no script or it lacks a required flag."""
    raw: dict[str, Any] = config.raw
    _reject_checkpoint(raw)
    location = locate_script(str(raw.get("script") or ""), raw.get("python_path") or ())
    environment = child_environment(location, raw)
    flags = read_flags(location, environment)
    command = build_command_line(config, flags)
    reason = ""
    if command.is_tracked:
        wandb = (raw.get("artifacts") or {}).get("wandb") or {}
        environment, reason = tracking_environment(environment, wandb)
    if command.is_uploaded:
        environment = upload_environment(environment)
    return Launch(location, flags, command, environment, telemetry_options(raw), reason)


def _reject_checkpoint(raw: dict[str, Any]) -> None:
    is_resume = (raw.get("metadata") or {}).get("resume")
    if raw.get("warm_start") or is_resume or os.environ.get(CHECKPOINT_VARIABLE):
        raise WorkerError(
            "A script cannot resume from a checkpoint: it always starts from step 0.",
            remedy="Start it without `warm_start` and `--resume`.",
        )
