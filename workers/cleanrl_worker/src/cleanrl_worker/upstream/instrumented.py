"""Runs a script unmodified with its environments recorded.

    python -m cleanrl_worker.upstream.instrumented SCRIPT [its flags …]

`ScriptRun` starts this instead of the script when a run asks for telemetry of its steps.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

from cleanrl_worker.upstream.environment_instruments import EnvironmentInstruments
from cleanrl_worker.upstream.live_pictures import LivePictures
from cleanrl_worker.upstream.telemetry_wanted import TelemetryChannel, take_channel
from mosaic_worker import Emitter, EpisodeRecorder, FrameMailbox

NOT_RECORDED = "W251"
"""The environments of the script cannot be recorded, because gymnasium is not there."""


def main() -> None:
    channel = take_channel(os.environ)
    script, *words = sys.argv[1:]
    # As if Python had been started with the script itself.
    sys.argv = [script, *words]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(Path(script).resolve().parent)
    recorder = None if channel is None else _install(channel)
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        if recorder is not None:
            recorder.close()


def _install(channel: TelemetryChannel) -> EpisodeRecorder | None:
    emitter = Emitter(fd=channel.fd)
    try:
        import gymnasium  # noqa: PLC0415 - only where something is to be recorded
        import gymnasium.vector  # noqa: PLC0415 - likewise
    except ImportError as error:
        emitter.log("warning", NOT_RECORDED, f"Environments cannot be recorded: {error}.")
        return None
    recorder = EpisodeRecorder(emitter, detail=channel.wanted.steps)
    pictures = None
    if channel.wanted.frames:
        pictures = LivePictures(FrameMailbox(Path.cwd() / "frames", emitter), emitter)
    EnvironmentInstruments(recorder, pictures).install(gymnasium)
    return recorder


if __name__ == "__main__":
    main()
