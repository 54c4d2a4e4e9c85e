"""BDI states of agents at any position, folded from reported changes."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gym_gui.beliefs.feed.bdi_state import BdiChange, BdiEntry, StepPosition
from gym_gui.beliefs.feed.bdi_stream import BdiEntries
from gym_gui.beliefs.model import bdi_history
from gym_gui.beliefs.model.bdi_history import BdiHistory, combine_changes
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


def _entries(*lines: dict[str, Any], last: StepPosition | None = None) -> list[BdiEntry]:
    """`last` is the last stored step."""
    return list(BdiEntries(_Lines(*lines), lambda _: last))


def _bdi(step: int | None = None, **fields: Any) -> dict[str, Any]:
    return {"type": "bdi", "step": step, **fields}


def _start(episode: int | None) -> dict[str, Any]:
    return {"type": "episode_start", "episode_id": f"e{episode}", "episode": episode}


def _end(episode: int | None, steps: int) -> dict[str, Any]:
    return {"type": "episode", "episode_id": "e", "episode": episode, "steps": steps, "return": 1}


def _positions(*lines: dict[str, Any], last: StepPosition | None = None) -> list[StepPosition]:
    """Return the final position of each change."""
    return list({entry.seq: entry.position for entry in _entries(*lines, last=last)}.values())


def test_beliefs_accumulate_and_other_fields_hold_the_last_value() -> None:
    """Goals that are missing from the last change are no longer set."""
    history = BdiHistory()
    history.add(
        _entries(
            _bdi(0, added=["a", "b"], goals=["g"], plan="p", confidence=0.5),
            _start(0),
            _bdi(2, removed=["a", "never"], added=["c"], confidence=7),
            _end(0, 4),
            _bdi(4, removed=["b"], added=["b"]),
        )
    )
    assert set(history.states_at(StepPosition(0, 1))[""].beliefs) == {"a", "b"}
    inside = history.states_at(StepPosition(0, 2))[""]
    assert (set(inside.beliefs), inside.goals, inside.plan) == ({"b", "c"}, (), "p")
    assert inside.confidence == 1.0
    assert [entry.change.added for entry in history.entries_at(StepPosition(0, 2))] == [("c",)]
    assert set(history.now[""].beliefs) == {"b", "c"}


def test_each_agent_has_a_separate_state() -> None:
    """A belief of one agent does not appear for another one."""
    history = BdiHistory()
    history.add(_entries(_bdi(0, agent_id="coach", added=["x"]), _bdi(0, added=["y"])))
    assert history.agents == ["coach", ""]
    assert list(history.now["coach"].beliefs) == ["x"]


@pytest.mark.parametrize(
    ("lines", "positions"),
    [
        (
            (_bdi(0), _start(0), _bdi(3), _end(0, 9), _bdi(9), _start(1)),
            [(0, 0), (0, 3), (1, 0)],
        ),
        (
            (_bdi(), _end(None, 5), _bdi(7), _end(None, 5), _bdi(9), _end(None, 1)),
            [(0, 0), (1, 2), (2, 0)],
        ),
        # Evaluation is recorded but not counted.
        ((_start(0), _end(0, 5), _bdi(0), _start(1), _bdi(2)), [(1, 0), (1, 2)]),
        # Later lines never get a position before earlier ones.
        ((_start(3), _bdi(8), _bdi(2), _start(1), _bdi(9)), [(3, 8), (3, 8), (3, 9)]),
    ],
)
def test_a_change_belongs_to_the_current_episode(
    lines: tuple[dict[str, Any], ...], positions: list[tuple[int, int]]
) -> None:
    """With and without episode starts and numbers."""
    assert _positions(*lines) == positions


@pytest.mark.parametrize(
    ("lines", "last", "positions"),
    [
        # The episode had no further step: 0 to 5 were played.
        ((_start(0), _bdi(6), _end(0, 6), _start(1)), (1, 9), [(0, 5)]),
        # No other episode started, or it has no steps.
        ((_start(0), _end(0, 2), _bdi(2)), (0, 1), [(0, 1)]),
        ((_start(0), _end(0, 2), _bdi(2), _start(1)), (0, 1), [(0, 1)]),
        ((_end(None, 5), _bdi(5)), None, [(0, 4)]),
        # The run was stopped during an episode.
        ((_start(0), _bdi(1), _bdi(7)), (0, 4), [(0, 1), (0, 4)]),
    ],
)
def test_a_change_without_a_next_step_belongs_to_the_last_step(
    lines: tuple[dict[str, Any], ...],
    last: tuple[int, int] | None,
    positions: list[tuple[int, int]],
) -> None:
    """Whatever step number the change reports."""
    assert _positions(*lines, last=StepPosition(*last) if last else None) == positions


def test_each_agent_has_separate_episodes() -> None:
    """A change belongs to the episode of its agent, even if another agent is further."""
    lines = [{**_start(74), "agent_id": "a"}, {**_start(75), "agent_id": "b"}]
    lines += [_bdi(9, agent_id="a"), _bdi(5, agent_id="b")]
    assert _positions(*lines) == [(74, 9), (75, 5)]


def test_history_and_timeline_move_a_change_after_the_last_step() -> None:
    """It stays one change, at a step that exists."""
    entries = _entries(_start(0), _bdi(6, added=["x"]), _end(0, 6))
    history, timeline = BdiHistory(), BdiTimeline()
    timeline.show((), "", "")
    history.add(entries)
    timeline.add(entries)
    timeline.mark(StepPosition(0, 5))
    row = timeline.row(timeline.current_row)
    assert [timeline.rowCount(), row.is_current] == [1, True]
    assert row.position == "episode 0 · after the last step"
    assert [entry.change.added for entry in history.entries_at(StepPosition(0, 5))] == [("x",)]
    assert history.last_entry_at(StepPosition(9, 9)) == history.entries[0]


def test_invalid_lines_are_skipped() -> None:
    """The valid lines after them are read."""
    entries = _entries(
        _bdi(0, added=7),
        {"type": "episode", "steps": "many"},
        {"type": "episode_start", "episode": -4.5},
        _bdi(1, added=["a"], t=1e300),
        {"type": "hologram"},
    )
    assert [(entry.change.added, entry.t) for entry in entries] == [(("a",), None)]


def _history_of_ten_thousand(monkeypatch: pytest.MonkeyPatch) -> tuple[BdiHistory, list[BdiEntry]]:
    """Return a history of at most 4,000 entries, and all 10,000 entries."""
    monkeypatch.setattr(bdi_history, "MAX_ENTRIES", 4_000)
    history = BdiHistory()
    lines = [_bdi(0, added=["first"])]
    for number in range(9_999):
        lines += [_start(number), _bdi(added=[f"n({number})"], removed=[f"n({number - 1})"])]
    entries = _entries(*lines)
    for first in range(0, 10_000, 1_000):
        history.add(entries[first : first + 1_000])
    return history, entries


def test_dropped_entries_still_count_in_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest entries are dropped; the resulting state stays."""
    history, _ = _history_of_ten_thousand(monkeypatch)
    assert history.total == 10_000
    assert len(history.entries) <= 4_000
    assert history.dropped_range_at(StepPosition(9_000, 0)) is None
    assert set(history.states_at(StepPosition(9_000, 0))[""].beliefs) == {"first", "n(9000)"}
    assert set(history.states_at(StepPosition(20_000, 0))[""].beliefs) == {"first", "n(9998)"}


