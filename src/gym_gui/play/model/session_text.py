"""What is said about a session in words: how far it is, how an episode ended, who acts."""

from gym_gui.play.model.play_score import EpisodeScore
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


def phase_words(state: SessionState, title: str, *, waits_for_daemon: bool) -> str:
    """What goes on, for whoever looks at an empty view."""
    if waits_for_daemon:
        return "Waiting for the daemon. The session begins as soon as it answers."
    if state.phase is SessionPhase.STARTING:
        run_state = state.run.state if state.run else None
        if run_state is RunState.QUEUED:
            return f"{title} waits for its turn."
        if run_state is RunState.PREPARING:
            return f"Preparing the packages of {title}. The first time takes a while."
        return f"Starting {title}."
    return {
        SessionPhase.IDLE: "Nothing is played yet.",
        SessionPhase.RUNNING: "" if state.can_control else f"Watching a run in {title}.",
        SessionPhase.PAUSED: "Paused.",
        SessionPhase.STOPPING: "Ending.",
        SessionPhase.FINISHED: "The session is over.",
    }[state.phase]


def actor_words(actor: str) -> str:
    """A name for an actor whose own label nobody has told."""
    kind, _, what = actor.partition(":")
    if kind in _BUILT_IN:
        return f"{_BUILT_IN[kind]} {what}".strip()
    return actor.removesuffix("_worker").replace("_", " ").capitalize() or "The agent"


def outcome_words(score: EpisodeScore, scene: Scene | None, entry: EnvironmentEntry | None) -> str:
    """How an episode ended, as far as one can tell without taking sides."""
    if score.truncated and not score.terminated:
        limit = entry.max_episode_steps if entry else None
        return "Time is up" if limit is None or score.steps >= limit else "Cut off"
    kind = _ground(scene)
    if kind == "goal":
        return _REACHED
    if kind in _FALLS:
        return _FALLS[kind]
    if entry is not None and entry.env_id.startswith("Blackjack"):
        return {1: _WON, -1: _LOST}.get(_sign(score.total_return), "A draw")
    return "The episode is over"


def outcome_tone(outcome: str) -> Tone:
    """The words say it; this only colours them."""
    return _TONES.get(outcome, "plain")


def _ground(scene: Scene | None) -> str:
    """What the agent stands on."""
    if not isinstance(scene, GridScene) or scene.agent is None:
        return ""
    return scene.cells[scene.agent.row][scene.agent.column].kind


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)
