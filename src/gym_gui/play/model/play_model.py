"""PlayModel: the state of the session in the central tabs, and the commands of the user.

Turns the updates of `SessionService` into a scene, a score and the current actor, and keys into
actions. Views bind to it. `KeyboardFocus` passes keys by their names in key maps.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.play.model.play_keys import HeldKeys, PlayKeys, SessionCommand
from gym_gui.play.model.session_info import SessionInfo
from gym_gui.play.model.session_text import outcome_text, outcome_tone
from gym_gui.play.model.step_view import EpisodeScore, NewestStepView, PlayScore, StepView
from gym_gui.runtime.models.cell_policy import CellPolicy, cell_policy
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.visit_counts import VisitCounts
from gym_gui.runtime.session_service import (
    EpisodeLine,
    SessionPhase,
    SessionRequest,
    SessionService,
    SessionState,
)
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.events import EpisodeEnd, PolicyEvent, StepRecord
from mosaic.envs import catalog
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene, Scene

_RATE_WINDOW_S = 1.0
_MAX_FRAME_TIMES = 240


class FrameRate:
    """Frames per second over the last second. Time is a parameter."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=_MAX_FRAME_TIMES)

    def record(self, now: float) -> None:
        self._times.append(now)

    def per_second(self, now: float) -> float:
        """0 after a second without a frame."""
        while self._times and now - self._times[0] > _RATE_WINDOW_S:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / max(1e-3, now - self._times[0])

    def clear(self) -> None:
        self._times.clear()


class PlayPause:
    """Why the session is paused, and whether a resume is pending. Fed with each state."""

    def __init__(self) -> None:
        self.reason = ""
        """Why the session was paused automatically."""
        self.is_resuming = False
        """A resume was requested and is not confirmed yet."""
        self._was_paused = False
        self._was_lost = False

    def start(self, reason: str) -> None:
        self.reason = reason

    def end(self) -> None:
        self.reason = ""
        self.is_resuming = True

    def update(self, state: SessionState) -> bool:
        """Return whether the daemon has reconnected; commands sent before that are lost."""
        is_paused = state.phase is SessionPhase.PAUSED
        if not is_paused or state.error is not None:
            self.is_resuming = False
        if self._was_paused and not is_paused:
            self.reason = ""
        self._was_paused = is_paused
        is_back = self._was_lost and state.is_connected
        self._was_lost = not state.is_connected
        return is_back


