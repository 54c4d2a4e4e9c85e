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
from gym_gui.runtime.models.run_actions_model import RunActions
from gym_gui.runtime.models.runs_model import RunsModel
from gym_gui.runtime.models.selected_run import SelectedRun
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from gym_gui.runtime.session_service import SessionService
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
        self, services: Services, theme: ThemeModel, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.sessions = SessionService(services.link, services.ticker, self)
        self.thumbnails = ThumbnailCache(services.link, services.tasks, self)
        self.settings = SettingsModel(services, theme, self)
        self.status = StatusModel(services.link, services.tasks, self)
        self.session_panel = SessionPanelModel(services, self.sessions, self.thumbnails, self)
        self.play = PlayModel(self.sessions, services.ticker, self)
        self.runs = RunsModel(services, self)
        self.run_actions = RunActions(services, self.runs, self)
        self.episodes = EpisodesTable(services, self.runs, self)
        self.live = LiveModel(services, self.runs, self)
        self.replay = ReplayModel(services, self)
        self.video = VideoModel(services, self)
        self.log_feed = LogFeed(services.link, services.ticker, self)
        self.log = LogModel(self.log_feed, services.ticker, self)

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
        self.selected_run = SelectedRun(context.services, context.models.runs, self)

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
            context.services,
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
        return RunLogModel(context.services, context.models.runs, self)

    @cached_property
    def charts(self) -> "ChartsModel":
        from gym_gui.charts.model.charts_model import ChartsModel  # noqa: PLC0415 - when shown

        return ChartsModel(self._context.services, self)

    @cached_property
    def compare_charts(self) -> "ChartsModel":
        """Curves and scores of the Compare tab."""
        from gym_gui.charts.model.charts_model import ChartsModel  # noqa: PLC0415 - when shown

        return ChartsModel(self._context.services, self)

    @cached_property
    def compare(self) -> "CompareModel":
        from gym_gui.compare.model.compare_model import CompareModel  # noqa: PLC0415 - when shown

        context = self._context
        model = CompareModel(context.services, context.models.runs, self.compare_charts, self)
        self._created.append(model)
        return model

    @cached_property
    def tensorboard(self) -> "TensorBoardModel":
        from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel  # noqa: PLC0415 - when shown

        context = self._context
        model = TensorBoardModel(context.services, self.selected_run, context.models.runs, self)
        self._created.append(model)
        return model

    @cached_property
    def wandb(self) -> "WandbModel":
        from gym_gui.wandb.model.wandb_model import WandbModel  # noqa: PLC0415 - when shown

        model = WandbModel(self._context.services, self.selected_run, self)
        self._created.append(model)
        return model

    @cached_property
    def study(self) -> "StudyModel":
        from gym_gui.optuna.model.study_model import StudyModel  # noqa: PLC0415 - when shown

        model = StudyModel(self._context.services, self.selected_run, self)
        self._created.append(model)
        return model

    @cached_property
    def beliefs(self) -> "BeliefsModel":
        from gym_gui.beliefs.model.beliefs_model import BeliefsModel  # noqa: PLC0415 - when shown

        context = self._context
        model = BeliefsModel(context.services, self.selected_run, context.models.replay, self)
        self._created.append(model)
        return model
