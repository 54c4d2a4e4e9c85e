"""One run, as the worker's training function sees it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mosaic_worker.checkpoint import save_checkpoint
from mosaic_worker.control import Command, Control
from mosaic_worker.emitter import Emitter
from mosaic_worker.flow import Flow
from mosaic_worker.heartbeat import PERIOD_SECONDS, Heartbeat
from mosaic_worker.stop_signals import StopSignals

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mosaic_worker.checkpoint import Content
    from mosaic_worker.recording.recorder import EpisodeRecorder
    from mosaic_worker.run_config import RunConfig
    from mosaic_worker.tracking.trackers import Trackers

RUN_ID_VARIABLE = "MOSAIC_RUN_ID"
RUN_DIR_VARIABLE = "MOSAIC_RUN_DIR"
CHECKPOINT_VARIABLE = "MOSAIC_CHECKPOINT"

_LAST_WORD_SECONDS = 1.0


class Run:
    """Telemetry, control and heartbeat of one run; `main` makes it and gives it to the worker."""

    config: RunConfig

    def __init__(self, *, heartbeat_s: float = PERIOD_SECONDS) -> None:
        """Claims standard output, standard input and the stop signals. From the main thread."""
        self._flow = Flow()
        self.emitter = Emitter(flow=self._flow)
        self.directory = Path(os.environ.get(RUN_DIR_VARIABLE) or Path.cwd())
        self.id = os.environ.get(RUN_ID_VARIABLE) or self.directory.name
        self.heartbeat = Heartbeat(self.emitter, heartbeat_s)
        self._control = Control(self.emitter, wake=self._flow.nudge)
        self._control.on("stop", lambda _: self.request_stop("asked by the stop command"))
        self._opened = False
        self._trackers: Trackers | None = None
        self._recorders: dict[str | None, EpisodeRecorder] = {}
        self._signals = StopSignals(
            lambda number: self.request_stop(f"received {signal.Signals(number).name}"),
            self._end_now,
        )
        self._signals.install()

    @property
    def recorder(self) -> EpisodeRecorder:
        """Attach environments to it, and their episodes are recorded as the run's config says.

        Made on first use, and closed with the run.
        """
        return self.recorder_of(None)

    def recorder_of(self, agent_id: str | None) -> EpisodeRecorder:
        """The recorder of one agent of several: its lines say whose they are.

        None: of the only one. For the thread that attaches environments.
        """
        if agent_id not in self._recorders:
            from mosaic_worker.recording.recorder import (  # noqa: PLC0415 - not every worker needs it
                EpisodeRecorder,
            )

            self._recorders[agent_id] = EpisodeRecorder(
                self.emitter, detail=self.config.step_detail, agent_id=agent_id
            )
        return self._recorders[agent_id]

    @property
    def trackers(self) -> Trackers:
        """Event files and Weights & Biases, as the run's config says.

        Made on first use, and closed with the run.
        """
        if self._trackers is None:
            from mosaic_worker.tracking.trackers import trackers_of  # noqa: PLC0415 - as above

            self._trackers = trackers_of(self)
        return self._trackers

    def track(self, values: Mapping[str, float], step: int) -> None:
        """Points of several curves, as telemetry and for `trackers`."""
        self.emitter.metrics(values, step=step)
        self.trackers.scalars(values, step)

    @property
    def checkpoint(self) -> Path | None:
        """The saved policy that this run begins from or plays with, where its config names one."""
        named = os.environ.get(CHECKPOINT_VARIABLE)
        return Path(named) if named else None

    @property
    def should_stop(self) -> bool:
        """Whether the worker has been asked to end. Look at it in every turn of the loop."""
        return self._flow.stopping

    @property
    def stop_reason(self) -> str:
        return self._flow.reason

    def request_stop(self, reason: str) -> None:
        """Ask the worker's loop to end; from any thread."""
        if self._flow.stop(reason) and self._opened:
            self.emitter.status("stopping", reason)

    def wait(self, seconds: float) -> bool:
        """Sleep, but wake when asked to stop. Returns `should_stop`."""
        return self._flow.wait(seconds)

    def allow_pause(self) -> None:
        """Say that the loop calls `wait_while_paused`; until then `pause` is an unknown command."""
        self._control.on("pause", lambda _: self._flow.pause())
        self._control.on("resume", lambda _: self._flow.resume())

    def wait_while_paused(self) -> bool:
        """Block while the run is paused; True when it was. Costs next to nothing when it is not."""
        if not self._flow.paused or self._flow.stopping:
            return False
        self.emitter.status("paused")
        self._flow.wait_while_paused()
        if not self._flow.stopping:
            self.emitter.status("running")
        return True

    @property
    def is_told_to_pause(self) -> bool:
        """Whether `pause` came while `wait_while_paused` was to obey it."""
        return self._flow.paused

    def on(self, cmd: str, handler: Callable[[Command], None]) -> None:
        """Call `handler` for each command `cmd`, in the control thread."""
        self._control.on(cmd, handler)

    def accept(self, *cmds: str) -> None:
        """Keep these commands for `poll`."""
        self._control.accept(*cmds)

    def poll(self) -> Command | None:
        """The oldest accepted command that waits, or None."""
        return self._control.poll()

    def wait_for_command(self, seconds: float | None = None) -> Command | None:
        """The oldest accepted command; waits for one, at most so long when `seconds` is given.

        None when none came in time, or when the run is to stop.
        """
        command = self._control.poll()
        if command is None and (seconds is None or seconds > 0):
            self._flow.wait_until(self._control.has_waiting, seconds)
            command = self._control.poll()
        return None if self.should_stop else command

    def save_checkpoint(
        self,
        name: str,
        content: Content,
        *,
        step: int,
        metrics: Mapping[str, float] | None = None,
        **meta: Any,
    ) -> Path:
        """Write `checkpoints/<name>` whole or not at all, and announce it."""
        return save_checkpoint(
            self.emitter, self.directory, name, content, step=step, metrics=metrics, **meta
        )

    def open(self) -> None:
        """Say that the run is under way, listen to commands, and start the heartbeat.

        A run that was asked to stop before this says neither "running" nor "stopping".
        """
        if not self.should_stop:
            self.emitter.status("running")
        self._opened = True
        self._control.start()
        self.heartbeat.start()

    def close(self, outcome: str, error: str = "", remedy: str = "") -> None:
        """Write the last line."""
        if self._trackers is not None:
            self._trackers.close()
        self.heartbeat.stop()
        for recorder in self._recorders.values():
            recorder.close()
        self.emitter.bye(outcome, error, remedy)
        self._signals.restore()

    def _end_now(self, number: int) -> None:
        """The second signal: the worker's own code is not waited for."""
        self.emitter.bye("cancelled", timeout=_LAST_WORD_SECONDS)
        os._exit(128 + number)
