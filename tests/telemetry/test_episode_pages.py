"""Pages of episodes: any order and filter, read directly or from a ranking."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from mosaic.contract.episodes import EpisodeQuery
from mosaic.telemetry import episode_pages
from mosaic.telemetry.episode_pages import EpisodePages
from mosaic.telemetry.reader import TelemetryReader
from tests.telemetry.conftest import Spool, step

Stored = Callable[[], TelemetryReader]
_RETURNS = [3.0, -1.0, math.nan, 7.5, 0.0, 7.5]
_ALL = range(len(_RETURNS))


def _end(number: int, total_return: float, **more: object) -> dict[str, object]:
    return {
        "type": "episode",
        "episode_id": f"e{number}",
        "steps": 1 + number % 3,
        "return": "NaN" if math.isnan(total_return) else total_return,
        **more,
    }


@pytest.fixture
def reader(spool: Spool, stored: Stored) -> TelemetryReader:
    """Six finished episodes and one that is still running."""
    for number, total_return in enumerate(_RETURNS):
        spool.write(*(step(n, f"e{number}") for n in range(1 + number % 3)))
        end = "terminated" if number % 2 else "truncated"
        spool.write(_end(number, total_return, **{end: True}))
    spool.write(step(0, "open"))
    return stored()


@pytest.fixture(params=["unranked", "ranked"])
def episode_numbers(
    request: pytest.FixtureRequest, reader: TelemetryReader, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[list[int], int]]:
    """Return a function that returns the episode numbers of a page, and the total."""
    if request.param == "ranked":
        monkeypatch.setattr(episode_pages, "_MAX_UNRANKED_ROWS", 0)
    pages = EpisodePages()

    def numbers(first: int = 0, count: int = 200, **query: Any) -> tuple[list[int], int]:
        page = pages.page("run", reader, EpisodeQuery(**query), first, count)
        return [episode.episode for episode in page.episodes], page.total

    return numbers


def test_by_number(episode_numbers: Callable[..., Any]) -> None:
    """Ascending and descending, from any position, and nothing past the end."""
    assert episode_numbers(2, 3) == ([2, 3, 4], 7)
    assert episode_numbers(2, 3, descending=True) == ([4, 3, 2], 7)
    assert episode_numbers(6, 100) == ([6], 7)
    assert episode_numbers(6, 100, descending=True) == ([0], 7)
    assert episode_numbers(7, 100) == ([], 7)


def test_by_return(episode_numbers: Callable[..., Any]) -> None:
    """NaN comes last in both orders; ties are sorted by number."""
    assert episode_numbers(order="return", ended="over") == ([1, 4, 0, 3, 5, 2], 6)
    assert episode_numbers(order="return", ended="over", descending=True) == ([3, 5, 0, 4, 1, 2], 6)
    assert episode_numbers(1, 2, order="return", ended="over") == ([4, 0], 6)


def test_by_length(episode_numbers: Callable[..., Any]) -> None:
    """The longest first."""
    assert episode_numbers(0, 3, order="steps", descending=True) == ([2, 5, 1], 7)


def test_filters(episode_numbers: Callable[..., Any]) -> None:
    """By termination, by return, and by unfinished episodes."""
    assert episode_numbers(ended="terminated") == ([1, 3, 5], 3)
    assert episode_numbers(ended="truncated") == ([0, 2, 4], 3)
    assert episode_numbers(ended="open") == ([6], 1)
    assert episode_numbers(min_return=0.0, ended="over") == ([0, 3, 4, 5], 4)
    assert episode_numbers(min_return=0.0, max_return=3.0, ended="over") == ([0, 4], 2)


def test_pages_with_gaps_in_the_numbers(spool: Spool, stored: Stored) -> None:
    """Pages count episodes, not episode numbers."""
    for number in (5, 6, 40, 41, 42):
        spool.write({"type": "episode_start", "episode_id": f"e{number}", "episode": number})
    reader = stored()
    for descending, expected in ((False, [6, 40, 41]), (True, [41, 40, 6])):
        page = EpisodePages().page("run", reader, EpisodeQuery(descending=descending), 1, 3)
        assert [episode.episode for episode in page.episodes] == expected
        assert page.total == 5


def test_an_old_ranking_is_rebuilt(
    spool: Spool, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A live run is not ranked again for each page, but new episodes appear after a while."""
    monkeypatch.setattr(episode_pages, "_MAX_UNRANKED_ROWS", 0)
    pages, query = EpisodePages(), EpisodeQuery(order="return")
    spool.write(step(0, "e0"))
    assert pages.page("run", stored(), query, 0, 10, now=0.0).total == 1
    spool.write(step(0, "e1"))
    assert pages.page("run", stored(), query, 0, 10, now=0.1).total == 1
    assert pages.page("run", stored(), query, 0, 10, now=1000.0).total == 2


def test_a_store_that_was_rebuilt(
    spool: Spool, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it is rebuilt from the spool, pages have the episodes that are stored so far."""
    monkeypatch.setattr(episode_pages, "_MAX_UNRANKED_ROWS", 0)
    pages, query = EpisodePages(), EpisodeQuery(order="return")
    spool.write(*(step(0, f"e{number}") for number in range(5)))
    assert pages.page("run", stored(), query, 0, 10, now=0.0).total == 5
    for file in spool.run.path.glob(f"{spool.run.store.name}*"):
        file.unlink()
    spool.run.spool.write_bytes(b"")
    spool.write(step(0, "e0"))
    page = pages.page("run", stored(), query, 0, 10, now=0.1)
    assert [episode.episode_id for episode in page.episodes] == ["e0"]


def test_the_number_of_rankings_is_limited(
    reader: TelemetryReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The least recently used ones are removed."""
    monkeypatch.setattr(episode_pages, "_MAX_RANKED", 30_000)
    pages = EpisodePages()
    for number in range(10):
        pages.page(f"run {number}", reader, EpisodeQuery(order="steps"), 0, 10)
    assert len(pages._rankings) == 3
