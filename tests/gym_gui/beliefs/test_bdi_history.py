"""What agents had in mind at any moment, put together from the changes that they told."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui.beliefs.feed.bdi_state import BdiChange, MindEntry, Place
from gym_gui.beliefs.feed.bdi_stream import MindEntries
from gym_gui.beliefs.model import bdi_history
from gym_gui.beliefs.model.bdi_history import BdiHistory, summed_up
from gym_gui.beliefs.model.bdi_timeline import BdiTimeline
from mosaic.client.results import EventLine


class _Lines:
    def __init__(self, *lines: dict[str, Any]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[EventLine]:
        for seq, line in enumerate(self._lines):
            yield EventLine(seq=seq, type=line["type"], line=json.dumps(line).encode())

    def close(self) -> None:
        pass


def _entries(*lines: dict[str, Any], last: Place | None = None) -> list[MindEntry]:
    """`last` is the last step that is stored, of whomever."""
    return list(MindEntries(_Lines(*lines), lambda _: last))


def _told(step: int | None = None, **fields: Any) -> dict[str, Any]:
    return {"type": "bdi", "step": step, **fields}


def _start(episode: int | None) -> dict[str, Any]:
    return {"type": "episode_start", "episode_id": f"e{episode}", "episode": episode}


def _end(episode: int | None, steps: int) -> dict[str, Any]:
    return {"type": "episode", "episode_id": "e", "episode": episode, "steps": steps, "return": 1}


def _places(*lines: dict[str, Any], last: Place | None = None) -> list[Place]:
    """Where each change belongs in the end."""
    return list({entry.seq: entry.place for entry in _entries(*lines, last=last)}.values())


def test_beliefs_are_folded_and_all_else_is_what_was_told_last() -> None:
    """At every step what holds there; goals that are not told any more are no goals any more."""
    history = BdiHistory()
    history.add(
        _entries(
            _told(0, added=["a", "b"], goals=["g"], plan="p", confidence=0.5),
            _start(0),
            _told(2, removed=["a", "never"], added=["c"], confidence=7),
            _end(0, 4),
            _told(4, removed=["b"], added=["b"]),
        )
    )
    assert set(history.minds_at(Place(0, 1))[""].beliefs) == {"a", "b"}
    inside = history.minds_at(Place(0, 2))[""]
    assert (set(inside.beliefs), inside.goals, inside.plan) == ({"b", "c"}, (), "p")
    assert inside.confidence == 1.0
    assert [entry.change.added for entry in history.told_at(Place(0, 2))] == [("c",)]
    assert set(history.now[""].beliefs) == {"b", "c"}


def test_each_agent_has_a_mind_of_its_own() -> None:
    """A belief of one is none of the other."""
    history = BdiHistory()
    history.add(_entries(_told(0, agent_id="coach", added=["x"]), _told(0, added=["y"])))
    assert history.agents == ["coach", ""]
    assert list(history.now["coach"].beliefs) == ["x"]


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        (
            (_told(0), _start(0), _told(3), _end(0, 9), _told(9), _start(1)),
            [(0, 0), (0, 3), (1, 0)],
        ),
        (
            (_told(), _end(None, 5), _told(7), _end(None, 5), _told(9), _end(None, 1)),
            [(0, 0), (1, 2), (2, 0)],
        ),
        # Evaluation is played, recorded and not counted.
        ((_start(0), _end(0, 5), _told(0), _start(1), _told(2)), [(1, 0), (1, 2)]),
        # Later lines are never placed before earlier ones.
        ((_start(3), _told(8), _told(2), _start(1), _told(9)), [(3, 8), (3, 8), (3, 9)]),
    ],
)
def test_a_change_belongs_to_the_episode_under_way(
    lines: tuple[dict[str, Any], ...], places: list[tuple[int, int]]
) -> None:
    """With starts and without, with numbers and without, whatever the run counts."""
    assert _places(*lines) == places


@pytest.mark.parametrize(
    ("lines", "last", "places"),
    [
        # The episode had no other step: 0 to 5 were played.
        ((_start(0), _told(6), _end(0, 6), _start(1)), (1, 9), [(0, 5)]),
        # No other episode began, or none that was played.
        ((_start(0), _end(0, 2), _told(2)), (0, 1), [(0, 1)]),
        ((_start(0), _end(0, 2), _told(2), _start(1)), (0, 1), [(0, 1)]),
        ((_end(None, 5), _told(5)), None, [(0, 4)]),
        # It was stopped in the middle of an episode.
        ((_start(0), _told(1), _told(7)), (0, 4), [(0, 1), (0, 4)]),
    ],
)
def test_a_change_that_no_step_follows_belongs_to_the_last_one(
    lines: tuple[dict[str, Any], ...],
    last: tuple[int, int] | None,
    places: list[tuple[int, int]],
) -> None:
    """Where it can be seen, whatever count of steps it would have come at."""
    assert _places(*lines, last=Place(*last) if last else None) == places


def test_each_learner_of_a_pair_has_its_own_episodes() -> None:
    """A change belongs to the episode of its agent, though the other one has begun a later one."""
    lines = [{**_start(74), "agent_id": "a"}, {**_start(75), "agent_id": "b"}]
    lines += [_told(9, agent_id="a"), _told(5, agent_id="b")]
    assert _places(*lines) == [(74, 9), (75, 5)]


def test_history_and_timeline_move_a_change_that_no_step_followed() -> None:
    """It stays one change, told at the step that a replay can show."""
    entries = _entries(_start(0), _told(6, added=["x"]), _end(0, 6))
    history, timeline = BdiHistory(), BdiTimeline()
    timeline.show((), "", "")
    history.add(entries)
    timeline.add(entries)
    timeline.mark(Place(0, 5))
    row = timeline.row(timeline.shown_row)
    assert [timeline.rowCount(), row.is_shown] == [1, True]
    assert row.place == "episode 0 · after its last step"
    assert [each.change.added for each in history.told_at(Place(0, 5))] == [("x",)]
    assert history.last_told(Place(9, 9)) == history.entries[0]


def test_lines_that_make_no_sense_change_nothing() -> None:
    """Each is left out; what follows is taken."""
    entries = _entries(
        _told(0, added=7),
        {"type": "episode", "steps": "many"},
        {"type": "episode_start", "episode": -4.5},
        _told(1, added=["a"], t=1e300),
        {"type": "hologram"},
    )
    assert [(entry.change.added, entry.t) for entry in entries] == [(("a",), None)]


def _of_ten_thousand(monkeypatch: pytest.MonkeyPatch) -> tuple[BdiHistory, list[MindEntry]]:
    """A history that keeps 4,000 changes at most, and all that were told."""
    monkeypatch.setattr(bdi_history, "MOST_ENTRIES", 4_000)
    history = BdiHistory()
    told = [_told(0, added=["first"])]
    for number in range(9_999):
        told += [_start(number), _told(added=[f"n({number})"], removed=[f"n({number - 1})"])]
    entries = _entries(*told)
    for first in range(0, 10_000, 1_000):
        history.add(entries[first : first + 1_000])
    return history, entries


def test_the_oldest_go_and_what_they_came_to_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest are kept with all that was believed before them; earlier steps are not reached."""
    history, _ = _of_ten_thousand(monkeypatch)
    assert history.total == 10_000
    assert len(history.entries) <= 4_000
    assert history.stretch_at(Place(9_000, 0)) is None
    assert set(history.minds_at(Place(9_000, 0))[""].beliefs) == {"first", "n(9000)"}
    assert set(history.minds_at(Place(20_000, 0))[""].beliefs) == {"first", "n(9998)"}


