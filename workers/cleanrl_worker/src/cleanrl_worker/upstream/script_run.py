"""ScriptRun: one script from start to end, with its telemetry, commands, artifacts and errors."""

from __future__ import annotations

import difflib
import re
import signal
import time
from typing import TYPE_CHECKING

from cleanrl_worker.upstream.child_environment import WANDB_RUN_ID
from cleanrl_worker.upstream.event_files import EventFiles, EventPoint, EventText
from cleanrl_worker.upstream.output_lines import SavedModel, WandbRunUrl, read_line, read_wandb_url
from cleanrl_worker.upstream.run_files import REPORT, RunFiles, read_provenance, write_report
from cleanrl_worker.upstream.script_process import ScriptProcess
from cleanrl_worker.upstream.script_telemetry import ScriptTelemetry
from cleanrl_worker.upstream.telemetry_channel import TelemetryChannel
from mosaic_worker import WorkerError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cleanrl_worker.upstream.launch import Launch
    from cleanrl_worker.upstream.script_process import PrintedLine
    from mosaic_worker import Run

SCRIPT_FOUND = "W240"
"""Which script runs, where it was found, and the commit of its checkout."""

NOT_USED = "W241"
"""A setting of the run has no flag in the script."""

TRACKS_OFFLINE = "W242"
"""Weights & Biases runs offline, with the reason."""

PROCESSES_STOPPED = "W243"
"""The script left processes running; they were stopped."""

LINES_SKIPPED = "W244"
"""The script printed faster than its lines could be parsed; they are in the run's log."""

EVENT_FILE_BROKEN = "W245"
"""An event file of the script cannot be read."""

EPISODES_REACHED = "W249"
"""The script was stopped after the requested number of episodes."""

_POLL_INTERVAL_S = 0.05
_EVENTS_INTERVAL_S = 1.0
_FILES_INTERVAL_S = 5.0

_USAGE_ERROR = 2
_MAX_SHOWN_LINES = 12
_MAX_SHOWN_CHARACTERS = 300
_MISSING = re.compile(r"ModuleNotFoundError: No module named '(?P<module>[\w.]+)'")
_NOT_INSTALLED = re.compile(r"DependencyNotInstalled: .*?\[(?P<extra>[a-z0-9_-]+)\]")
_UNREGISTERED = re.compile(
    r"gymnasium\.error\.(?:NameNotFound|NamespaceNotFound|VersionNotFound|UnregisteredEnv): "
    r"(?P<message>.*)"
)

_EXTRA_OF_MODULE = {
    **dict.fromkeys(("ale_py", "shimmy", "cv2", "AutoROM"), "atari"),
    **dict.fromkeys(("mujoco", "mujoco_py"), "mujoco"),
    "wandb": "wandb",
    "huggingface_hub": "hub",
    "stable_baselines3": "sb3",
}
"""The extra of the bundle `cleanrl_upstream` that provides a module."""

_EXTRA_OF_GYMNASIUM_EXTRA = {"atari": "atari", "accept-rom-license": "atari", "mujoco": "mujoco"}
"""The same, by the name of gymnasium's own extra."""

_ENVIRONMENT_FLAGS = ("--env-id", "--env_id")
_ATARI = re.compile(r"Namespace ALE |`\w+(?:NoFrameskip|Deterministic|-ram)\w*`")


