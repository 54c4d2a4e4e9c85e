"""The models of the window: `Models`, and `AnalysisModels`, which creates its own on demand."""

import time
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from gym_gui.live.model.episodes_table import EpisodesTable
from gym_gui.live.model.live_model import LiveModel
from gym_gui.log.feed import LogFeed
from gym_gui.log.model.log_models import LogModel, RunLogModel
from gym_gui.play.model.play_model import PlayModel
from gym_gui.replay.model.replay_model import ReplayModel
from gym_gui.runtime.models.notices import Notices
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
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

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext
    from gym_gui.beliefs.model.beliefs_model import BeliefsModel
    from gym_gui.charts.model.charts_model import ChartsModel
    from gym_gui.compare.model.compare_model import CompareModel
    from gym_gui.optuna.model.study_model import StudyModel
    from gym_gui.run_page.model.run_page_model import RunPageModel
    from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
    from gym_gui.wandb.model.wandb_model import WandbModel


class Models(QObject):
    """The models that exist from the start; created by `AppContext`, closed together."""

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
        self.thumbnails = ThumbnailCache(link, tasks, self)
        self.settings = SettingsModel(link, tasks, notices, settings, theme, self)
        self.status = StatusModel(link, tasks, self)
        self.session_panel = SessionPanelModel(
            link, tasks, notices, settings, self.sessions, self.thumbnails, self
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
        """Stop all requests; does not wait."""
        self.sessions.close()
        self.run_actions.close()
        for model in (self.live, self.episodes, self.replay, self.video, self.runs):
            model.close()
        self.log_feed.close()

    def join(self, deadline: float) -> None:
        """Wait for the threads of the models, until `time.monotonic()` reaches `deadline`."""

        def remaining_s() -> float:
            return max(0.0, deadline - time.monotonic())

        self.sessions.join(remaining_s())
        self.run_actions.join(remaining_s())
        for model in (self.live, self.episodes, self.replay, self.video, self.runs):
            model.join(remaining_s())
        for thread in self.log_feed.threads:
            thread.join(remaining_s())


class _Closable(Protocol):
    def close(self) -> None: ...

    def join(self, timeout_s: float) -> bool: ...


class AnalysisModels(QObject):
    """The models of the analysis pages, each created at first use; created by `Analysis`."""

    def __init__(self, context: "AppContext") -> None:
        super().__init__(context)
        self._context = context
        self._created: list[_Closable] = []
        self.selected_run = SelectedRun(context.link, context.tasks, context.models.runs, self)

    def close(self) -> None:
        """Stop all requests; does not wait."""
        for model in self._created:
            model.close()

    def join(self, deadline: float) -> None:
        """Wait for the threads of the models, until `time.monotonic()` reaches `deadline`."""
        for model in self._created:
            model.join(max(0.0, deadline - time.monotonic()))

    @cached_property
    def run_page(self) -> "RunPageModel":
        from gym_gui.run_page.model.run_page_model import RunPageModel  # noqa: PLC0415 - when shown

        context, models = self._context, self._context.models
        model = RunPageModel(
            context.link,
            context.tasks,
            context.ticker,
            context.notices,
            self.selected_run,
            models.runs,
            models.run_actions,
            self.run_log,
            self,
        )
        self._created.append(model)
        return model

    @cached_property
    def run_log(self) -> RunLogModel:
        """The model of the log tab of the run page; `RunPageModel` closes it."""
        context = self._context
        return RunLogModel(context.link, context.ticker, context.models.runs, self)

    @cached_property
    def charts(self) -> "ChartsModel":
        from gym_gui.charts.model.charts_model import ChartsModel  # noqa: PLC0415 - when shown

        context = self._context
        return ChartsModel(
            context.link, context.tasks, context.ticker, context.notices, context.settings, self
        )

    @cached_property
    def compare_charts(self) -> "ChartsModel":
        """Curves and scores of the Compare tab."""
        from gym_gui.charts.model.charts_model import ChartsModel  # noqa: PLC0415 - when shown

        context = self._context
        return ChartsModel(
            context.link, context.tasks, context.ticker, context.notices, context.settings, self
        )

    @cached_property
    def compare(self) -> "CompareModel":
        from gym_gui.compare.model.compare_model import CompareModel  # noqa: PLC0415 - when shown

        context = self._context
        model = CompareModel(
            context.link,
            context.tasks,
            context.ticker,
            context.notices,
            context.models.runs,
            self.compare_charts,
            self,
        )
        self._created.append(model)
        return model

    @cached_property
    def tensorboard(self) -> "TensorBoardModel":
        from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel  # noqa: PLC0415 - when shown

        context = self._context
        model = TensorBoardModel(
            context.link,
            context.tasks,
            context.ticker,
            context.notices,
            self.selected_run,
            context.models.runs,
            context.settings,
            self,
        )
        self._created.append(model)
        return model

    @cached_property
    def wandb(self) -> "WandbModel":
        from gym_gui.wandb.model.wandb_model import WandbModel  # noqa: PLC0415 - when shown

        context = self._context
        model = WandbModel(
            context.link, context.tasks, context.ticker, context.notices, self.selected_run, self
        )
        self._created.append(model)
        return model

    @cached_property
    def study(self) -> "StudyModel":
        from gym_gui.optuna.model.study_model import StudyModel  # noqa: PLC0415 - when shown

        context = self._context
        model = StudyModel(
            context.link, context.tasks, context.ticker, context.notices, self.selected_run, self
        )
        self._created.append(model)
        return model

    @cached_property
    def beliefs(self) -> "BeliefsModel":
        from gym_gui.beliefs.model.beliefs_model import BeliefsModel  # noqa: PLC0415 - when shown

        context = self._context
        model = BeliefsModel(
            context.link,
            context.tasks,
            context.ticker,
            self.selected_run,
            context.models.replay,
            self,
        )
        self._created.append(model)
        return model