def test_what_went_can_be_read_again_a_stretch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each change was told is remembered, with what was in mind before the stretch."""
    history, entries = _of_ten_thousand(monkeypatch)
    for episode in (0, 100, 2_047, 2_048, 5_000):
        place = Place(episode, 0)
        stretch = history.stretch_at(place)
        assert stretch is not None
        places = stretch.places()
        assert len(places) < 4_000
        read = BdiHistory(stretch.before)
        read.add([entry for entry in entries if places.get(entry.seq) == entry.place])
        assert set(read.minds_at(place)[""].beliefs) == {"first", f"n({episode})"}
        assert [each.change.added for each in read.told_at(place)][-1] == (f"n({episode})",)


def test_what_came_and_went_in_between_is_no_news() -> None:
    """Several changes at once are told as one."""
    changes = [
        BdiChange(added=("a",), removed=("x", "y")),
        BdiChange(added=("b", "x"), removed=("a",)),
    ]
    assert summed_up(changes) == (frozenset("b"), frozenset("y"))


def test_the_timeline_has_the_changes_of_one_agent_with_the_words() -> None:
    """Filtered as they come, and marked where the replay is."""
    entries = _entries(
        _told(0, agent_id="a", added=["Phase(explore)"], t=12.0),
        _told(0, agent_id="b", added=["phase(rest)"]),
        _start(0),
        _told(2, agent_id="a", added=["rate(1)"], plan="learn"),
    )
    timeline = BdiTimeline()
    timeline.show(entries[:2], "a", "")
    assert [timeline.row(0).time, timeline.rowCount(), timeline.total] == ["00:12", 1, 1]
    timeline.add(entries[2:])
    assert timeline.rowCount() == 2
    assert [timeline.row(0).otherwise, timeline.row(1).otherwise] == ["", ""]
    timeline.add(_entries(_told(3, agent_id="a"), _told(3, agent_id="a", goals=["rest"])))
    told = [timeline.row(row).otherwise for row in (2, 3)]
    assert told == ["wants nothing any more", "wants rest"]
    timeline.show(entries, "a", "")
    timeline.mark(Place(0, 2))
    assert [timeline.shown_row, timeline.row(1).is_shown] == [1, True]
    timeline.show(entries, "a", "PHASE")
    assert [timeline.rowCount(), timeline.total] == [1, 2]
    timeline.drop_before(3)
    assert timeline.rowCount() == 0
