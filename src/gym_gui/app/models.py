"""Models: one of each, made in the order in which they need each other, and closed together."""

import time

from PySide6.QtCore import QObject

from gym_gui.live.model.episodes_table import EpisodesTable
from gym_gui.live.model.live_model import LiveModel
from gym_gui.log.feed import LogFeed
from gym_gui.log.model import LogModel
from gym_gui.play.model.play_model import PlayModel
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import SessionService
from gym_gui.runtime.settings_store import SettingsStore
from gym_gui.runtime.tasks import Tasks
from gym_gui.runtime.trainer_link import TrainerLink
from gym_gui.runtime.ui_ticker import UiTicker
from gym_gui.session.feed.thumbnail_cache import ThumbnailCache
from gym_gui.session.model.session_panel_model import SessionPanelModel
from gym_gui.settings.model.settings_model import SettingsModel
from gym_gui.shell.model import StatusModel
from gym_gui.video.model import VideoModel


class Models(QObject):
    """Made once, by the wiring."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        ticker: UiTicker,
        notices: Notices,
        settings: SettingsStore,
        theme: ThemeModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.sessions = SessionService(link, ticker, self)
        self.pictures = ThumbnailCache(link, tasks, self)
        self.settings = SettingsModel(link, tasks, notices, settings, theme, self)
        self.status = StatusModel(link, tasks, self)
        self.session_panel = SessionPanelModel(
            link, tasks, notices, settings, self.sessions, self.pictures, self
        )
        self.play = PlayModel(self.sessions, ticker, self)
        self.runs = RunsModel(link, tasks, ticker, notices, self)
        self.run_actions = RunActions(link, tasks, notices, self.runs, self)
        self.episodes = EpisodesTable(link, tasks, ticker, notices, self.runs, self)
        self.live = LiveModel(link, tasks, ticker, notices, self.runs, settings, self)
        self.replay = ReplayModel(link, tasks, ticker, notices, self)
        self.video = VideoModel(link, tasks, ticker, notices, self)
        self.log_feed = LogFeed(link, ticker, self)
        self.log = LogModel(self.log_feed, ticker, self)

    def close(self) -> None:
        """Nothing more is asked for; does not wait."""
        self.sessions.close()
        self.run_actions.close()
        for model in (self.live, self.episodes, self.replay, self.video, self.runs):
            model.close()
        self.log_feed.close()

    def join(self, deadline: float) -> None:
        """Until the reading of `time.monotonic()`: wait for their threads."""

        def left_s() -> float:
            return max(0.0, deadline - time.monotonic())

        self.sessions.join(left_s())
        self.run_actions.join(left_s())
        for model in (self.live, self.episodes, self.replay, self.video, self.runs):
            model.join(left_s())
        for thread in self.log_feed.threads:
            thread.join(left_s())