class ScriptRun:
    """Runs one script."""

    def __init__(self, run: Run, launch: Launch) -> None:
        self._run = run
        self._launch = launch
        self._emitter = run.emitter
        self._events = EventFiles(run.directory)
        wandb_id = launch.environment.get(WANDB_RUN_ID)
        self._files = RunFiles(run.directory, run.emitter, wandb_id)
        self._telemetry = ScriptTelemetry(
            run,
            launch.command.total_timesteps,
            emits_episodes=not launch.telemetry.is_enabled,
        )
        self._events_due = self._files_due = 0.0

    def execute(self) -> None:
        """Start the script and follow it to its end. Raises `WorkerError` if it fails."""
        self._announce()
        process = self._start()
        try:
            is_limit_reached = self._follow(process)
        finally:
            process.stop()
            stopped_count = process.close()
        self._handle_lines(process)
        self._handle_events()
        code = process.exit_code or 0
        has_failed = bool(code) and not self._run.should_stop and not is_limit_reached
        self._telemetry.finish(has_failed=has_failed)
        self._files.announce(self._events.paths, is_finished=True)
        self._report_problems(process, stopped_count)
        if has_failed:
            raise script_error(code, process.last_lines(), self._launch.command.arguments)

    def _announce(self) -> None:
        launch = self._launch
        source = read_provenance(launch.location)
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
                f"Weights & Biases runs offline, because {launch.offline_reason}; "
                "upload its files later with `wandb sync`.",
            )

    def _start(self) -> ScriptProcess:
        launch = self._launch
        environment = launch.environment
        fds: tuple[int, ...] = ()
        if launch.telemetry.is_enabled:
            fd = self._emitter.writer.fd
            channel = TelemetryChannel(fd, launch.telemetry)
            environment, fds = {**environment, **channel.variable()}, (fd,)
        return ScriptProcess(launch.argv, self._run.directory, environment, fds)

    def _follow(self, process: ScriptProcess) -> bool:
        """Follow until it ends or must stop; returns whether it reached `max_episodes`."""
        max_episodes = self._run.config.max_episodes
        while process.exit_code is None and not self._run.wait(_POLL_INTERVAL_S):
            if self._run.is_pause_requested:
                process.pause()
                self._run.wait_while_paused()
                process.resume()
            self._handle_lines(process)
            now = time.monotonic()
            if now >= self._events_due:
                self._handle_events()
                self._events_due = now + _EVENTS_INTERVAL_S
            if now >= self._files_due:
                self._files.announce(self._events.paths)
                self._files_due = now + _FILES_INTERVAL_S
            if max_episodes is not None and self._telemetry.known_returns >= max_episodes:
                self._emitter.log(
                    "info", EPISODES_REACHED, f"Stopped the script after {max_episodes} episodes."
                )
                return True
        return False

    def _handle_lines(self, process: ScriptProcess) -> None:
        lines = process.drain_lines()
        if lines and not self._telemetry.has_event_files:
            self._find_event_files()  # scripts open the event file before they print
        for line in lines:
            self._handle_line(line)

    def _handle_line(self, line: PrintedLine) -> None:
        parsed = read_wandb_url(line.text) if line.is_error_stream else read_line(line.text)
        if parsed is None:
            return
        if isinstance(parsed, WandbRunUrl):
            self._files.announce_wandb(parsed.url, parsed.run_id)
        elif isinstance(parsed, SavedModel):
            self._files.announce_model(parsed.path)
        else:
            self._telemetry.handle_line(parsed)

    def _find_event_files(self) -> None:
        self._events.find_new()
        self._telemetry.has_event_files = bool(self._events.paths)

    def _handle_events(self) -> None:
        self._find_event_files()
        for event in self._events.read_new():
            if isinstance(event, EventPoint):
                self._telemetry.handle_point(event)
            elif isinstance(event, EventText) and event.tag == "hyperparameters":
                self._files.save_hyperparameters(event.text)

    def _report_problems(self, process: ScriptProcess, stopped_count: int) -> None:
        if stopped_count:
            self._emitter.log(
                "warning",
                PROCESSES_STOPPED,
                f"The script left {stopped_count} processes running; they were stopped.",
                count=stopped_count,
            )
        if process.skipped:
            self._emitter.log(
                "warning",
                LINES_SKIPPED,
                f"{process.skipped} lines came too fast to be parsed; they are in the log.",
                count=process.skipped,
            )
        if self._events.broken:
            self._emitter.log("warning", EVENT_FILE_BROKEN, f"{self._events.broken}.")


def script_error(code: int, last_lines: Sequence[str], argv: Sequence[str]) -> WorkerError:
    """Return the error of a script that failed; a negative `code` is a signal."""
    if code < 0:
        message = f"The script was killed by {_signal_name(-code)}."
    else:
        message = f"The script failed with exit code {code}."
    shown = [line[:_MAX_SHOWN_CHARACTERS] for line in list(last_lines)[-_MAX_SHOWN_LINES:]]
    output = "\n".join(shown)
    tail = f"\nIts last lines:\n{output}\n" if shown else " It printed nothing."
    return WorkerError(f"{message}{tail}", remedy=_remedy(code, output, argv))


def _remedy(code: int, output: str, argv: Sequence[str]) -> str:
    missing = _MISSING.search(output)
    absent = _NOT_INSTALLED.search(output)
    unknown = _UNREGISTERED.search(output)
    extra = (
        (missing and _EXTRA_OF_MODULE.get(missing["module"].partition(".")[0]))
        or (absent and _EXTRA_OF_GYMNASIUM_EXTRA.get(absent["extra"]))
        or (unknown and _ATARI.search(unknown["message"]) and "atari")
    )
    if extra:
        return f"Start it with `--extra {extra}`."
    if missing:
        return (
            f"Install the package of the module {missing['module']} in the script's environment, "
            "or use a version of the script that does not need it."
        )
    if unknown:
        return _suggest_environments(argv)
    if code == _USAGE_ERROR:
        return f"Its flags were: {' '.join(argv)}. Correct the one that it reports."
    if code == -signal.SIGKILL:
        return "Most likely it ran out of memory: use fewer environments or a smaller buffer."
    return "Its complete output is in the run's log."


def _suggest_environments(argv: Sequence[str]) -> str:
    """Suggest similar ids of the installed gymnasium, which the script uses, too."""
    check = "Check the id of the environment, and that its package is installed."
    flag = next((argument for argument in argv if argument in _ENVIRONMENT_FLAGS), None)
    if flag is None or flag == argv[-1]:
        return check
    try:
        import gymnasium  # noqa: PLC0415 - only for this message
    except ImportError:
        return check
    close = difflib.get_close_matches(argv[argv.index(flag) + 1], gymnasium.registry, n=3)
    return f"Did you mean {' or '.join(close)}? {check}" if close else check


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
