"""The curves that the Charts tab plots."""

from statistics import mean

from tests.gym_gui.end_to_end.window_driver import WindowDriver

Points = list[tuple[float, float]]


def plotted_returns(driver: WindowDriver) -> Points:
    """Step and return of each plotted point; empty while there is no curve."""
    charts = driver.context.analysis.models.charts
    plot_data = charts.plot_data(charts.returns) if charts.returns is not None else None
    if plot_data is None or not plot_data.runs:
        return []
    (trace,) = plot_data.runs
    return [(float(x), float(y)) for x, y in zip(trace.x, trace.y, strict=True)]


def is_rising(points: Points) -> bool:
    """Whether the mean of the last quarter exceeds that of the first."""
    count = len(points) // 4
    returns = [value for _, value in points]
    return mean(returns[-count:]) > mean(returns[:count])
