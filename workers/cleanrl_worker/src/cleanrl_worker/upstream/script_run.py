"""One script from start to end: its output becomes telemetry, and the run's commands reach it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.child_environment import WANDB_RUN_ID
from cleanrl_worker.upstream.event_files import EventFiles
from cleanrl_worker.upstream.event_records import EventPoint, EventText
from cleanrl_worker.upstream.output_lines import SavedModel, TrackedAt, read_address, read_line
from cleanrl_worker.upstream.provenance import REPORT, provenance, write_report
from cleanrl_worker.upstream.run_files import RunFiles
from cleanrl_worker.upstream.script_ending import script_failure
from cleanrl_worker.upstream.script_process import ScriptProcess
from cleanrl_worker.upstream.telemetry_wanted import TelemetryChannel
from cleanrl_worker.upstream.translation import Translation

if TYPE_CHECKING:
    from cleanrl_worker.upstream.launch import Launch
    from cleanrl_worker.upstream.script_process import PrintedLine
    from mosaic_worker import Run

SCRIPT_FOUND = "W240"
"""Which script runs, where it was found, and the commit of its checkout."""

NOT_USED = "W241"
"""Something that the run asks for has no flag in the script."""

TRACKS_OFFLINE = "W242"
"""Weights & Biases works offline, with the reason."""

PROCESSES_ENDED = "W243"
"""The script left processes behind, which were ended."""

LINES_SKIPPED = "W244"
"""The script printed faster than its lines could be looked at; they are in the run's log."""

EVENT_FILE_BROKEN = "W245"
"""An event file of the script cannot be read."""

EPISODES_REACHED = "W249"
"""The script was ended because it has played as many episodes as were asked for."""

_TURN_SECONDS = 0.05
_EVENTS_SECONDS = 1.0
_FILES_SECONDS = 5.0


class ScriptRun:
    """A script under way."""

    def __init__(self, run: Run, launch: Launch) -> None:
        self._run = run
        self._launch = launch
        self._emitter = run.emitter
        self._events = EventFiles(run.directory)
        wandb_id = launch.environment.get(WANDB_RUN_ID)
        self._files = RunFiles(run.directory, run.emitter, wandb_id)
        self._translation = Translation(
            run,
            launch.command.total_timesteps,
            tells_episodes=not launch.telemetry.is_any,
        )
        self._events_due = self._files_due = 0.0

    def live(self) -> None:
        """Start the script and stay with it until it has ended. WorkerError when it fails."""
        self._announce()
        process = self._start()
        try:
            has_all_episodes = self._follow(process)
        finally:
            process.stop()
            ended = process.close()
        self._take_lines(process)
        self._take_events()
        code = process.exit_code or 0
        has_failed = bool(code) and not self._run.should_stop and not has_all_episodes
        self._translation.finish(has_failed=has_failed)
        self._files.announce(self._events.paths, is_over=True)
        self._report_rest(process, ended)
        if has_failed:
            raise script_failure(code, process.last_lines(), self._launch.command.words)

    def _announce(self) -> None:
        launch = self._launch
        source = provenance(launch.location)
        report = write_report(self._run.directory, source, launch.argv)
        self._emitter.log(
            "info", SCRIPT_FOUND, f"{launch.location.sentence()} {source.sentence()}", **report
        )
        self._emitter.artifact("report", REPORT, meta={"title": "The script that ran"})
        for sentence in launch.command.unused:
            self._emitter.log("warning", NOT_USED, sentence)
        if launch.offline_reason:
            self._emitter.log(
                "info",
                TRACKS_OFFLINE,
                f"Weights & Biases works offline, because {launch.offline_reason}; "
                "`wandb sync` uploads its files later.",
            )

    def _start(self) -> ScriptProcess:
        launch = self._launch
        environment = launch.environment
        fds: tuple[int, ...] = ()
        if launch.telemetry.is_any:
            fd = self._emitter.writer.fd
            channel = TelemetryChannel(fd, launch.telemetry)
            environment, fds = {**environment, **channel.variable()}, (fd,)
        return ScriptProcess(launch.argv, self._run.directory, environment, fds)

    def _follow(self, process: ScriptProcess) -> bool:
        """Until it ends or is to end; whether it has played all episodes that were asked for."""
        most = self._run.config.max_episodes
        while process.exit_code is None and not self._run.wait(_TURN_SECONDS):
            if self._run.is_pause_requested:
                process.hold()
                self._run.wait_while_paused()
                process.go_on()
            self._take_lines(process)
            now = time.monotonic()
            if now >= self._events_due:
                self._take_events()
                self._events_due = now + _EVENTS_SECONDS
            if now >= self._files_due:
                self._files.announce(self._events.paths)
                self._files_due = now + _FILES_SECONDS
            if most is not None and self._translation.returns_told >= most:
                self._emitter.log(
                    "info", EPISODES_REACHED, f"The script has played {most} episodes and is ended."
                )
                return True
        return False

    def _take_lines(self, process: ScriptProcess) -> None:
        lines = process.lines()
        if lines and not self._translation.has_event_files:
            self._look_for_events()  # whoever writes events opens the file before the first line
        for line in lines:
            self._take_line(line)

    def _take_line(self, line: PrintedLine) -> None:
        said = read_address(line.text) if line.is_error_stream else read_line(line.text)
        if said is None:
            return
        if isinstance(said, TrackedAt):
            self._files.tracked_at(said.url, said.run_id)
        elif isinstance(said, SavedModel):
            self._files.saved_model(said.path)
        else:
            self._translation.take_printed(said)

    def _look_for_events(self) -> None:
        self._events.look()
        self._translation.has_event_files = bool(self._events.paths)

    def _take_events(self) -> None:
        self._look_for_events()
        for each in self._events.read_new():
            if isinstance(each, EventPoint):
                self._translation.take_point(each)
            elif isinstance(each, EventText) and each.tag == "hyperparameters":
                self._files.keep_table(each.text)

    def _report_rest(self, process: ScriptProcess, ended: int) -> None:
        if ended:
            self._emitter.log(
                "warning",
                PROCESSES_ENDED,
                f"The script left {ended} processes behind; they were ended.",
                count=ended,
            )
        if process.skipped:
            self._emitter.log(
                "warning",
                LINES_SKIPPED,
                f"{process.skipped} lines came too fast to be looked at; they are in the log.",
                count=process.skipped,
            )
        if self._events.broken:
            self._emitter.log("warning", EVENT_FILE_BROKEN, f"{self._events.broken}.")
