"""AppContext: creates and connects the services, models, views and the window.

`start_up.py` creates one; tests create one in a temporary home. Closing it ends all its threads.
"""

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer

from gym_gui.app.analysis import Analysis
from gym_gui.app.command_bindings import bindings
from gym_gui.app.command_table import COMMANDS
from gym_gui.app.commands import Commands
from gym_gui.app.lazy_page import LazyPage
from gym_gui.app.main_window import MainWindow
from gym_gui.app.models import Models
from gym_gui.app.navigation import Navigation
from gym_gui.app.screens import Screens
from gym_gui.app.training_dock import TrainingDock
from gym_gui.app.training_navigation import TrainingNavigation
from gym_gui.inspector.view.step_inspector import StepInspector
from gym_gui.live.view.table_views import EpisodesView, StepsView
from gym_gui.log.view.log_view import LogView
from gym_gui.play.view.keyboard_focus import KeyboardFocus
from gym_gui.play.view.play_area import PlayArea
from gym_gui.play.view.play_bar import PlayBar
from gym_gui.runs.view.runs_view import RunsView
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.settings_store import SettingsStore
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.session.view.session_panel import SessionPanel
from gym_gui.shell.view.command_palette import CommandPalette, CommandSearchButton
from gym_gui.shell.view.status_strip import StatusStrip
from gym_gui.shell.view.welcome import Welcome
from mosaic.contract.layout import Home

if TYPE_CHECKING:
    from gym_gui.app.start_up import StartupOptions
    from gym_gui.live.view.live_tab import LiveTab
    from gym_gui.replay.view.replay_page import ReplayPage
    from gym_gui.settings.view.settings_page import SettingsPage
    from gym_gui.video.view import VideoPage

_PRELOAD_DELAY_MS = 1_500
_CLOSE_TIMEOUT_S = 5.0
"""For sessions and streams; the process does not wait longer for them."""


