"""A play session in this terminal, from its start to its end.

However it ends, the run is stopped and the terminal is restored.
"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from mosaic.cli.formatting import format_number, short_id
from mosaic.cli.render import print_message
from mosaic.cli.terminal.episode_follower import EpisodeFollower, EpisodeSnapshot
from mosaic.cli.terminal.keys import SessionCommand, SessionKeys
from mosaic.cli.terminal.scene_text import symbols_for
from mosaic.cli.terminal.screen import PlayStatus, Viewport, help_lines, play_lines, to_ansi
from mosaic.cli.terminal.terminal import PlayTerminal
from mosaic.cli.watch import RunView, WatchResult
from mosaic.client.errors import WaitTimeoutError
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import HUMAN, SessionRequest
from mosaic.client.sessions.session_state import SessionPhase, SessionState
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.factory import scene_for

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

_FRAME_INTERVAL_S = 1 / 30
_REDRAW_INTERVAL_S = 1.0
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 0.0)
"""Speed factors; 0 is unlimited."""
NOT_STARTED = "C202"
"""A session could not be started."""
_POLL_INTERVAL_S = 5.0
_STOP_TIMEOUT_S = 60.0
_UNREACHABLE_TIMEOUT_S = 2.0
_CLOSE_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class PlayContext:
    """A session with its follower, environment and keys."""

    controller: SessionController
    follower: EpisodeFollower
    entry: EnvironmentEntry
    keys: SessionKeys
    has_agent: bool


class TerminalPlayer:
    """Plays one session on one terminal: keys control it, and its steps are displayed."""

    def __init__(self, terminal: PlayTerminal, context: PlayContext, speed: float) -> None:
        self._terminal = terminal
        self._controller = context.controller
        self._follower = context.follower
        self._entry = context.entry
        self._keys = context.keys
        self._has_agent = context.has_agent
        self._console = Console(file=terminal.stream, highlight=False)
        self._symbols = symbols_for(terminal.encoding)
        self._speed = speed
        self._shows_help = False
        self._hint = ""

    def play(self) -> None:
        """Play until the session ends or the person quits."""
        rendered_at = 0.0
        while self._controller.state.phase is not SessionPhase.OVER:
            remaining_s = rendered_at + _FRAME_INTERVAL_S - time.monotonic()
            if remaining_s <= 0:
                self._render()
                rendered_at = time.monotonic()
            for key in self._terminal.wait(_REDRAW_INTERVAL_S if remaining_s <= 0 else remaining_s):
                if not self._handle_key(key):
                    return

    def _handle_key(self, key: str) -> bool:
        """Handle a key; return False to quit."""
        self._hint = ""
        if self._shows_help:
            self._shows_help = False
            return True
        command = self._keys.command(key)
        if command == "quit":
            return False
        if command is not None:
            self._run_command(command)
        elif self._keys.is_action(key):
            self._act(key)
        return True

    def _act(self, key: str) -> None:
        state = self._controller.state
        if self._has_agent and not state.is_taken_over:
            self._hint = (
                f"{state.actor} is in control; press {self._keys.cap('takeover')} to take over."
            )
        elif not self._follower.episode.is_finished:
            action = self._entry.keys.action_for([key])
            if action is not None:
                self._controller.act(action)

    def _run_command(self, command: SessionCommand) -> None:
        controller, state = self._controller, self._controller.state
        if command == "help":
            self._shows_help = True
        elif command == "reset" or (command == "next" and self._follower.episode.is_finished):
            controller.reset()
        elif command == "next":
            self._hint = (
                f"The episode is not finished; press {self._keys.cap('reset')} to restart it."
            )
        elif command == "takeover":
            (controller.release if state.is_taken_over else controller.takeover)()
            if state.phase is SessionPhase.PAUSED:
                controller.resume()  # an actor that failed has paused the session
        elif command == "pause":
            (controller.resume if state.phase is SessionPhase.PAUSED else controller.pause)()
        elif command == "step":
            controller.step()
        elif command in ("faster", "slower"):
            self._change_speed(1 if command == "faster" else -1)

    def _change_speed(self, change: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - self._speed))
        self._speed = SPEEDS[max(0, min(len(SPEEDS) - 1, nearest + change))]
        self._controller.speed(self._speed)

    def _render(self) -> None:
        width, height = self._terminal.size()
        viewport = Viewport(width, height, self._symbols)
        state, episode = self._controller.state, self._follower.episode
        if self._shows_help:
            lines = help_lines(self._entry, self._keys.hints, viewport)
        else:
            scene = scene_for(
                self._entry.env_id,
                self._follower.env_kwargs,
                episode.observation,
                episode.render,
                action=episode.action,
                is_finished=episode.is_finished,
            )
            lines = play_lines(scene, self._status(state, episode), self._keys.hints, viewport)
        self._terminal.draw(to_ansi(lines, self._console))

    def _status(self, state: SessionState, episode: EpisodeSnapshot) -> PlayStatus:
        is_person = not self._has_agent or state.is_taken_over
        speed = ""
        if self._has_agent:
            speed = f"{self._speed:g}x" if self._speed else "unlimited speed"
        message, is_error = self._message(state, episode)
        return PlayStatus(
            env_id=self._entry.env_id,
            episode=episode.ordinal,
            steps=episode.steps,
            total_return=episode.total_return,
            actor=f"actor {'you' if is_person else state.acting or state.actor}",
            speed=f"{speed}, paused" if state.phase is SessionPhase.PAUSED else speed,
            message=message,
            is_error=is_error,
        )

    def _message(self, state: SessionState, episode: EpisodeSnapshot) -> tuple[str, bool]:
        if not state.is_connected:
            return (
                "The daemon does not answer; retrying. Start it with `mosaic daemon start`.",
                True,
            )
        if state.error is not None:
            return str(state.error), True
        if state.phase is SessionPhase.ENDING:
            return "Stopping.", False
        if (
            state.phase is SessionPhase.PAUSED
            and state.last_log
            and state.last_log.level == "error"
        ):
            return state.last_log.message, True
        if episode.is_finished:
            return self._result_text(episode), False
        return self._hint, False

    def _result_text(self, episode: EpisodeSnapshot) -> str:
        limit = " The step limit was reached." if episode.truncated else ""
        total_return = format_number(episode.total_return)
        result = f"Episode finished: return {total_return} in {episode.steps} steps."
        return f"{result}{limit} Press {self._keys.cap('next')} for the next episode."


def play_session(
    client: "TrainerClient",
    home: Home,
    terminal: PlayTerminal,
    entry: EnvironmentEntry,
    request: SessionRequest,
) -> WatchResult:
    """Play until the person quits or the session ends; return the run."""
    interrupted = False
    controller = SessionController(client, home=home, on_change=lambda _: terminal.wake())
    try:
        controller.start(request)
        if _wait_for_start(controller):
            _play(client, terminal, controller, entry, request)
    except KeyboardInterrupt:
        interrupted = True
    except EOFError:
        print_message("The terminal was closed; stopping the session.")
    finally:
        state = _stop(controller)
    if not state.run_id:
        raise KeyboardInterrupt if interrupted else _not_started(state)
    return WatchResult(client.run(state.run_id).run, interrupted)


def _wait_for_start(controller: SessionController) -> bool:
    """Display the preparation; return False if the session ended before it could be played."""
    state = controller.state
    with RunView() as view:
        while state.phase in (SessionPhase.IDLE, SessionPhase.STARTING) and state.error is None:
            state = _next_state(controller, state)
            if state.run is not None:
                view.show(state.run)
    return state.phase in (SessionPhase.RUNNING, SessionPhase.PAUSED)


def _next_state(controller: SessionController, seen: SessionState) -> SessionState:
    try:
        return controller.wait(lambda state: state != seen, _POLL_INTERVAL_S)
    except WaitTimeoutError:
        return controller.state


def _play(
    client: "TrainerClient",
    terminal: PlayTerminal,
    controller: SessionController,
    entry: EnvironmentEntry,
    request: SessionRequest,
) -> None:
    has_agent = request.actor != HUMAN
    follower = EpisodeFollower(client, controller.state.run_id, terminal.wake)
    keys = SessionKeys(entry.keys, has_agent=has_agent)
    context = PlayContext(controller, follower, entry, keys, has_agent)
    try:
        with terminal:
            TerminalPlayer(terminal, context, speed=float(request.params.get("speed", 1.0))).play()
    finally:
        follower.close()


def _stop(controller: SessionController) -> SessionState:
    """Stop the session, even if it is just starting, and wait until it has ended."""
    state = controller.state
    try:
        if state.phase is SessionPhase.OVER or (state.error is not None and not state.run_id):
            return state
        controller.stop()
        timeout_s = _STOP_TIMEOUT_S if state.is_connected else _UNREACHABLE_TIMEOUT_S
        return controller.wait(lambda state: not state.phase.is_going, timeout_s)
    except WaitTimeoutError:
        state = controller.state
        if not state.is_connected:
            print_message(
                "The daemon does not answer, so the run could not be stopped. It stops soon after"
            )
            print_message("the next daemon starts: `mosaic daemon start`.")
        else:
            hint = f": `mosaic runs show {short_id(state.run_id)}`" if state.run_id else ""
            print_message(f"The run has not ended yet{hint}.")
        return state
    finally:
        controller.close()
        controller.join(_CLOSE_TIMEOUT_S)


def _not_started(state: SessionState) -> UserError:
    problem = state.error
    if problem is None:
        return UserError(
            "The session was not started.",
            remedy="Try again; check the daemon with `mosaic daemon status`.",
            code=NOT_STARTED,
        )
    return UserError(problem.message, remedy=problem.remedy, code=problem.code or NOT_STARTED)
