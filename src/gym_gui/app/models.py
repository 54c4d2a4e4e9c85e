"""Models: one of each, made in the order in which they need each other, and closed together."""

import time

from PySide6.QtCore import QObject

from gym_gui.app.settings_store import SettingsStore
from gym_gui.models.episodes_table import EpisodesTable
from gym_gui.models.live_model import LiveModel
from gym_gui.models.log_model import LogModel
from gym_gui.models.notices import Notices
from gym_gui.models.play_model import PlayModel
from gym_gui.models.replay_model import ReplayModel
from gym_gui.models.run_actions import RunActions
from gym_gui.models.runs_model import RunsModel
from gym_gui.models.session_panel_model import SessionPanelModel
from gym_gui.models.settings_model import SettingsModel
from gym_gui.models.status_model import StatusModel
from gym_gui.models.theme_model import ThemeModel
from gym_gui.models.video_model import VideoModel
from gym_gui.services.environment_pictures import EnvironmentPictures
from gym_gui.services.log_feed import LogFeed
from gym_gui.services.pulse import Pulse
from gym_gui.services.sessions import SessionService
from gym_gui.services.tasks import Tasks
from gym_gui.services.trainer_link import TrainerLink


class Models(QObject):
    """Made once, by the wiring."""

    def __init__(
        self,
        link: TrainerLink,
        tasks: Tasks,
        pulse: Pulse,
        notices: Notices,
        settings: SettingsStore,
        theme: ThemeModel,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.sessions = SessionService(link, pulse, self)
        self.pictures = EnvironmentPictures(link, tasks, self)
        self.settings = SettingsModel(link, tasks, notices, settings, theme, self)
        self.status = StatusModel(link, tasks, self)
        self.session_panel = SessionPanelModel(
            link, tasks, notices, settings, self.sessions, self.pictures, self
        )
        self.play = PlayModel(self.sessions, pulse, self)
        self.runs = RunsModel(link, tasks, pulse, notices, self)
        self.run_actions = RunActions(link, tasks, notices, self.runs, self)
        self.episodes = EpisodesTable(link, tasks, pulse, notices, self.runs, self)
        self.live = LiveModel(link, tasks, pulse, notices, self.runs, settings, self)
        self.replay = ReplayModel(link, tasks, pulse, notices, self)
        self.video = VideoModel(link, tasks, pulse, notices, self)
        self.log_feed = LogFeed(link, pulse, self)
        self.log = LogModel(self.log_feed, pulse, self)

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