def test_dropped_ranges_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The positions of the changes and the states before the range are stored."""
    history, entries = _history_of_ten_thousand(monkeypatch)
    for episode in (0, 100, 2_047, 2_048, 5_000):
        position = StepPosition(episode, 0)
        dropped_range = history.dropped_range_at(position)
        assert dropped_range is not None
        positions = dropped_range.positions()
        assert len(positions) < 4_000
        read = BdiHistory(dropped_range.before)
        read.add([entry for entry in entries if positions.get(entry.seq) == entry.position])
        assert set(read.states_at(position)[""].beliefs) == {"first", f"n({episode})"}
        assert [entry.change.added for entry in read.entries_at(position)][-1] == (f"n({episode})",)


def test_combining_changes_cancels_additions_and_removals() -> None:
    """Several changes are combined to one."""
    changes = [
        BdiChange(added=("a",), removed=("x", "y")),
        BdiChange(added=("b", "x"), removed=("a",)),
    ]
    assert combine_changes(changes) == (frozenset("b"), frozenset("y"))


def test_timeline_is_filtered_by_agent_and_text() -> None:
    """New entries are filtered; the replayed step is marked."""
    entries = _entries(
        _bdi(0, agent_id="a", added=["Phase(explore)"], t=12.0),
        _bdi(0, agent_id="b", added=["phase(rest)"]),
        _start(0),
        _bdi(2, agent_id="a", added=["rate(1)"], plan="learn"),
    )
    timeline = BdiTimeline()
    timeline.show(entries[:2], "a", "")
    assert [timeline.row(0).time, timeline.rowCount(), timeline.total] == ["00:12", 1, 1]
    timeline.add(entries[2:])
    assert timeline.rowCount() == 2
    assert [timeline.row(0).goal_text, timeline.row(1).goal_text] == ["", ""]
    timeline.add(_entries(_bdi(3, agent_id="a"), _bdi(3, agent_id="a", goals=["rest"])))
    texts = [timeline.row(row).goal_text for row in (2, 3)]
    assert texts == ["no goals", "goals: rest"]
    timeline.show(entries, "a", "")
    timeline.mark(StepPosition(0, 2))
    assert [timeline.current_row, timeline.row(1).is_current] == [1, True]
    timeline.show(entries, "a", "PHASE")
    assert [timeline.rowCount(), timeline.total] == [1, 2]
    timeline.drop_before(3)
    assert timeline.rowCount() == 0
