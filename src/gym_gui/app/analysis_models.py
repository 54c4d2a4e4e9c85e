"""AnalysisModels: the models of the pages about runs, each made when it is first needed."""

import time
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject

from gym_gui.runtime.models.selected_run import SelectedRun

if TYPE_CHECKING:
    from gym_gui.app.wiring import AppContext
    from gym_gui.beliefs.model.beliefs_model import BeliefsModel
    from gym_gui.charts.model.charts_model import ChartsModel
    from gym_gui.compare.model.compare_model import CompareModel
    from gym_gui.optuna.model.study_model import StudyModel
    from gym_gui.run_page.model.run_page_model import RunPageModel
    from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel
    from gym_gui.wandb.model.wandb_model import WandbModel


class _WithThreads(Protocol):
    def close(self) -> None: ...

    def join(self, timeout_s: float) -> bool: ...


class AnalysisModels(QObject):
    """Made once, by `Analysis`. What was never needed is never closed."""

    def __init__(self, bench: "AppContext") -> None:
        super().__init__(bench)
        self._bench = bench
        self._open: list[_WithThreads] = []
        self.shown = SelectedRun(bench.link, bench.tasks, bench.models.runs, self)

    def close(self) -> None:
        """Nothing more is asked for; does not wait."""
        for model in self._open:
            model.close()

    def join(self, deadline: float) -> None:
        """Until the reading of `time.monotonic()`: wait for their threads."""
        for model in self._open:
            model.join(max(0.0, deadline - time.monotonic()))

    @cached_property
    def run_page(self) -> "RunPageModel":
        from gym_gui.run_page.model.run_page_model import RunPageModel  # noqa: PLC0415 - when shown

        bench, models = self._bench, self._bench.models
        model = RunPageModel(
            bench.link,
            bench.tasks,
            bench.ticker,
            bench.notices,
            self.shown,
            models.runs,
            models.run_actions,
            self,
        )
        self._open.append(model)
        return model

    @cached_property
    def charts(self) -> "ChartsModel":
        from gym_gui.charts.model.charts_model import ChartsModel  # noqa: PLC0415 - when shown

        bench = self._bench
        return ChartsModel(
            bench.link, bench.tasks, bench.ticker, bench.notices, bench.settings, self
        )

    @cached_property
    def compare_charts(self) -> "ChartsModel":
        """Curves and scores of the Compare tab."""
        from gym_gui.charts.model.charts_model import ChartsModel  # noqa: PLC0415 - when shown

        bench = self._bench
        return ChartsModel(
            bench.link, bench.tasks, bench.ticker, bench.notices, bench.settings, self
        )

    @cached_property
    def compare(self) -> "CompareModel":
        from gym_gui.compare.model.compare_model import CompareModel  # noqa: PLC0415 - when shown

        bench = self._bench
        model = CompareModel(
            bench.link,
            bench.tasks,
            bench.ticker,
            bench.notices,
            bench.models.runs,
            self.compare_charts,
            self,
        )
        self._open.append(model)
        return model

    @cached_property
    def tensorboard(self) -> "TensorBoardModel":
        from gym_gui.tensorboard.model.tensorboard_model import TensorBoardModel  # noqa: PLC0415 - when shown

        bench = self._bench
        model = TensorBoardModel(
            bench.link,
            bench.tasks,
            bench.ticker,
            bench.notices,
            self.shown,
            bench.models.runs,
            bench.settings,
            self,
        )
        self._open.append(model)
        return model

    @cached_property
    def wandb(self) -> "WandbModel":
        from gym_gui.wandb.model.wandb_model import WandbModel  # noqa: PLC0415 - when shown

        bench = self._bench
        model = WandbModel(bench.link, bench.tasks, bench.ticker, bench.notices, self.shown, self)
        self._open.append(model)
        return model

    @cached_property
    def study(self) -> "StudyModel":
        from gym_gui.optuna.model.study_model import StudyModel  # noqa: PLC0415 - when shown

        bench = self._bench
        model = StudyModel(bench.link, bench.tasks, bench.ticker, bench.notices, self.shown, self)
        self._open.append(model)
        return model

    @cached_property
    def beliefs(self) -> "BeliefsModel":
        from gym_gui.beliefs.model.beliefs_model import BeliefsModel  # noqa: PLC0415 - when shown

        bench = self._bench
        model = BeliefsModel(
            bench.link, bench.tasks, bench.ticker, self.shown, bench.models.replay, self
        )
        self._open.append(model)
        return model
