"""How a script's process gets its telemetry options; used on both sides of the process boundary."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

VARIABLE = "MOSAIC_UPSTREAM_TELEMETRY"
OFF = "off"


class TelemetryOptions(NamedTuple):
    """`steps` is the recorder's level of detail; `frames` enables live frames."""

    steps: str = OFF
    frames: bool = False

    @property
    def is_enabled(self) -> bool:
        """Whether the script must be started with instrumentation."""
        return self.frames or self.steps != OFF


class TelemetryChannel(NamedTuple):
    """The file descriptor that the instrumented script writes to, and its options."""

    fd: int
    options: TelemetryOptions

    def variable(self) -> dict[str, str]:
        settings = {"fd": self.fd, "steps": self.options.steps, "frames": self.options.frames}
        return {VARIABLE: json.dumps(settings)}


def telemetry_options(config: Mapping[str, Any]) -> TelemetryOptions:
    """Read the options from a run's configuration; everything is off by default."""
    telemetry = config.get("telemetry") or {}
    return TelemetryOptions(telemetry.get("steps") or OFF, bool(telemetry.get("frames")))


def pop_channel(environment: MutableMapping[str, str]) -> TelemetryChannel | None:
    """Remove and return the channel of this process, so that its children do not inherit it."""
    variable = environment.pop(VARIABLE, None)
    if variable is None:
        return None
    settings = json.loads(variable)
    os.set_inheritable(settings["fd"], False)
    return TelemetryChannel(settings["fd"], TelemetryOptions(settings["steps"], settings["frames"]))
