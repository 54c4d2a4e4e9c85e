"""A run with hundreds of metrics: plots are created only for visible cards."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gym_gui.charts.model.chart_metrics import MetricKey
from gym_gui.charts.model.charts_model import ChartsModel
from gym_gui.charts.view.charts_page import ChartsPage
from gym_gui.runtime.models.services import Services
from gym_gui.runtime.models.theme_model import ThemeModel
from mosaic.analytics.event_files import EventFileWriter
from tests.gym_gui.conftest import TIMEOUT_MS

_COUNT = 200


@pytest.fixture
def model(offline_services: Services) -> ChartsModel:
    return ChartsModel(offline_services)


@pytest.fixture
def page(model: ChartsModel, theme: ThemeModel, qtbot: QtBot) -> Iterator[ChartsPage]:
    page = ChartsPage(model, theme)
    qtbot.addWidget(page)
    page.resize(740, 560)
    with qtbot.waitExposed(page):
        page.show()
    yield page
    page.hide()


def test_scroll_to_the_end_and_search(
    page: ChartsPage, model: ChartsModel, tmp_path: Path, qtbot: QtBot
) -> None:
    """The last metric is rendered when visible, few plots are created, and search finds one."""
    with EventFileWriter(tmp_path / "logs", 1.0) as file:
        for step in range(20):
            file.add(step, step, {f"group{n % 8}/metric_{n:03}": float(n) for n in range(_COUNT)})
    model.show_folder(tmp_path / "logs")

    def wait(condition: Callable[[], object]) -> None:
        qtbot.waitUntil(lambda: bool(condition()), timeout=TIMEOUT_MS)

    wait(lambda: len(page.board.cards) == _COUNT)
    bar = page.board.verticalScrollBar()
    for eighth in range(1, 9):
        before = _visible_keys(page)
        bar.setValue(bar.maximum() * eighth // 8)
        wait(lambda before=before: _visible_keys(page) != before and all(_rendered(page)))  # type: ignore[misc]
    assert sum(card.plot is not None for card in page.board.cards) < _COUNT / 4

    page.search.setText("metric_123")
    wait(lambda: len(page.board.cards) == 1 and _visible_keys(page) and all(_rendered(page)))
    (card,) = page.board.cards
    assert card.plot is not None
    assert card.plot.key == MetricKey("group3/metric_123")
    page.search.clear()
    wait(lambda: len(page.board.cards) == _COUNT and _visible_keys(page) and all(_rendered(page)))


def _visible_keys(page: ChartsPage) -> list[MetricKey]:
    return [card.key for card in page.board.cards if card.is_on_screen]


def _rendered(page: ChartsPage) -> list[bool]:
    """Whether each visible card has a plot of its metric."""
    return [
        card.plot is not None and card.plot.isVisible() and card.plot.key == card.key
        for card in page.board.cards
        if card.is_on_screen
    ]