class PlayModel(SessionInfo):
    """Created once, by the wiring. Each signal fires at most once per tick."""

    changed = Signal()
    """Any session state: phase, actor, score or problem."""
    environment_changed = Signal()
    """`entry` changed, and with it keys and views."""
    scene_changed = Signal()
    """The grid content: scene, visits or policy."""
    frame_changed = Signal()
    step_view_changed = Signal()
    """`step_view`: the newest observation, info and step record."""
    keys_changed = Signal()
    """The set of pressed keys."""
    has_keyboard_changed = Signal()
    keyboard_requested = Signal()
    """Request to route keys to the environment."""
    play_requested = Signal()
    """Request to start a session with the settings of the session panel."""

    def __init__(
        self,
        sessions: SessionService,
        ticker: UiTicker,
        parent: QObject | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(sessions, parent)
        self.scene: Scene | None = None
        self.visits = VisitCounts()
        self.policy = CellPolicy()
        self.keys = PlayKeys(catalog.environment("").keys)
        self.hint = ""
        """Why the last key had no effect; empty otherwise."""
        self.has_keyboard = False
        """Whether keys are routed to the environment. Set by `KeyboardFocus`."""
        self.fps = 0.0
        self._ticker = ticker
        self._clock = clock
        self._step_view = NewestStepView()
        self._score = PlayScore()
        self._rate = FrameRate()
        self._held: HeldKeys | None = None
        self._run_id = ""
        self._pause = PlayPause()
        self._policy_event: PolicyEvent | None = None
        self._dirty: set[str] = set()
        sessions.changed.connect(self._on_state)
        sessions.lines_arrived.connect(self._on_lines)
        sessions.frame_changed.connect(self._on_frame)
        ticker.subscribe(self, self._on_tick)

    # Displayed state.

    @property
    def step_view(self) -> StepView:
        return self._step_view.now

    @property
    def step(self) -> StepRecord | None:
        """The newest step; for a run that is only watched, the newest stored step."""
        return self.step_view.record if self.step_view.episode_id else self.state.step

    @property
    def score(self) -> EpisodeScore:
        return self._score.now

    @property
    def may_act(self) -> bool:
        """Whether actions of the user are sent now."""
        return self.person_acts and not self.is_episode_finished and not self.is_paused

    @property
    def is_episode_finished(self) -> bool:
        """Whether the episode has ended and the next one has not started."""
        return self.score.is_finished and self.score.episode_id == self.step_view.episode_id

    @property
    def awaits_new_episode(self) -> bool:
        """Whether the episode has ended and the user must start the next one."""
        return self.person_acts and self.is_episode_finished

    @property
    def awaits_first_key(self) -> bool:
        """Whether a real-time session is paused until the first key."""
        is_waiting = self.is_paused and not self._pause.is_resuming and self.step_view.step < 0
        return is_waiting and self.is_timed and not self.has_agent

    @property
    def pause_reason(self) -> str:
        """Why the session was paused automatically; empty otherwise."""
        return self._pause.reason if self.is_paused else ""

    @property
    def outcome(self) -> str:
        return outcome_text(self.score, self.scene, self.entry)

    @property
    def outcome_tone(self) -> Tone:
        return outcome_tone(self.outcome)

    # The session.

    def start(self, request: SessionRequest) -> None:
        self._sessions.start(request)

    def attach(self, run_id: str) -> None:
        self._sessions.attach(run_id)

    def stop(self) -> None:
        self.release_all()
        self._sessions.stop()

    def name_actor(self, actor_id: str, label: str) -> None:
        """Set the display name of an agent."""
        self.actor_labels[actor_id] = label
        self._mark_dirty("changed")

    def pause_or_resume(self) -> None:
        if self.is_playing and not self.awaits_new_episode:
            (self._resume if self.is_paused else self._sessions.pause)()

    def pause_unattended(self, reason: str) -> None:
        """Pause a real-time session while the user cannot act."""
        if self.is_timed and self.may_act:
            self._pause.start(reason)
            self._sessions.pause()

    def _resume(self) -> None:
        self._pause.end()
        self._sessions.resume()

    def single_step(self) -> None:
        """Run one step; a running session is paused first."""
        if self.can_single_step and not self.awaits_new_episode:
            if not self.is_paused:
                self._sessions.pause()
            self._sessions.step()

    def reset_episode(self, seed: int | None = None) -> None:
        """Start a new episode. Default: a new seed."""
        if self.is_playing:
            self._set_hint("")
            self._sessions.reset(seed)
            if self.is_paused:
                self._resume()

    def start_new_episode(self) -> None:
        self.reset_episode()

    def play_again(self) -> None:
        """Restart the episode with the same seed."""
        self.reset_episode(self.score.seed)

    def take_over_or_release(self) -> None:
        if not (self.is_playing and self.has_agent):
            return
        if self.state.is_taken_over:
            self.release_all()
            self._sessions.release()
        else:
            self._sessions.takeover()
        if self.is_paused:
            self._resume()

    def clear_visits(self) -> None:
        self.visits.clear()
        self._mark_dirty("scene")

    # Keys.

    @property
    def held_keys(self) -> Sequence[str]:
        return self._held.pressed if self._held else ()

    def is_key_lit(self, key: str) -> bool:
        return self._held is not None and self._held.is_lit(key)

    def handles_key(self, key: str) -> bool:
        """Whether the key has a meaning in the session now."""
        if not self.is_playing:
            return False
        if self.keys.command(key, is_finished=self.is_episode_finished) is not None:
            return True
        return self._held is not None and self._held.is_mapped(key)

    def press(self, key: str) -> bool:
        """Handle a key press. Return False if the session does not use the key."""
        if not self.handles_key(key):
            return False
        command = self.keys.command(key, is_finished=self.is_episode_finished)
        if command is not None:
            self._run_command(command)
        elif self._held is not None:
            self._act(self._held, key)
        return True

    def release_key(self, key: str) -> None:
        if self._held is not None and key in self._held.pressed:
            self._send(self._held.release(key, self._clock()))
            self._mark_dirty("keys")

    def release_all(self) -> None:
        """Release all keys, because the focus was lost."""
        if self._held is not None and self._held.pressed:
            self._send(self._held.release_all(self._clock()))
            self._mark_dirty("keys")

    def request_keyboard(self) -> None:
        """Route keys to the environment, after a click on a view or button."""
        self.keyboard_requested.emit()

    def set_has_keyboard(self, has_keyboard: bool) -> None:
        if has_keyboard != self.has_keyboard:
            self.has_keyboard = has_keyboard
            if not has_keyboard:
                self.release_all()
            self.has_keyboard_changed.emit()

    def _act(self, held: HeldKeys, key: str) -> None:
        if not self.person_acts:
            self._set_hint(f"Press {self.keys.cap('takeover')} first to take over")
        elif self.is_episode_finished:
            self._set_hint(f"{self.keys.cap('reset')} starts a new episode")
        elif self.is_paused and not (self.awaits_first_key or self._pause.is_resuming):
            self._set_hint(f"Paused. {self.keys.cap('pause')} resumes")
        else:
            self._set_hint("")
            if self.awaits_first_key:
                self._resume()
            self._send(held.press(key, self._clock()))
        self._mark_dirty("keys")

    def _run_command(self, command: SessionCommand) -> None:
        ends = self.awaits_new_episode and command in ("pause", "step")
        self._set_hint(f"{self.keys.cap('reset')} starts a new episode" if ends else "")
        {
            "pause": self.pause_or_resume,
            "step": self.single_step,
            "reset": self.start_new_episode,
            "takeover": self.take_over_or_release,
            "again": self.play_again,
        }[command]()

    def _send(self, actions: Sequence[Any]) -> None:
        if self.person_acts:
            for action in actions:
                self._sessions.act(action)

    def _set_hint(self, hint: str) -> None:
        if hint != self.hint:
            self.hint = hint
            self._mark_dirty("changed")

    # Updates from the session.

    def _on_state(self) -> None:
        state = self.state
        if state.run_id != self._run_id:
            self._start_run(state.run_id)
        self._update_frame_support()
        self._update_entry()
        if state.policy is not self._policy_event:
            self._policy_event = state.policy
            self._mark_dirty("scene")
        if not self.person_acts and self._held is not None:
            self.release_all()
            self._held.reset_sent()
        if self._pause.update(state):
            self.pause_unattended("the daemon did not answer")
        self._mark_dirty("changed")

    def _start_run(self, run_id: str) -> None:
        self._run_id = run_id
        self.has_no_frames = False
        self._step_view = NewestStepView()
        self._score = PlayScore()
        self._rate.clear()
        self.hint = ""
        self._pause = PlayPause()
        self.visits.reset_map()
        self._mark_dirty("frame", "step_view", "scene")

    def _update_entry(self) -> None:
        env_id, made = self.state.env_id, self.state.environment
        entry = catalog.environment(env_id) if env_id else None
        if entry is not None and made is not None and isinstance(made.action_space, Mapping):
            entry = catalog.with_action_space(entry, made.action_space, made.action_meanings)
        if entry != self.entry:
            self.release_all()
            self.entry = entry
            self._held = HeldKeys(entry) if entry else None
            self.keys = PlayKeys((entry or catalog.environment("")).keys)
            self._mark_dirty("environment", "scene")

    def _on_lines(self, lines: Sequence[EpisodeLine]) -> None:
        made = self.state.environment
        env_kwargs = made.env_kwargs if made else None
        for line in lines:
            self._score.apply(line)
            if isinstance(line, EpisodeEnd):
                continue
            self.visits.add(self.state.env_id, env_kwargs, line.obs, line.render)
            if self._step_view.apply(line):
                self._mark_dirty("step_view")
        self._mark_dirty("changed", "scene")

    def _on_frame(self) -> None:
        frame = self.frame
        if frame is None:
            return
        self._rate.record(self._clock())
        if self._step_view.apply_json(frame.step_json):
            self._mark_dirty("step_view", "scene")
        self._mark_dirty("frame", "changed")

    def _on_tick(self) -> bool:
        now = self._clock()
        if self._held is not None and self._held.is_busy and self.may_act:
            self._send(self._held.tick(now))
        fps = round(self._rate.per_second(now))
        if fps != self.fps:
            self.fps = fps
            self._mark_dirty("changed")
        is_busy = bool(self._dirty) or fps > 0 or bool(self.held_keys)
        self._emit_changes()
        return is_busy

    def _emit_changes(self) -> None:
        dirty, self._dirty = self._dirty, set()
        if "scene" in dirty or "step_view" in dirty:
            self._update_scene()
            self.scene_changed.emit()
        signals = {
            "environment": self.environment_changed,
            "step_view": self.step_view_changed,
            "frame": self.frame_changed,
            "keys": self.keys_changed,
            "changed": self.changed,
        }
        for name, signal in signals.items():
            if name in dirty:
                signal.emit()

    def _update_scene(self) -> None:
        state, step_view = self.state, self.step_view
        made = state.environment
        step = step_view.record
        observation, render, action = step_view.observation, step_view.render, step_view.action
        if not step_view.episode_id and state.step is not None:  # a run that is only watched
            step = state.step
            observation, render, action = step.obs, step.render, step.action
        self.scene = scene_for(
            state.env_id,
            made.env_kwargs if made else None,
            observation,
            render,
            action=action,
            is_finished=step is not None and (step.terminated or step.truncated),
        )
        self.policy = CellPolicy()
        if isinstance(self.scene, GridScene) and self.entry is not None:
            self.policy = cell_policy(self._policy_event, self.scene, observation, self.entry.keys)

    def _mark_dirty(self, *dirty: str) -> None:
        self._dirty.update(dirty)
        self._ticker.wake()
