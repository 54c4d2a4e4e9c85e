"""A session from its start to its end, with a person at this terminal.

However it ends, the run is stopped and the terminal is as it was.
"""

from typing import TYPE_CHECKING

from mosaic.cli.attendance import Attendance
from mosaic.cli.formats import short_id
from mosaic.cli.output import say
from mosaic.cli.play.feed import PlayFeed
from mosaic.cli.play.session_keys import SessionKeys
from mosaic.cli.play.terminal_keys import PlayTerminal
from mosaic.cli.play.terminal_play import PlayedSession, TerminalPlay
from mosaic.cli.run_view import RunView
from mosaic.client.errors import WaitTimeoutError
from mosaic.client.sessions.actor_descriptors import HUMAN
from mosaic.client.sessions.session_controller import SessionController
from mosaic.client.sessions.session_requests import SessionRequest
from mosaic.client.sessions.session_state import SessionPhase, SessionState
from mosaic.contract.errors import UserError
from mosaic.contract.layout import Home
from mosaic.envs.entries import EnvironmentEntry

if TYPE_CHECKING:
    from mosaic.client.trainer_client import TrainerClient

NOT_STARTED = "C202"
"""A session did not come to life."""

_LOOK_AGAIN_S = 5.0
_ENDING_S = 60.0
_UNREACHABLE_S = 2.0
_LETTING_GO_S = 10.0


def play_session(
    client: "TrainerClient",
    home: Home,
    terminal: PlayTerminal,
    entry: EnvironmentEntry,
    request: SessionRequest,
) -> Attendance:
    """Play until the person quits or the session is over; the run as it then is."""
    interrupted = False
    controller = SessionController(client, home=home, on_change=lambda _: terminal.wake())
    try:
        controller.start(request)
        if _came_to_life(controller):
            _play(client, terminal, controller, entry, request)
    except KeyboardInterrupt:
        interrupted = True
    except EOFError:
        say("The terminal is gone; the session ends.")
    finally:
        state = _end(controller)
    if not state.run_id:
        raise KeyboardInterrupt if interrupted else _not_started(state)
    return Attendance(client.run(state.run_id).run, interrupted)


def _came_to_life(controller: SessionController) -> bool:
    """Shows how it is prepared; False when it was over before anything could be played."""
    state = controller.state
    with RunView() as view:
        while state.phase in (SessionPhase.IDLE, SessionPhase.STARTING) and state.error is None:
            state = _state_after(controller, state)
            if state.run is not None:
                view.show(state.run)
    return state.phase in (SessionPhase.RUNNING, SessionPhase.PAUSED)


def _state_after(controller: SessionController, seen: SessionState) -> SessionState:
    try:
        return controller.wait(lambda now: now != seen, _LOOK_AGAIN_S)
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
    feed = PlayFeed(client, controller.state.run_id, terminal.wake)
    keys = SessionKeys(entry.keys, has_agent=has_agent)
    played = PlayedSession(controller, feed, entry, keys, has_agent)
    try:
        with terminal:
            TerminalPlay(terminal, played, speed=float(request.params.get("speed", 1.0))).play()
    finally:
        feed.close()


def _end(controller: SessionController) -> SessionState:
    """Stop what still goes on, also what was only just asked for, and wait until it is over."""
    state = controller.state
    try:
        if state.phase is SessionPhase.FINISHED or (state.error is not None and not state.run_id):
            return state
        controller.stop()
        patience_s = _ENDING_S if state.is_connected else _UNREACHABLE_S
        return controller.wait(lambda now: not now.phase.is_active, patience_s)
    except WaitTimeoutError:
        state = controller.state
        if not state.is_connected:
            say("The daemon does not answer, so the run could not be ended. It ends by itself soon")
            say("after a daemon runs again: `mosaic daemon start`.")
        else:
            told = f": `mosaic runs show {short_id(state.run_id)}`" if state.run_id else ""
            say(f"It has not ended yet{told}.")
        return state
    finally:
        controller.close()
        controller.join(_LETTING_GO_S)


def _not_started(state: SessionState) -> UserError:
    problem = state.error
    if problem is None:
        return UserError(
            "The session was not started.",
            remedy="Try again; `mosaic daemon status` says whether the daemon is well.",
            code=NOT_STARTED,
        )
    return UserError(problem.message, remedy=problem.remedy, code=problem.code or NOT_STARTED)
