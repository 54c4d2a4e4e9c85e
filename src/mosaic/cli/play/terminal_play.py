"""Playing in a terminal: keys go to the session, what comes of them is drawn in place.

`play` makes the session and tells afterwards how it went; here is what happens in between.
"""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from mosaic.cli.formats import real
from mosaic.cli.play.feed import EpisodeView, PlayFeed
from mosaic.cli.play.scene_text import symbols_for
from mosaic.cli.play.screen import PlayStatus, Room, help_lines, play_lines, to_ansi
from mosaic.cli.play.session_keys import SessionKeys, Steering
from mosaic.cli.play.terminal_keys import PlayTerminal
from mosaic.client.sessions.session_state import SessionPhase, SessionState
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.factory import scene_for

if TYPE_CHECKING:
    from mosaic.client.sessions.session_controller import SessionController

_FRAME_S = 1 / 30
_LOOK_AGAIN_S = 1.0
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 0.0)
"""Times normal speed; the last is as fast as it can."""


@dataclass(frozen=True, slots=True)
class PlayedSession:
    """A session, what it plays, and what its keys do."""

    controller: "SessionController"
    feed: PlayFeed
    entry: EnvironmentEntry
    keys: SessionKeys
    has_agent: bool


class TerminalPlay:
    """One session on one terminal, until it is over or the person has had enough."""

    def __init__(self, terminal: PlayTerminal, played: PlayedSession, speed: float) -> None:
        self._terminal = terminal
        self._controller = played.controller
        self._feed = played.feed
        self._entry = played.entry
        self._keys = played.keys
        self._has_agent = played.has_agent
        self._console = Console(file=terminal.stream, highlight=False)
        self._symbols = symbols_for(terminal.encoding)
        self._speed = speed
        self._shows_help = False
        self._hint = ""

    def play(self) -> None:
        """Returns when the session is over, or the person quits."""
        drawn_at = 0.0
        while self._controller.state.phase is not SessionPhase.FINISHED:
            rest_s = drawn_at + _FRAME_S - time.monotonic()
            if rest_s <= 0:
                self._draw()
                drawn_at = time.monotonic()
            for key in self._terminal.wait(_LOOK_AGAIN_S if rest_s <= 0 else rest_s):
                if not self._press(key):
                    return

    def _press(self, key: str) -> bool:
        """Whether to go on."""
        self._hint = ""
        if self._shows_help:
            self._shows_help = False
            return True
        steering = self._keys.steering(key)
        if steering == "quit":
            return False
        if steering is not None:
            self._steer(steering)
        elif self._keys.is_action(key):
            self._act(key)
        return True

    def _act(self, key: str) -> None:
        state = self._controller.state
        if self._has_agent and not state.is_taken_over:
            self._hint = f"{state.actor} acts; {self._keys.cap('takeover')} takes over."
        elif not self._feed.view.is_over:
            action = self._entry.keys.action_for([key])
            if action is not None:
                self._controller.act(action)

    def _steer(self, steering: Steering) -> None:
        controller, state = self._controller, self._controller.state
        if steering == "help":
            self._shows_help = True
        elif steering == "reset" or (steering == "next" and self._feed.view.is_over):
            controller.reset()
        elif steering == "next":
            self._hint = f"The episode goes on; {self._keys.cap('reset')} begins a new one."
        elif steering == "takeover":
            (controller.release if state.is_taken_over else controller.takeover)()
            if state.phase is SessionPhase.PAUSED:
                controller.resume()  # as after an actor failed: whoever takes over wants to act
        elif steering == "pause":
            (controller.resume if state.phase is SessionPhase.PAUSED else controller.pause)()
        elif steering == "step":
            controller.step()
        elif steering in ("faster", "slower"):
            self._change_speed(1 if steering == "faster" else -1)

    def _change_speed(self, by: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda at: abs(SPEEDS[at] - self._speed))
        self._speed = SPEEDS[max(0, min(len(SPEEDS) - 1, nearest + by))]
        self._controller.speed(self._speed)

    def _draw(self) -> None:
        width, height = self._terminal.size()
        room = Room(width, height, self._symbols)
        state, view = self._controller.state, self._feed.view
        if self._shows_help:
            lines = help_lines(self._entry, self._keys.hints, room)
        else:
            scene = scene_for(
                self._entry.env_id,
                self._feed.env_kwargs,
                view.observation,
                view.render,
                action=view.action,
                is_over=view.is_over,
            )
            lines = play_lines(scene, self._status(state, view), self._keys.hints, room)
        self._terminal.draw(to_ansi(lines, self._console))

    def _status(self, state: SessionState, view: EpisodeView) -> PlayStatus:
        person = not self._has_agent or state.is_taken_over
        pace = ""
        if self._has_agent:
            pace = f"{self._speed:g}x" if self._speed else "as fast as it can"
        message, is_alarming = self._message(state, view)
        return PlayStatus(
            env_id=self._entry.env_id,
            episode=view.ordinal,
            steps=view.steps,
            total_return=view.total_return,
            acting="you act" if person else f"{state.acting or state.actor} acts",
            pace=f"{pace}, paused" if state.phase is SessionPhase.PAUSED else pace,
            message=message,
            is_alarming=is_alarming,
        )

    def _message(self, state: SessionState, view: EpisodeView) -> tuple[str, bool]:
        if not state.is_connected:
            return "The daemon does not answer: `mosaic daemon start`. It is tried again.", True
        if state.error is not None:
            return str(state.error), True
        if state.phase is SessionPhase.STOPPING:
            return "Ending.", False
        if (
            state.phase is SessionPhase.PAUSED
            and state.last_log
            and state.last_log.level == "error"
        ):
            return state.last_log.message, True
        if view.is_over:
            return self._result(view), False
        return self._hint, False

    def _result(self, view: EpisodeView) -> str:
        cut_off = " It ran into its limit of steps." if view.truncated else ""
        told = f"The episode is over: return {real(view.total_return)} in {view.steps} steps."
        return f"{told}{cut_off} {self._keys.cap('next')} begins the next one."
