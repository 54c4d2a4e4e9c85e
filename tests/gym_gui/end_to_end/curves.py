"""What the charts of the whole window draw of a run."""

from statistics import mean

from tests.gym_gui.end_to_end.person import Person

Points = list[tuple[float, float]]


def drawn_returns(person: Person) -> Points:
    """Step and return of each point of the curve, as it is drawn now; none while there is none."""
    charts = person.bench.analysis.models.charts
    plot_data = charts.plot_data(charts.returns) if charts.returns is not None else None
    if plot_data is None or not plot_data.runs:
        return []
    (trace,) = plot_data.runs
    return [(float(x), float(y)) for x, y in zip(trace.x, trace.y, strict=True)]


def rises(points: Points) -> bool:
    """The last quarter lies above the first."""
    count = len(points) // 4
    returns = [value for _, value in points]
    return mean(returns[-count:]) > mean(returns[:count])
