"""Plots of values at the limits of floating point."""

import numpy as np
from pytestqt.qtbot import QtBot

from gym_gui.charts.feed.curves import Curve
from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.model.plot_data import RunCurve, compose
from gym_gui.charts.view.metric_plot import MetricPlot
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel


def test_largest_values_and_not_a_number(
    qtbot: QtBot, offline_services: Services, theme: ThemeModel
) -> None:
    """A loss that diverged in both directions, and one that is NaN everywhere."""
    model = ChartsModel(offline_services)
    plot = MetricPlot(MetricKey("losses/a"), model, theme)
    qtbot.addWidget(plot)
    plot.resize(300, 200)
    x = np.arange(4.0)
    for values in ([1e308, -1e308, 1e308, 0.0], [np.nan] * 4, [np.inf, -np.inf, np.nan, 1.0]):
        run_curve = RunCurve("run", 0, Curve(x, np.array(values), 4))
        for is_log in (False, True):
            plot_data = compose(
                [run_curve], smoothing=0.6, is_log=is_log, has_means=False, pixels=300
            )
            plot.draw(plot_data)
            plot.grab()
    low, high = plot.getPlotItem().getViewBox().viewRange()[1]
    assert np.isfinite([low, high]).all()
