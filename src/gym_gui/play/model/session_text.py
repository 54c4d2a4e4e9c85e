"""Texts about a session: its phase, the outcome of an episode, the actor."""

from gym_gui.play.model.step_view import EpisodeScore
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.session_service import SessionPhase, SessionState
from mosaic.contract.run_states import RunState
from mosaic.envs.entries import EnvironmentEntry
from mosaic.envs.scenes.scene import GridScene, Scene

_BUILT_IN = {"human": "You", "random": "Random", "scripted": "Script", "recorded": "Recording"}
_REACHED, _WON, _LOST = "Reached the goal", "Won", "Lost"
_FALLS = {"hole": "Fell into a hole", "lava": "Fell into the lava"}
_TONES: dict[str, Tone] = {
    _REACHED: "good",
    _WON: "good",
    _LOST: "bad",
    **dict.fromkeys(_FALLS.values(), "bad"),
}


def phase_text(state: SessionState, title: str, *, waits_for_daemon: bool) -> str:
    """The phase as a sentence, for an empty view."""
    if waits_for_daemon:
        return "Waiting for the daemon. The session starts when it answers."
    if state.phase is SessionPhase.STARTING:
        run_state = state.run.state if state.run else None
        if run_state is RunState.QUEUED:
            return f"{title} is queued."
        if run_state is RunState.PREPARING:
            return f"Installing the packages of {title}. The first time takes a few minutes."
        return f"Starting {title}."
    return {
        SessionPhase.IDLE: "No session yet.",
        SessionPhase.RUNNING: "" if state.can_control else f"Watching a run in {title}.",
        SessionPhase.PAUSED: "Paused.",
        SessionPhase.STOPPING: "Stopping.",
        SessionPhase.FINISHED: "The session has ended.",
    }[state.phase]


def actor_text(actor: str) -> str:
    """Display name of an actor without a label."""
    kind, _, name = actor.partition(":")
    if kind in _BUILT_IN:
        return f"{_BUILT_IN[kind]} {name}".strip()
    return actor.removesuffix("_worker").replace("_", " ").capitalize() or "The agent"


def outcome_text(score: EpisodeScore, scene: Scene | None, entry: EnvironmentEntry | None) -> str:
    """How the episode ended."""
    if score.truncated and not score.terminated:
        limit = entry.max_episode_steps if entry else None
        return "Time limit reached" if limit is None or score.steps >= limit else "Truncated"
    kind = _ground(scene)
    if kind == "goal":
        return _REACHED
    if kind in _FALLS:
        return _FALLS[kind]
    if entry is not None and entry.env_id.startswith("Blackjack"):
        return {1: _WON, -1: _LOST}.get(_sign(score.total_return), "A draw")
    return "Episode finished"


def outcome_tone(outcome: str) -> Tone:
    """Colour of the outcome text."""
    return _TONES.get(outcome, "plain")


def _ground(scene: Scene | None) -> str:
    """Kind of the cell below the agent."""
    if not isinstance(scene, GridScene) or scene.agent is None:
        return ""
    return scene.cells[scene.agent.row][scene.agent.column].kind


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)
