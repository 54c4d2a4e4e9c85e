"""Navigation: connects the panels. A selected run is shown in all of them, a new session comes to
the front, the desktop opens folders."""

from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from gym_gui.app.demo_start import DemoStart
from gym_gui.app.screens import CentreTab
from gym_gui.app.step_selection import StepSelection
from gym_gui.runtime.models.run_tabs import NO_VIDEO
from gym_gui.runtime.models.theme_model import ThemeChoice
from gym_gui.runtime.trainer_link import LinkState

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext

_WELCOME_KEY = "window/welcome"
DEFAULT_ENVIRONMENT = "FrozenLake-v1"


class Navigation(QObject):
    """Created by `AppContext`, after all models and views."""

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._context = context
        self._models = context.models
        self._requested_run = ""
        self._last_session = ""
        self._actor_label = ""
        self._link_text = ""
        """The banner's message about the daemon; empty if there is none."""
        self._command_state: tuple[bool, ...] = ()
        self._step_in_full = StepSelection(context, self)
        self.demo = DemoStart(context, self)
        self._connect_runs()
        self._connect_session()
        self._connect_shell()
        context.analysis.start()

    def start(self, *, run_id: str = "", env_id: str = "") -> None:
        """Show what the command line requested, or else the welcome page."""
        context = self._context
        if env_id:
            self._models.session_panel.choice.choose(env_id)
            context.window.centre.show_tabs()
        elif run_id:
            self._requested_run = run_id
            context.window.centre.show_tab("live")
            self._show_requested_run()
        elif context.settings.flag(_WELCOME_KEY, True):
            context.window.centre.show_welcome()

    def show_run(self, run_id: str) -> None:
        """Show a run in the panels and in the tabs; the current tab does not change."""
        models = self._models
        if run_id == models.live.run_id:
            return
        self._step_in_full.clear_selected()
        models.live.show(run_id)
        models.episodes.show(run_id)
        models.video.show(run_id)
        self._context.analysis.show_run(run_id)
        models.log.show_run(models.runs.by_id(run_id))
        self._replay_selected_run()

    def watch(self, run_id: str) -> None:
        self.show_run(run_id)
        self._context.window.centre.show_tab("live")
        self._context.window.show_telemetry("steps")

    def replay(self, run_id: str, episode: int | None = None) -> None:
        if (run_id, episode) != (self._models.replay.run_id, self._models.replay.episode):
            self._models.replay.open(run_id, episode)
        self.show_run(run_id)
        self._context.window.centre.show_tab("replay")
        self._context.window.show_telemetry("step")

    # Runs.

    def _connect_runs(self) -> None:
        context, models = self._context, self._models
        context.runs_view.selected.connect(self.show_run)
        context.runs_view.open_requested.connect(context.analysis.open_run)
        context.runs_view.watch_requested.connect(self.watch)
        context.runs_view.replay_requested.connect(self.replay)
        context.runs_view.compare_requested.connect(context.analysis.compare)
        models.runs.runs_changed.connect(self._show_requested_run)
        models.runs.run_changed.connect(self._on_run_changed)
        models.live.replay_requested.connect(self.replay)
        models.live.log_requested.connect(self._show_log_of)
        models.live.tab_requested.connect(context.window.centre.show_tab)
        context.episodes_view.episode_activated.connect(self.replay)
        context.episodes_view.episode_selected.connect(self._show_steps_of)
        context.steps_view.step_activated.connect(self.replay_step)
        context.window.centre.tab_changed.connect(self._update_watched)
        self._update_watched()
        context.window.centre.tab_changed.connect(lambda _: self._replay_selected_run())
        models.replay.episode_changed.connect(self._show_replayed_episode)
        models.video.changed.connect(self._update_tabs)

    def _show_requested_run(self) -> None:
        """Show the run that the command line requested, as soon as it is listed."""
        requested = self._requested_run
        if not requested:
            return
        matching = [
            run.run_id
            for run in self._models.runs.runs
            if requested in (run.run_id, run.name) or run.run_id.endswith(requested)
        ]
        if matching:
            self._requested_run = ""
            self._context.runs_view.select(matching[0])
            self.watch(matching[0])

    def _replay_selected_run(self) -> None:
        """Open the selected run in the Replay tab, if that is the current tab."""
        run_id, replay = self._models.live.run_id, self._models.replay
        is_current = self._context.window.centre.current == "replay"
        if is_current and run_id and run_id != replay.run_id:
            replay.open(run_id, None)

    def _on_run_changed(self, run_id: str) -> None:
        """Clear a selected run that was deleted; show the log of one that is new."""
        models = self._models
        if run_id != models.live.run_id:
            return
        run = models.runs.by_id(run_id)
        if run is None:
            self.show_run("")
        elif models.log.run_id != run_id:
            models.log.show_run(run)

    def _update_watched(self) -> None:
        self._models.live.set_visible(self._context.window.centre.current == "live")

    def _show_log_of(self, run_id: str) -> None:
        self._models.log.show_run(self._models.runs.by_id(run_id))
        self._context.window.show_log()

    def _show_steps_of(self, _: str, episode: int) -> None:
        self._models.live.pin_episode(episode)

    def replay_step(self, run_id: str, episode: int, step: int) -> None:
        self.replay(run_id, episode)
        self._models.replay.seek(step + 1)

    def show_video(self, run_id: str, path: str) -> None:
        self._models.video.show(run_id, path)
        self._context.window.centre.show_tab("video")

    def _show_replayed_episode(self) -> None:
        replay = self._models.replay
        if replay.episode is not None and replay.run_id == self._models.live.run_id:
            self._models.live.pin_episode(replay.episode)

    def disable_welcome(self) -> None:
        """Do not show the welcome page at the next start, unless the user has enabled it."""
        if not self._context.settings.text(_WELCOME_KEY):
            self._context.settings.set(_WELCOME_KEY, False)
            self._context.welcome.set_show_at_start(False)

    def _watch_demo(self, run_id: str) -> None:
        self.disable_welcome()
        self._requested_run = run_id
        self._show_requested_run()
        self._context.window.centre.show_tab("live")

    # The session.

    def _connect_session(self) -> None:
        models = self._models
        models.sessions.changed.connect(self._on_session_changed)
        models.play.play_requested.connect(models.session_panel.play)
        models.play.environment_changed.connect(self._update_tabs)
        models.play.changed.connect(self._update_tabs)
        models.play.changed.connect(self._show_actor)
        models.play.changed.connect(self._update_commands)
        models.session_panel.actor_changed.connect(self._name_actor)
        models.session_panel.mode_changed.connect(lambda _: self._context.commands.update())

    def _on_session_changed(self) -> None:
        """Show a new session, in the preferred view of its environment."""
        run_id = self._models.sessions.state.run_id
        if run_id and run_id != self._last_session:
            self._last_session = run_id
            self.disable_welcome()
            self.show_run(run_id)
            self._context.runs_view.select(run_id)
            centre = self._context.window.centre
            if centre.current != "raw" or not centre.shows_tabs:
                centre.show_tab(self._preferred_view())
            self._context.window.show_telemetry("steps")
            self._context.keyboard.return_keyboard()

    def _preferred_view(self) -> CentreTab:
        return cast("CentreTab", self._models.play.preferred_view)

    def _update_tabs(self) -> None:
        centre, play, video = self._context.window.centre, self._models.play, self._models.video
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
        self._show_actor()

    def _show_actor(self) -> None:
        """Show the actor in the status bar during a session, also while the user has taken over."""
        play = self._models.play
        is_taken_over = play.person_acts and play.has_agent
        label = f"you, instead of {play.actor_label}" if is_taken_over else self._actor_label
        self._models.status.set_actor(label if play.is_on else "")

    # The shell.

    def _connect_shell(self) -> None:
        context, models, window = self._context, self._models, self._context.window
        context.tasks.failed.connect(context.notices.post_error)
        context.status_strip.start_requested.connect(context.link.start_daemon)
        context.palette.triggered.connect(self._save_recent)
        context.palette.set_recent(context.settings.text("window/recent_commands").split())
        context.link.recovered.connect(
            lambda: context.notices.post("Reconnected to the daemon.", tone="good")
        )
        context.link.changed.connect(self._show_link)
        context.link.changed.connect(self._update_commands)
        context.runs_view.selected.connect(lambda _: self._context.commands.update())
        context.welcome.play_requested.connect(self._play_default)
        context.welcome.demo_requested.connect(self.demo.start)
        self.demo.started.connect(self._watch_demo)
        context.welcome.dismissed.connect(window.centre.show_tabs)
        context.welcome.set_show_at_start(context.settings.flag(_WELCOME_KEY, True))
        context.welcome.show_at_start_changed.connect(partial(context.settings.set, _WELCOME_KEY))
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
            context.log_view.open_requested,
        ):
            signal.connect(self.open_externally)
        window.closing.connect(models.sessions.close)

    def _update_commands(self) -> None:
        """Update the commands when the state changes: Qt ignores shortcuts of disabled actions."""
        play = self._models.play
        command_state = (play.is_on, play.is_playing, play.has_agent, self._context.link.is_ready)
        if command_state != self._command_state:
            self._command_state = command_state
            self._context.commands.update()

    def _show_link(self) -> None:
        """Show the reason and an action in the banner while no daemon answers."""
        link, banner = self._context.link, self._context.window.centre.banner
        if link.state is LinkState.LOST:
            text = "The daemon does not answer. Runs continue; reconnecting."
            self._link_text = text
            banner.show_message(text, "warning", [("Start daemon", link.start_daemon)])
        elif link.state is LinkState.FAILED and link.problem is not None:
            text = f"The daemon is not running. {link.problem.message} {link.problem.remedy}"
            self._link_text = text
            banner.show_message(text, "bad", [("Try again", link.start_daemon)])
        elif self._link_text:
            if banner.message == self._link_text:  # another message may have replaced it
                banner.clear()
            self._link_text = ""

    def choose_theme(self, choice: ThemeChoice) -> None:
        self._models.settings.choose_theme(choice)

    def open_externally(self, target: str) -> None:
        """Open a folder, a file or a URL with the desktop's application."""
        url = QUrl(target) if "://" in target else QUrl.fromLocalFile(target)
        if not QDesktopServices.openUrl(url):
            self._context.notices.post(f"No application can open {target}", tone="warning")

    def _save_recent(self) -> None:
        self._context.settings.set("window/recent_commands", " ".join(self._context.palette.recent))

    def _apply_scaling(self) -> None:
        is_integer = self._models.settings.integer_scaling
        self._context.play_area.frame.choose_scaling("pixels" if is_integer else "smooth")

    def _apply_cache(self) -> None:
        self._models.replay.cache_bytes = self._models.settings.cache_mb << 20

    def _play_default(self) -> None:
        panel = self._models.session_panel
        panel.set_mode("human")
        panel.choice.choose(DEFAULT_ENVIRONMENT)
        self._context.window.centre.show_tab("grid")
        panel.play()
