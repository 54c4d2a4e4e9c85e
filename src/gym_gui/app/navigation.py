"""Navigation: what leads where. A run that is chosen is shown in all panels, a session that begins
comes to the front, a folder is opened by the desktop."""

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from gym_gui.app.demo_start import DemoStart
from gym_gui.app.screens import CentreTab
from gym_gui.app.step_in_full import StepInFull
from gym_gui.runtime.models.run_tabs import NO_VIDEO
from gym_gui.runtime.models.theme_model import ThemeChoice
from gym_gui.runtime.trainer_link import LinkState

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

_WELCOME = "window/welcome"
DEFAULT_ENVIRONMENT = "FrozenLake-v1"


class Navigation(QObject):
    """Made once, by the wiring, when everything else is there."""

    def __init__(self, bench: "AppContext") -> None:
        super().__init__(bench)
        self._bench = bench
        self._models = bench.models
        self._requested_run = ""
        self._was_playing = ""
        self._actor_label = ""
        self._link_text = ""
        """What the banner says of the daemon, while it does."""
        self._able: tuple[bool, ...] = ()
        self._step_in_full = StepInFull(bench, self)
        self.demo = DemoStart(bench, self)
        self._connect_runs()
        self._connect_session()
        self._connect_shell()
        bench.analysis.begin()

    def begin(self, *, run_id: str = "", env_id: str = "") -> None:
        """What the command line asked for; at the first start of all, the welcome page."""
        bench = self._bench
        if env_id:
            self._models.session_panel.choice.choose(env_id)
            bench.window.centre.show_tabs()
        elif run_id:
            self._requested_run = run_id
            bench.window.centre.show_tab("live")
            self._show_requested_run()
        elif bench.settings.flag(_WELCOME, True):
            bench.window.centre.show_welcome()

    def show_run(self, run_id: str) -> None:
        """In the panels at the right and in the tabs, without changing what is in front."""
        models = self._models
        if run_id == models.live.run_id:
            return
        self._step_in_full.forget_selected()
        models.live.show(run_id)
        models.episodes.show(run_id)
        models.video.show(run_id)
        self._bench.analysis.show_run(run_id)
        models.log.show_run(models.runs.by_id(run_id))
        self._replay_shown_run()

    def watch(self, run_id: str) -> None:
        self.show_run(run_id)
        self._bench.window.centre.show_tab("live")
        self._bench.window.show_telemetry("steps")

    def replay(self, run_id: str, episode: int | None = None) -> None:
        if (run_id, episode) != (self._models.replay.run_id, self._models.replay.episode):
            self._models.replay.open(run_id, episode)
        self.show_run(run_id)
        self._bench.window.centre.show_tab("replay")
        self._bench.window.show_telemetry("step")

    # Runs.

    def _connect_runs(self) -> None:
        bench, models = self._bench, self._models
        bench.runs_view.selected.connect(self.show_run)
        bench.runs_view.open_requested.connect(bench.analysis.open_run)
        bench.runs_view.watch_requested.connect(self.watch)
        bench.runs_view.replay_requested.connect(self.replay)
        bench.runs_view.compare_requested.connect(bench.analysis.compare)
        models.runs.runs_changed.connect(self._show_requested_run)
        models.runs.run_changed.connect(self._on_run_changed)
        models.live.replay_requested.connect(self.replay)
        models.live.log_requested.connect(self._show_log_of)
        models.live.tab_requested.connect(bench.window.centre.show_tab)
        bench.episodes_view.episode_activated.connect(self.replay)
        bench.episodes_view.episode_selected.connect(self._show_steps_of)
        bench.steps_view.step_activated.connect(self.replay_step)
        bench.window.centre.tab_changed.connect(self._record_watched)
        self._record_watched()
        bench.window.centre.tab_changed.connect(lambda _: self._replay_shown_run())
        models.replay.episode_changed.connect(self._show_replayed_episode)
        models.video.changed.connect(self._update_tabs)

    def _show_requested_run(self) -> None:
        """The command line named a run, perhaps by a part of its id; the list may still come."""
        wanted = self._requested_run
        if not wanted:
            return
        found = [
            run.run_id
            for run in self._models.runs.runs
            if wanted in (run.run_id, run.name) or run.run_id.endswith(wanted)
        ]
        if found:
            self._requested_run = ""
            self._bench.runs_view.select(found[0])
            self.watch(found[0])

    def _replay_shown_run(self) -> None:
        """The Replay tab is about the run that all panels are about, once it is looked at."""
        run_id, replay = self._models.live.run_id, self._models.replay
        is_in_front = self._bench.window.centre.current == "replay"
        if is_in_front and run_id and run_id != replay.run_id:
            replay.open(run_id, None)

    def _on_run_changed(self, run_id: str) -> None:
        """Of the run that is shown: one that was deleted goes, one that is new has a log."""
        models = self._models
        if run_id != models.live.run_id:
            return
        run = models.runs.by_id(run_id)
        if run is None:
            self.show_run("")
        elif models.log.run_id != run_id:
            models.log.show_run(run)

    def _record_watched(self) -> None:
        self._models.live.set_visible(self._bench.window.centre.current == "live")

    def _show_log_of(self, run_id: str) -> None:
        self._models.log.show_run(self._models.runs.by_id(run_id))
        self._bench.window.show_log()

    def _show_steps_of(self, _: str, episode: int) -> None:
        self._models.live.pin_episode(episode)

    def replay_step(self, run_id: str, episode: int, step: int) -> None:
        self.replay(run_id, episode)
        self._models.replay.seek(step + 1)

    def show_video(self, run_id: str, path: str) -> None:
        self._models.video.show(run_id, path)
        self._bench.window.centre.show_tab("video")

    def _show_replayed_episode(self) -> None:
        replay = self._models.replay
        if replay.episode is not None and replay.run_id == self._models.live.run_id:
            self._models.live.pin_episode(replay.episode)

    def no_more_welcome(self) -> None:
        """Whoever has begun something is not welcomed at the next start, unless they ask for it."""
        if not self._bench.settings.text(_WELCOME):
            self._bench.settings.set(_WELCOME, False)
            self._bench.welcome.set_show_at_start(False)

    def _watch_demo(self, run_id: str) -> None:
        self.no_more_welcome()
        self._requested_run = run_id
        self._show_requested_run()
        self._bench.window.centre.show_tab("live")

    # The session.

    def _connect_session(self) -> None:
        models = self._models
        models.sessions.changed.connect(self._on_session_changed)
        models.play.play_requested.connect(models.session_panel.play)
        models.play.environment_changed.connect(self._update_tabs)
        models.play.changed.connect(self._update_tabs)
        models.play.changed.connect(self._echo_actor)
        models.play.changed.connect(self._update_commands)
        models.session_panel.actor_changed.connect(self._name_actor)
        models.session_panel.mode_changed.connect(lambda _: self._bench.commands.update())

    def _on_session_changed(self) -> None:
        """A session that begins comes to the front, in the view that suits its environment."""
        run_id = self._models.sessions.state.run_id
        if run_id and run_id != self._was_playing:
            self._was_playing = run_id
            self.no_more_welcome()
            self.show_run(run_id)
            self._bench.runs_view.select(run_id)
            centre = self._bench.window.centre
            if centre.current != "raw" or not centre.shows_tabs:
                centre.show_tab(self._preferred_view())
            self._bench.window.show_telemetry("steps")
            self._bench.keyboard.return_keyboard()

    def _preferred_view(self) -> CentreTab:
        return cast("CentreTab", self._models.play.preferred_view)

    def _update_tabs(self) -> None:
        centre, play, video = self._bench.window.centre, self._models.play, self._models.video
        centre.set_tab_reason("grid", play.no_scene_reason)
        centre.set_tab_reason("frame", play.no_frames_reason)
        centre.set_tab_reason(
            "video",
            "" if video.has_video or not video.run_id else NO_VIDEO,
        )

    def _name_actor(self, label: str) -> None:
        panel = self._models.session_panel
        self._actor_label = label
        self._models.play.name_actor(panel.actor_id, label)
        self._echo_actor()

    def _echo_actor(self) -> None:
        """In the status bar while somebody plays: who acts, also a person who has taken over."""
        play = self._models.play
        is_taken_over = play.person_acts and play.has_agent
        label = f"you, in place of {play.actor_label}" if is_taken_over else self._actor_label
        self._models.status.echo_actor(label if play.is_on else "")

    # The shell.

    def _connect_shell(self) -> None:
        bench, models, window = self._bench, self._models, self._bench.window
        bench.tasks.failed.connect(bench.notices.fail)
        bench.status_strip.start_requested.connect(bench.link.start_daemon)
        bench.palette.used.connect(self._keep_recent)
        bench.palette.remember(bench.settings.text("window/recent_commands").split())
        bench.link.recovered.connect(lambda: bench.notices.post("The daemon is back.", tone="good"))
        bench.link.changed.connect(self._show_link)
        bench.link.changed.connect(self._update_commands)
        bench.runs_view.selected.connect(lambda _: self._bench.commands.update())
        bench.welcome.play_chosen.connect(self._play_first)
        bench.welcome.demo_chosen.connect(self.demo.start)
        self.demo.started.connect(self._watch_demo)
        bench.welcome.dismissed.connect(window.centre.show_tabs)
        bench.welcome.set_show_at_start(bench.settings.flag(_WELCOME, True))
        bench.welcome.show_at_start_changed.connect(partial(bench.settings.set, _WELCOME))
        models.settings.layout_reset_requested.connect(window.reset_layout)
        models.settings.integer_scaling_changed.connect(self._apply_scaling)
        models.settings.cache_changed.connect(self._apply_cache)
        self._apply_scaling()
        self._apply_cache()
        for signal in (
            models.run_actions.show_requested,
            models.live.episodes.open_requested,
            models.episodes.open_requested,
            models.live.steps.open_requested,
            bench.log_view.open_requested,
        ):
            signal.connect(self.open_outside)
        window.closing.connect(models.sessions.close)

    def _update_commands(self) -> None:
        """A shortcut of a command that is disabled is ignored, so it must not stay so."""
        play = self._models.play
        able = (play.is_on, play.is_playing, play.has_agent, self._bench.link.is_ready)
        if able != self._able:
            self._able = able
            self._bench.commands.update()

    def _show_link(self) -> None:
        """Above everything, for as long as no daemon answers: why, and what can be done."""
        link, banner = self._bench.link, self._bench.window.centre.banner
        if link.state is LinkState.LOST:
            words = "The daemon does not answer. Runs go on without it; this window looks for it."
            self._link_text = words
            banner.show_message(words, "warning", [("Start the daemon", link.start_daemon)])
        elif link.state is LinkState.FAILED and link.problem is not None:
            words = f"There is no daemon. {link.problem.message} {link.problem.remedy}"
            self._link_text = words
            banner.show_message(words, "bad", [("Try again", link.start_daemon)])
        elif self._link_text:
            if banner.message == self._link_text:  # it may say something else by now
                banner.clear()
            self._link_text = ""

    def choose_theme(self, choice: ThemeChoice) -> None:
        self._models.settings.choose_theme(choice)

    def open_outside(self, what: str) -> None:
        """A folder, a file or an address, with whatever the desktop opens it with."""
        url = QUrl(what) if "://" in what else QUrl.fromLocalFile(what)
        if not QDesktopServices.openUrl(url):
            self._bench.notices.post(
                f"The desktop has nothing to open it with. It is at {what}", tone="warning"
            )

    def _keep_recent(self) -> None:
        self._bench.settings.set("window/recent_commands", " ".join(self._bench.palette.recent))

    def _apply_scaling(self) -> None:
        is_whole = self._models.settings.integer_scaling
        self._bench.play_area.frame.choose_scaling("pixels" if is_whole else "smooth")

    def _apply_cache(self) -> None:
        self._models.replay.cache_bytes = self._models.settings.cache_mb << 20

    def _play_first(self) -> None:
        panel = self._models.session_panel
        panel.set_mode("human")
        panel.choice.choose(DEFAULT_ENVIRONMENT)
        self._bench.window.centre.show_tab("grid")
        panel.play()
