"""All that has to be known before a script is started; found out without starting it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from cleanrl_worker.upstream.child_environment import (
    child_environment,
    tracking_environment,
    upload_environment,
)
from cleanrl_worker.upstream.command_line import CommandLine, command_line
from cleanrl_worker.upstream.flag_reading import read_flags
from cleanrl_worker.upstream.script_flags import ScriptFlags
from cleanrl_worker.upstream.script_location import ScriptLocation, locate_script
from cleanrl_worker.upstream.telemetry_wanted import TelemetryWanted, telemetry_wanted
from mosaic_worker import WorkerError
from mosaic_worker.run import CHECKPOINT_VARIABLE

if TYPE_CHECKING:
    from mosaic_worker import RunConfig

INSTRUMENTED = "cleanrl_worker.upstream.instrumented"


class Launch(NamedTuple):
    """How a script will be started."""

    location: ScriptLocation
    flags: ScriptFlags
    command: CommandLine
    environment: dict[str, str]
    telemetry: TelemetryWanted
    offline_reason: str
    """Why Weights & Biases works offline; empty when it does not, or is not used."""

    @property
    def argv(self) -> list[str]:
        entry = ["-m", INSTRUMENTED] if self.telemetry.is_any else []
        return [sys.executable, *entry, str(self.location.path), *self.command.words]


def plan_launch(config: RunConfig) -> Launch:
    """WorkerError for what a script cannot do: none is there, or it lacks a flag that is needed."""
    raw: dict[str, Any] = config.raw
    _require_a_beginning(raw)
    location = locate_script(str(raw.get("script") or ""), raw.get("python_path") or ())
    environment = child_environment(location, raw)
    flags = read_flags(location, environment)
    command = command_line(config, flags)
    reason = ""
    if command.is_tracked:
        wandb = (raw.get("artifacts") or {}).get("wandb") or {}
        environment, reason = tracking_environment(environment, wandb)
    if command.is_uploaded:
        environment = upload_environment(environment)
    return Launch(location, flags, command, environment, telemetry_wanted(raw), reason)


def _require_a_beginning(raw: dict[str, Any]) -> None:
    resumes = (raw.get("metadata") or {}).get("resume")
    if raw.get("warm_start") or resumes or os.environ.get(CHECKPOINT_VARIABLE):
        raise WorkerError(
            "A script cannot go on from a checkpoint: it always begins at its beginning.",
            remedy="Start it anew, without `warm_start` or `--resume`.",
        )
