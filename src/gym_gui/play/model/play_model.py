"""PlayModel: the session as the centre of the window shows it, and what a person does in it.

Takes what `SessionService` brings with each beat and makes of it a scene, a score, and who acts;
turns keys into actions. Views bind to it; the keyboard hands it keys by their names in key maps.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, Signal

from gym_gui.play.model.frame_rate import FrameRate
from gym_gui.play.model.held_keys import HeldKeys
from gym_gui.play.model.play_keys import PlayKeys, Steering
from gym_gui.play.model.play_moment import Moment, NewestMoment
from gym_gui.play.model.play_pause import PlayPause
from gym_gui.play.model.play_score import EpisodeScore, PlayScore
from gym_gui.play.model.session_info import SessionFacts
from gym_gui.play.model.session_text import outcome_tone, outcome_words
from gym_gui.runtime.models.cell_policy import CellPolicy, cell_policy
from gym_gui.runtime.models.notices import Tone
from gym_gui.runtime.models.visit_counts import VisitCounts
from gym_gui.runtime.session_service import PlayedLine, SessionRequest, SessionService
from gym_gui.runtime.ui_ticker import UiTicker
from mosaic.contract.events import EpisodeEnd, PolicyEvent, StepRecord
from mosaic.envs import catalog
from mosaic.envs.scenes.factory import scene_for
from mosaic.envs.scenes.scene import GridScene, Scene


class PlayModel(SessionFacts):
    """Made once, by the wiring. Each signal fires at most once a beat."""

    changed = Signal()
    """Anything about the session: its phase, who acts, the score, a problem."""
    environment_changed = Signal()
    """`entry`, and with it keys and views, are those of another environment."""
    scene_changed = Signal()
    """What a grid shows: the scene, visits, or the policy."""
    frame_changed = Signal()
    moment_changed = Signal()
    """`moment`: observation, info and the step that led there."""
    keys_changed = Signal()
    """Which keys are down."""
    has_keyboard_changed = Signal()
    keyboard_wanted = Signal()
    """Keys shall go to the environment."""
    play_wanted = Signal()
    """Somebody asks to play while nothing is set up for it here: the session panel knows what."""

    def __init__(
        self,
        sessions: SessionService,
        pulse: UiTicker,
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
        """What a key that did nothing would have needed."""
        self.has_keyboard = False
        """Whether keys go to the environment now; the keyboard says so."""
        self.fps = 0.0
        self._pulse = pulse
        self._clock = clock
        self._moment = NewestMoment()
        self._score = PlayScore()
        self._rate = FrameRate()
        self._held: HeldKeys | None = None
        self._run_id = ""
        self._pause = PlayPause()
        self._policy_told: PolicyEvent | None = None
        self._news: set[str] = set()
        sessions.changed.connect(self._on_state)
        sessions.lines_arrived.connect(self._on_lines)
        sessions.frame_changed.connect(self._on_frame)
        pulse.subscribe(self, self._on_beat)

    # What is shown.

    @property
    def moment(self) -> Moment:
        return self._moment.now

    @property
    def step(self) -> StepRecord | None:
        """The newest one; of a run that is only watched, the newest that was stored."""
        return self.moment.record if self.moment.episode_id else self.state.step

    @property
    def score(self) -> EpisodeScore:
        return self._score.now

    @property
    def may_act(self) -> bool:
        """What the person does now would count."""
        return self.person_acts and not self.is_over and not self.is_paused

    @property
    def is_over(self) -> bool:
        """The episode has ended, and waits for the next one."""
        return self.score.is_over and self.score.episode_id == self.moment.episode_id

    @property
    def awaits_new_episode(self) -> bool:
        """It is over, and it is the person who begins the next one."""
        return self.person_acts and self.is_over

    @property
    def awaits_first_key(self) -> bool:
        """A game in real time stands still until its player has the hands on the keys."""
        is_still = self.is_paused and not self._pause.is_ending and self.moment.step < 0
        return is_still and self.is_timed and not self.has_agent

    @property
    def pause_reason(self) -> str:
        """Why a game was paused that its player could not go on with."""
        return self._pause.reason if self.is_paused else ""

    @property
    def outcome(self) -> str:
        return outcome_words(self.score, self.scene, self.entry)

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
        """What the agent of that id is called in lists."""
        self.actor_labels[actor_id] = label
        self._note("changed")

    def pause_or_resume(self) -> None:
        if self.is_playing and not self.awaits_new_episode:
            (self._go_on if self.is_paused else self._sessions.pause)()

    def pause_unattended(self, reason: str) -> None:
        """Its player cannot act, and the game would go on without them."""
        if self.is_timed and self.may_act:
            self._pause.begin(reason)
            self._sessions.pause()

    def _go_on(self) -> None:
        self._pause.end()
        self._sessions.resume()

    def single_step(self) -> None:
        """One step; a session that runs is paused first, so that it stays one."""
        if self.can_single_step and not self.awaits_new_episode:
            if not self.is_paused:
                self._sessions.pause()
            self._sessions.step()

    def reset_episode(self, seed: int | None = None) -> None:
        """Begin anew, with another seed unless one is given."""
        if self.is_playing:
            self._say("")
            self._sessions.reset(seed)
            if self.is_paused:
                self._go_on()

    def begin_new_episode(self) -> None:
        self.reset_episode()

    def play_again(self) -> None:
        """The same episode from its start."""
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
            self._go_on()  # whoever takes over wants to act

    def clear_visits(self) -> None:
        self.visits.clear()
        self._note("scene")

    # Keys.

    @property
    def held_keys(self) -> Sequence[str]:
        return self._held.pressed if self._held else ()

    def is_key_lit(self, key: str) -> bool:
        return self._held is not None and self._held.is_lit(key)

    def wants_key(self, key: str) -> bool:
        """Whether it means anything in this session now."""
        if not self.is_playing:
            return False
        if self.keys.steering(key, is_over=self.is_over) is not None:
            return True
        return self._held is not None and self._held.means_something(key)

    def press(self, key: str) -> bool:
        """A key went down. Whether it means something here; if not, it is for somebody else."""
        if not self.wants_key(key):
            return False
        steering = self.keys.steering(key, is_over=self.is_over)
        if steering is not None:
            self._steer(steering)
        elif self._held is not None:
            self._act(self._held, key)
        return True

    def release_key(self, key: str) -> None:
        if self._held is not None and key in self._held.pressed:
            self._send(self._held.release(key, self._clock()))
            self._note("keys")

    def release_all(self) -> None:
        """The keyboard went elsewhere."""
        if self._held is not None and self._held.pressed:
            self._send(self._held.release_all(self._clock()))
            self._note("keys")

    def ask_for_keyboard(self) -> None:
        """Somebody clicked into a view, or on the words that say how to get it back."""
        self.keyboard_wanted.emit()

    def set_has_keyboard(self, has_keyboard: bool) -> None:
        if has_keyboard != self.has_keyboard:
            self.has_keyboard = has_keyboard
            if not has_keyboard:
                self.release_all()
            self.has_keyboard_changed.emit()

    def _act(self, held: HeldKeys, key: str) -> None:
        if not self.person_acts:
            self._say(f"Press {self.keys.cap('takeover')} first to take over")
        elif self.is_over:
            self._say(f"{self.keys.cap('reset')} begins a new episode")
        elif self.is_paused and not (self.awaits_first_key or self._pause.is_ending):
            self._say(f"Paused. {self.keys.cap('pause')} goes on")
        else:
            self._say("")
            if self.awaits_first_key:
                self._go_on()
            self._send(held.press(key, self._clock()))
        self._note("keys")

    def _steer(self, steering: Steering) -> None:
        ends = self.awaits_new_episode and steering in ("pause", "step")
        self._say(f"{self.keys.cap('reset')} begins a new episode" if ends else "")
        {
            "pause": self.pause_or_resume,
            "step": self.single_step,
            "reset": self.begin_new_episode,
            "takeover": self.take_over_or_release,
            "again": self.play_again,
        }[steering]()

    def _send(self, actions: Sequence[Any]) -> None:
        if self.person_acts:
            for action in actions:
                self._sessions.act(action)

    def _say(self, hint: str) -> None:
        if hint != self.hint:
            self.hint = hint
            self._note("changed")

    # What comes.

    def _on_state(self) -> None:
        state = self.state
        if state.run_id != self._run_id:
            self._begin_run(state.run_id)
        self._note_pictures()
        self._update_entry()
        if state.policy is not self._policy_told:
            self._policy_told = state.policy
            self._note("scene")
        if not self.person_acts and self._held is not None:
            self.release_all()
            self._held.forget_sent()
        if self._pause.take(state):
            self.pause_unattended("the daemon did not answer")
        self._note("changed")

    def _begin_run(self, run_id: str) -> None:
        self._run_id = run_id
        self.draws_nothing = False
        self._moment = NewestMoment()
        self._score = PlayScore()
        self._rate.clear()
        self.hint = ""
        self._pause = PlayPause()
        self.visits.forget_map()
        self._note("frame", "moment", "scene")

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
            self._note("environment", "scene")

    def _on_lines(self, lines: Sequence[PlayedLine]) -> None:
        made = self.state.environment
        env_kwargs = made.env_kwargs if made else None
        for line in lines:
            self._score.take(line)
            if isinstance(line, EpisodeEnd):
                continue
            self.visits.add(self.state.env_id, env_kwargs, line.obs, line.render)
            if self._moment.take(line):
                self._note("moment")
        self._note("changed", "scene")

    def _on_frame(self) -> None:
        frame = self.frame
        if frame is None:
            return
        self._rate.note(self._clock())
        if self._moment.take_json(frame.step_json):
            self._note("moment", "scene")
        self._note("frame", "changed")

    def _on_beat(self) -> bool:
        now = self._clock()
        if self._held is not None and self._held.is_busy and self.may_act:
            self._send(self._held.beat(now))
        fps = round(self._rate.per_second(now))
        if fps != self.fps:
            self.fps = fps
            self._note("changed")
        is_busy = bool(self._news) or fps > 0 or bool(self.held_keys)
        self._announce()
        return is_busy

    def _announce(self) -> None:
        news, self._news = self._news, set()
        if "scene" in news or "moment" in news:
            self._draw_scene()
            self.scene_changed.emit()
        signals = {
            "environment": self.environment_changed,
            "moment": self.moment_changed,
            "frame": self.frame_changed,
            "keys": self.keys_changed,
            "changed": self.changed,
        }
        for name, signal in signals.items():
            if name in news:
                signal.emit()

    def _draw_scene(self) -> None:
        state, moment = self.state, self.moment
        made = state.environment
        step = moment.record
        observation, render, action = moment.observation, moment.render, moment.action
        if not moment.episode_id and state.step is not None:  # a run that is only watched
            step = state.step
            observation, render, action = step.obs, step.render, step.action
        self.scene = scene_for(
            state.env_id,
            made.env_kwargs if made else None,
            observation,
            render,
            action=action,
            is_over=step is not None and (step.terminated or step.truncated),
        )
        self.policy = CellPolicy()
        if isinstance(self.scene, GridScene) and self.entry is not None:
            self.policy = cell_policy(self._policy_told, self.scene, observation, self.entry.keys)

    def _note(self, *news: str) -> None:
        self._news.update(news)
        self._pulse.wake()
