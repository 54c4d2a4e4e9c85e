"""What of a script's environments is recorded, and how the child process is told so."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

VARIABLE = "MOSAIC_UPSTREAM_TELEMETRY"
OFF = "off"


class TelemetryWanted(NamedTuple):
    """`steps` is a detail of the recorder; `frames` whether live views want pictures."""

    steps: str = OFF
    frames: bool = False

    @property
    def is_any(self) -> bool:
        """Whether the script has to be started with instruments."""
        return self.frames or self.steps != OFF


class TelemetryChannel(NamedTuple):
    """What the instrumented child is given: a descriptor to write to, and what to write."""

    fd: int
    wanted: TelemetryWanted

    def variable(self) -> dict[str, str]:
        told = {"fd": self.fd, "steps": self.wanted.steps, "frames": self.wanted.frames}
        return {VARIABLE: json.dumps(told)}


def telemetry_wanted(config: Mapping[str, Any]) -> TelemetryWanted:
    """By the whole run's configuration; nothing unless it is asked for."""
    telemetry = config.get("telemetry") or {}
    return TelemetryWanted(telemetry.get("steps") or OFF, bool(telemetry.get("frames")))


def take_channel(environment: MutableMapping[str, str]) -> TelemetryChannel | None:
    """What this process was given, once: its own children neither see nor inherit it."""
    told = environment.pop(VARIABLE, None)
    if told is None:
        return None
    given = json.loads(told)
    os.set_inheritable(given["fd"], False)
    return TelemetryChannel(given["fd"], TelemetryWanted(given["steps"], given["frames"]))