class AppContext(QObject):
    """UI thread only."""

    def __init__(self, home: Home) -> None:
        super().__init__()
        self.settings = SettingsStore(home, self)
        self.theme = ThemeModel(self)
        self.notices = Notices(self)
        self.tasks = Tasks(self)
        self.ticker = UiTicker(self)
        self.link = TrainerLink(home, self)
        self.services = Services(self.link, self.tasks, self.ticker, self.notices, self.settings)
        self.models = Models(self.services, self.theme, self)
        self.play_area = PlayArea(self.models.play, self.theme, self)
        self.training = TrainingDock(
            self.services, self.models.runs, self.models.session_panel, self.theme, self
        )
        self.session_panel = SessionPanel(self.models.session_panel, self.theme, self.training)
        self.runs_view = RunsView(
            self.models.runs, self.models.run_actions, self.theme, settings=self.settings
        )
        self._replay_page: LazyPage[ReplayPage] = LazyPage(
            self._make_replay_page, self.tasks, ["replay.view.replay_page"]
        )
        self._video_page: LazyPage[VideoPage] = LazyPage(
            self._make_video_page, self.tasks, ["video.view"]
        )
        self._live_tab: LazyPage[LiveTab] = LazyPage(
            self._make_live_tab, self.tasks, ["live.view.live_tab"]
        )
        self.log_view = LogView(self.models.log, self.theme)
        self.steps_view = StepsView(self.models.live.steps, self.theme)
        self.episodes_view = EpisodesView(self.models.episodes, self.theme)
        self.inspector = StepInspector(self.theme)
        self.welcome = Welcome(self.theme)
        self.settings_page: LazyPage[SettingsPage] = LazyPage(
            self._make_settings_page, self.tasks, ["settings.view.settings_page"]
        )
        self.status_strip = StatusStrip(self.models.status, self.theme)
        self.analysis = Analysis(self)
        self.window = MainWindow(self._screens(), self.notices, self.settings, self.theme)
        self.keyboard = KeyboardFocus(self.models.play, self.play_area, self.window)
        self.palette = CommandPalette(self.theme, self.window)
        self.commands = Commands(self.window, bindings(self), self.theme)
        self._add_search_button()
        self.navigation = Navigation(self)
        self.training_navigation = TrainingNavigation(self)
        self._preload_timer = QTimer(self, singleShot=True, interval=_PRELOAD_DELAY_MS)
        self._preload_timer.timeout.connect(self._preload)
        self.keep_alive: list[object] = []
        """Objects that must not be garbage-collected before this one."""

    def open(self, options: "StartupOptions") -> None:
        """Connect to the daemon and show what `options` request, after the window is visible."""
        self.link.open(start=options.starts_daemon)
        self.navigation.start(run_id=options.run_id, env_id=options.env_id)
        self._preload_timer.start()

    def close(self) -> None:
        """Stop the session and all threads, after the window is closed."""
        deadline = time.monotonic() + _CLOSE_TIMEOUT_S
        self._preload_timer.stop()
        self.models.close()
        self.analysis.models.close()
        self.training.close()
        self.models.join(deadline)
        self.training.join(max(0.0, deadline - time.monotonic()))
        self.analysis.models.join(deadline)
        self.tasks.close()
        self.ticker.close()
        self.link.close()
        self.link.join(max(0.1, deadline - time.monotonic()))
        self.tasks.join(max(0.1, deadline - time.monotonic()))
        self.settings.save()

    def _preload(self) -> None:
        """Import the pages that are likely to be shown next."""
        pages: list[LazyPage[Any]] = [
            self._live_tab,
            self._replay_page,
            self.analysis.charts_page,
        ]

        def load_next() -> None:
            if pages:
                pages.pop(0).load(load_next)
            else:
                self.session_panel.training_area.new.prepare_page()

        load_next()

    @property
    def replay_page(self) -> "ReplayPage":
        return self._replay_page.content

    @property
    def live_tab(self) -> "LiveTab":
        return self._live_tab.content

    def _make_replay_page(self) -> "ReplayPage":
        from gym_gui.replay.view.replay_page import ReplayPage  # noqa: PLC0415 - when shown

        page = ReplayPage(self.models.replay, self.theme)
        page.run_requested.connect(self.window.show_runs)
        page.video_requested.connect(self.navigation.show_video)
        return page

    def _make_video_page(self) -> "VideoPage":
        from gym_gui.video.view import VideoPage  # noqa: PLC0415 - when shown

        return VideoPage(self.models.video, self.theme)

    def _make_live_tab(self) -> "LiveTab":
        from gym_gui.live.view.live_tab import LiveTab  # noqa: PLC0415 - when shown

        page = LiveTab(self.models.live, self.theme)
        page.episode_activated.connect(self.navigation.replay)
        page.steps.step_activated.connect(self.navigation.replay_step)
        return page

    def _make_settings_page(self) -> "SettingsPage":
        from gym_gui.settings.view.settings_page import SettingsPage  # noqa: PLC0415 - when shown

        keys = [(command.text, command.shortcut) for command in COMMANDS if command.shortcut]
        page = SettingsPage(self.models.settings, self.theme, keys)
        page.open_requested.connect(self.navigation.open_externally)
        return page

    def _screens(self) -> Screens:
        area = self.play_area
        return Screens(
            session_panel=self.session_panel,
            centre={
                "grid": area.grid_page,
                "frame": area.frame_page,
                "raw": area.raw_page,
                "video": self._video_page,
                "replay": self._replay_page,
                "live": self._live_tab,
                "run": self.analysis.run_page,
                "charts": self.analysis.charts_page,
                "compare": self.analysis.compare_page,
                "tensorboard": self.analysis.tensorboard_page,
                "wandb": self.analysis.wandb_page,
                "optuna": self.analysis.study_page,
            },
            worker_tabs=self.analysis.worker_pages,
            play_bar=PlayBar(self.models.play, self.theme),
            telemetry={
                "steps": self.steps_view,
                "episodes": self.episodes_view,
                "step": self.inspector,
            },
            runs={"runs": self.runs_view, "log": self.log_view},
            welcome=self.welcome,
            settings=self.settings_page,
            status=self.status_strip,
        )

    def _add_search_button(self) -> None:
        action = self.commands.actions["tools.palette"]
        button = CommandSearchButton(self.theme, action.shortcut(), self.window.menuBar())
        button.clicked.connect(action.trigger)
        self.window.menuBar().setCornerWidget(button)
